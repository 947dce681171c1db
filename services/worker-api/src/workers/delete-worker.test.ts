import { setupResource, waitUntil } from '@gantry/testing';
import { sweepUnusedPacks } from '../housekeeping';
import { createCaller } from '../test/caller';
import { createWorker, helloWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { purgeDeletedWorkers } from './delete-worker';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));

const queryRows = async (sql: string, values: unknown[] = []) => (await api.database.pool.query(sql, values)).rows;

// A test counts only the workers that it has deleted itself.
afterEach(() => purgeDeletedWorkers(api.deps));

test('a deleted worker is gone at once with its runs, its id is free, and nothing of it stays', async () => {
  await createWorker(api, { id: 'gone', trigger: 'webhook' });
  await owner.put('/api/workers/gone/files', { files: [{ path: 'more.txt', content: 'x' }] }).expect(200);
  const [{ uid }] = await queryRows("SELECT uid FROM workers WHERE id = 'gone'");
  const start = async () => (await owner.post('/api/workers/gone/runs', { inputs: {} }).expect(201)).body.run_id;
  const held = await api.connectExecutor();
  const running = await start();
  const job = await held.claim();
  expect(job?.runId).toBe(running);
  const queued = await start();
  const key = `${api.workspaceId}/runs/${queued}/inputs.json`;
  await api.deps.objects.put(key, Buffer.from('{}'));
  const packs = (await queryRows('SELECT code_key FROM worker_versions WHERE worker_uid = $1', [uid])).map(
    ({ code_key }) => code_key,
  );

  await owner.remove('/api/workers/gone').expect(204);
  await owner.get('/api/workers/gone').expect(404);
  await owner.remove('/api/workers/gone').expect(404);
  await createWorker(api, { id: 'gone', name: 'Another' });
  const getStatus = async (id: string) => (await queryRows('SELECT status FROM runs WHERE id = $1', [id]))[0]?.status;
  await waitUntil(async () => (await getStatus(queued)) === 'cancelled');
  await waitUntil(
    async () =>
      (await queryRows('SELECT FROM runs WHERE id = $1 AND cancel_requested_at IS NOT NULL', [running])).length === 1,
  );

  expect(await purgeDeletedWorkers(api.deps)).toBe(0);
  expect(await getStatus(running)).toBe('running');
  await job?.complete({});
  await waitUntil(async () => (await getStatus(running)) !== 'running');
  expect(await purgeDeletedWorkers(api.deps)).toBe(1);
  for (const [table, column] of [
    ['workers', 'uid'],
    ['worker_versions', 'worker_uid'],
    ['worker_triggers', 'worker_uid'],
    ['runs', 'subject_id'],
  ]) {
    expect(await queryRows(`SELECT FROM ${table} WHERE ${column} = $1`, [uid])).toEqual([]);
  }
  expect(packs).toHaveLength(2);
  for (const left of [key, ...packs]) expect(await api.deps.objects.head(left)).toBeNull();
  expect((await owner.get('/api/workers/gone/files').expect(200)).body).toHaveLength(1);
});

test('a pack without a version is swept, and others are not', async () => {
  await createWorker(api, { name: 'Kept' });
  await owner.post('/api/workers', { ...helloWorker, files: [{ path: 'main.py', content: 'no run' }] }).expect(400);
  const intents: string[] = (await queryRows('SELECT key FROM pack_intents')).map(({ key }) => key);
  expect(await sweepUnusedPacks(api.deps.pool, api.deps.objects)).toBe(0);
  await queryRows("UPDATE pack_intents SET created_at = created_at - interval '2 hours'");
  const before = await Promise.all(intents.map((key) => api.deps.objects.head(key)));
  expect(await sweepUnusedPacks(api.deps.pool, api.deps.objects)).toBeGreaterThan(0);
  const after = await Promise.all(intents.map((key) => api.deps.objects.head(key)));
  expect(before.filter(Boolean).length - after.filter(Boolean).length).toBe(1);
  expect(await queryRows('SELECT FROM pack_intents')).toEqual([]);
  await owner.get('/api/workers/kept/files').expect(200);
});

test('no run of a deleted worker is handed out any more, however many are queued', async () => {
  await createWorker(api, { id: 'busy' });
  const [{ uid }] = await queryRows("SELECT uid FROM workers WHERE id = 'busy'");
  const queued = 60;
  for (let n = 0; n < queued; n++) await owner.post('/api/workers/busy/runs', { inputs: {} }).expect(201);
  // Ends no run by itself: as if it had not come to them yet.
  const ending = jest.spyOn(api.deps.engine, 'cancelAll').mockResolvedValue();
  await owner.remove('/api/workers/busy').expect(204);
  ending.mockRestore();
  const executor = await api.connectExecutor();
  const claimed: string[] = [];
  const isEnded = async () =>
    !(await queryRows("SELECT FROM runs WHERE subject_id = $1 AND status = 'queued'", [uid])).length;
  while (!(await isEnded())) claimed.push((await executor.claim())?.runId ?? '');
  expect(claimed.filter(Boolean)).toEqual([]);
  expect(await queryRows('SELECT DISTINCT status FROM runs WHERE subject_id = $1', [uid])).toEqual([
    { status: 'cancelled' },
  ]);
});
