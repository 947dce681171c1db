import { describeWithPgBouncer, setupPgBouncer, setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from './test/caller';
import { createWorker } from './test/create-worker';
import { testWorkerApi } from './test/test-worker-api';

const RUNS = 30;

describeWithPgBouncer('two replicas that share four connections of PgBouncer', () => {
  const pgbouncer = setupPgBouncer(4);
  const api = testWorkerApi(() => ({ reach: pgbouncer.through, pool: { max: 20, pgbouncer: 'transaction' } }));
  const owner = setupResource(() => createCaller(api.url, api.owner.jwt));

  test('every run ends once, and every event is published', async () => {
    await api.replica();
    const worker = await createWorker(api);
    const stop = await api.serveRuns(() => ({ greeting: 'hello' }), 8);
    const started = await Promise.all(
      Array.from({ length: RUNS }, () => owner.post(`/api/workers/${worker.id}/runs`, { inputs: { name: 'Ada' } })),
    );
    expect(started.map(({ status }) => status)).toEqual(started.map(() => 201));
    const listCompletedRuns = async () => (await owner.get('/api/runs?status=completed&limit=200')).body;
    await waitUntil(async () => (await listCompletedRuns()).length === RUNS);
    await stop();
    await waitUntil(async () => (await api.database.pool.query('SELECT 1 FROM outbox')).rowCount === 0);
    expect(api.logs.lines.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });

  test('sweeps and rotations of keys find their locks free', async () => {
    const { pool } = api.database;
    await Promise.all([1, 2, 3].map(() => api.deps.keyRotation.finish()));
    await owner.post('/api/secrets', { name: 'TOKEN', value: 'sesame' }).expect(201);
    await owner.post('/api/secrets/rotate-keys').expect(200);
    // One that a transaction holds just now is released with it; one that a session holds would stay.
    await waitUntil(async () => {
      const { rows } = await pool.query(
        `SELECT FROM pg_locks
         WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rows.length === 0;
    });
  });
});
