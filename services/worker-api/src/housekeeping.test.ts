import { sweepsOf } from './housekeeping';
import { testWorkerApi } from './test/test-worker-api';

const api = testWorkerApi();

test('three replicas do all their sweeps at the same time, and none is in the way of another', async () => {
  const replicas = [api, await api.replica(), await api.replica()];
  const sweeps = replicas.flatMap(({ deps, signingKeys }) => sweepsOf(deps, { signingKeys, auditRetentionDays: 365 }));
  const failed: unknown[] = [];
  await Promise.all(sweeps.map(({ what, run }) => run().catch((err) => failed.push({ what, err }))));
  expect(failed).toEqual([]);
  const { rows } = await api.database.pool.query('SELECT count(*)::int AS keys FROM signing_keys');
  expect(rows).toEqual([{ keys: 1 }]);
});
