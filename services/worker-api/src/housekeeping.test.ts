import { newId } from '@gantry/events';
import { sweepUnfinishedConnections } from './connections/pending-authorization-repository';
import { listSweeps } from './housekeeping';
import { testWorkerApi } from './test/test-worker-api';

const api = testWorkerApi();

test('three replicas run all their sweeps at the same time without conflicts', async () => {
  const replicas = [api, await api.replica(), await api.replica()];
  const sweeps = replicas.flatMap(({ deps, signingKeys }) =>
    listSweeps(deps, { signingKeys, auditRetentionDays: 365 }),
  );
  const failed: unknown[] = [];
  await Promise.all(sweeps.map(({ what, run }) => run().catch((err) => failed.push({ what, err }))));
  expect(failed).toEqual([]);
  const { rows } = await api.database.pool.query('SELECT count(*)::int AS keys FROM signing_keys');
  expect(rows).toEqual([{ keys: 1 }]);
});

test('connections without consent are deleted after a day, unless an authorization is in progress', async () => {
  const { prisma, pool } = api.deps;
  const createConnection = async (hours: number, more: object = {}) => {
    const createdAt = new Date(Date.now() - hours * 3_600_000);
    const row = {
      id: newId('con_'),
      workspaceId: api.workspaceId,
      kind: 'oauth',
      app: 'github',
      label: 'GitHub',
    } as const;
    await prisma.connection.create({ data: { ...row, status: 'pending', createdAt, ...more } });
    return row.id;
  };
  await createConnection(25);
  const young = await createConnection(23);
  const used = await createConnection(25, { status: 'expired' });
  // It is aged after the departure exists: the service's own sweep may run in between.
  const leaving = await createConnection(0);
  await prisma.connectionDeparture.create({
    data: { stateHash: new Uint8Array(32), connectionId: leaving, userId: api.owner.userId, createdAt: new Date() },
  });
  await prisma.connection.update({
    where: { id: leaving },
    data: { createdAt: new Date(Date.now() - 25 * 3_600_000) },
  });
  await sweepUnfinishedConnections(pool);
  const left = await prisma.connection.findMany({ orderBy: { createdAt: 'asc' } });
  expect(left.map(({ id }) => id).sort()).toEqual([young, used, leaving].sort());
});
