/** Evaluations that a new version starts, and those whose worker or runs go meanwhile. */
import { enqueue, workerChanged } from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { purgeDeletedWorkers } from '../workers/delete-worker';

const api = testWorkerApi({ autoTick: true });
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const example = { name: 'One', checks: [{ kind: 'equal', path: '/total', value: 12 }] };
const addTo = (id: string) => me.post(`/api/workers/${id}/examples`, example).expect(201);
const listEvaluations = async (id: string) => (await me.get(`/api/workers/${id}/evaluations`).expect(200)).body;
const main = (total: number) => ({
  files: [{ path: 'main.py', content: `def run(name=None):\n    return {"total": ${total}}\n` }],
});

test('each new version is evaluated once if the worker enables it, a rollback as well', async () => {
  const worker = await createWorker(api);
  await addTo(worker.id);
  const path = `/api/workers/${worker.id}`;
  expect(worker.evaluate_on_save).toBe(false);
  await me.put(`${path}/files`, main(1)).expect(200);
  expect((await me.patch(path, { evaluate_on_save: true }).expect(200)).body).toMatchObject({
    evaluate_on_save: true,
    version: 2,
  });
  // Events may arrive late: version 2 was saved before.
  const { rows } = await api.deps.pool.query('SELECT uid FROM workers WHERE id = $1', [worker.id]);
  const late = { workerUid: rows[0].uid, workerId: worker.id, change: 'updated', version: 2 } as const;
  await enqueue(api.deps.pool, workerChanged, api.workspaceId, { ...late, evaluateOnSave: false });
  await me.patch(path, { description: 'No version of its own' }).expect(200);
  await me.put(`${path}/files`, main(12)).expect(200);
  await (await executor.claimJob()).complete({ total: 12 });
  const [first] = await waitUntil(async () => {
    const found = await listEvaluations(worker.id);
    return found[0]?.status === 'completed' && found;
  });
  expect(first).toMatchObject({
    trigger: 'save',
    version: 3,
    created_by: api.owner.userId,
    totals: { passed: 1, total: 1 },
  });
  await me.post(`${path}/rollback/${worker.sha}`).expect(200);
  await (await executor.claimJob()).complete({ total: 1 });
  const found = await waitUntil(async () => {
    const all = await listEvaluations(worker.id);
    return all[0]?.version === 4 && all[0].status === 'completed' && all;
  });
  expect(found).toMatchObject([{ version: 4, version_sha: worker.sha, totals: { failed: 1 } }, { id: first.id }]);
});

test('a version that needs a model to judge is not run if none is configured, and its evaluation says so', async () => {
  const worker = await createWorker(api);
  const checks = [{ kind: 'judge', instructions: 'It is polite.' }];
  await me.post(`/api/workers/${worker.id}/examples`, { name: 'One', checks }).expect(201);
  await me.patch(`/api/workers/${worker.id}`, { evaluate_on_save: true }).expect(200);
  await me.put(`/api/workers/${worker.id}/files`, main(1)).expect(200);
  const [evaluation] = await waitUntil(async () => {
    const found = await listEvaluations(worker.id);
    return found.length > 0 && found;
  });
  expect(evaluation).toMatchObject({ status: 'failed', error: expect.stringContaining('MODEL_PROVIDERS') });
  expect((await me.get(`/api/runs?worker_id=${worker.id}&trigger=rehearsal`)).body).toEqual([]);
});

test('archiving a worker ends its evaluation, and deleting it deletes the evaluation', async () => {
  const worker = await createWorker(api);
  await addTo(worker.id);
  const start = () => me.post(`/api/workers/${worker.id}/evaluations`).expect(202);
  await start();
  const job = await executor.claimJob();
  await me.post(`/api/workers/${worker.id}/archive`).expect(200);
  await job.complete({ total: 12 });
  const [archived] = await waitUntil(async () => {
    const found = await listEvaluations(worker.id);
    return found[0].status !== 'running' && found;
  });
  expect(archived).toMatchObject({
    status: 'failed',
    error: 'the worker was archived in the meantime',
    totals: { passed: 1 },
  });
  await me.post(`/api/workers/${worker.id}/restore`).expect(200);
  const { body } = await start();
  await executor.claimJob();
  await me.remove(`/api/workers/${worker.id}`).expect(204);
  const { pool } = api.deps;
  const rows = async () => (await pool.query('SELECT status, error FROM evaluations WHERE id = $1', [body.id])).rows;
  await pool.query(
    "UPDATE runs SET status = 'cancelled', finished_at = now() WHERE trigger = 'rehearsal' AND status = 'running'",
  );
  await waitUntil(async () => (await rows())[0]?.status === 'failed');
  await purgeDeletedWorkers(api.deps);
  expect(await rows()).toEqual([]);
});

test('a rehearsal that is lost, or whose end was missed, blocks nothing', async () => {
  const worker = await createWorker(api);
  await addTo(worker.id);
  await addTo(worker.id);
  const { body } = await me.post(`/api/workers/${worker.id}/evaluations`).expect(202);
  const { pool, evaluationLoop } = api.deps;
  const runs = [await executor.claimJob(), await executor.claimJob()].map(({ runId }) => runId);
  await pool.query('DELETE FROM runs WHERE id = $1', [runs[0]]);
  const unheard = `UPDATE runs SET status = 'completed', output = '{"total": 12}', finished_at = now() WHERE id = $1`;
  await pool.query(unheard, [runs[1]]);
  const evaluation = await waitUntil(async () => {
    await evaluationLoop.tick();
    const { body: found } = await me.get(`/api/workers/${worker.id}/evaluations/${body.id}`).expect(200);
    return found.status === 'completed' && found;
  });
  expect(evaluation).toMatchObject({ totals: { passed: 1, failed: 0, error: 1, total: 2 } });
});

test('the newest hundred of a worker are kept', async () => {
  const worker = await createWorker(api);
  await addTo(worker.id);
  await api.deps.pool.query(
    `INSERT INTO evaluations (id, workspace_id, worker_uid, version, sha, status, trigger, created_at)
     SELECT 'eval_old' || n, workspace_id, uid, 1, repeat('a', 64), 'completed', 'person', now() - n * interval '1 minute'
     FROM workers, generate_series(1, 120) n WHERE id = $1`,
    [worker.id],
  );
  await me.post(`/api/workers/${worker.id}/evaluations`).expect(202);
  const { headers, body } = await me.get(`/api/workers/${worker.id}/evaluations?limit=200`).expect(200);
  expect(headers['x-total-count']).toBe('100');
  expect(body[99].id).toBe('eval_old99');
  await (await executor.claimJob()).complete({ total: 12 });
});
