import { type FakeJob, setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const fail = (job: FakeJob, message: string) => {
  const error = { code: 'exception' as const, type: 'ValueError', message };
  return job.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
};
const tick = () => api.deps.evaluationLoop.tick();

const isTotal = (value: number) => [{ kind: 'equal', path: '/total', value }];
async function example(workerId: string, body: object) {
  const whole = { name: 'One', checks: isTotal(12), ...body };
  return (await me.post(`/api/workers/${workerId}/examples`, whole).expect(201)).body;
}
const evaluationsPath = (id: string) => `/api/workers/${id}/evaluations`;
const start = (id: string, body?: object) => me.post(evaluationsPath(id), body);

/** Started, with as many of its examples under way as may be. */
async function startEvaluation(id: string, body?: object): Promise<string> {
  const { body: evaluation } = await start(id, body).expect(202);
  await tick();
  return evaluation.id;
}
const read = async (id: string, evaluationId: string) =>
  (await me.get(`${evaluationsPath(id)}/${evaluationId}`).expect(200)).body;
const waitForEnd = (id: string, evaluationId: string) =>
  waitUntil(async () => {
    await tick();
    const evaluation = await read(id, evaluationId);
    return evaluation.status !== 'running' && evaluation;
  });

test('each example is run without effects on the version and judged by its checks', async () => {
  const worker = await createWorker(api);
  await example(worker.id, { name: 'A', inputs: { name: 'Ada' } });
  await example(worker.id, {
    name: 'B',
    inputs: { name: 'Bob' },
    checks: [...isTotal(12), { kind: 'contains', value: { total: 11 } }],
  });
  await example(worker.id, { name: 'C', checks: [{ kind: 'fails', error_contains: 'no name' }], max_cost_usd: 1 });
  await example(worker.id, { name: 'D' });
  await example(worker.id, { name: 'off', enabled: false });
  const { body: started } = await start(worker.id).expect(202);
  expect(started).toMatchObject({
    worker_id: worker.id,
    version: 1,
    version_sha: worker.sha,
    status: 'running',
    trigger: 'person',
    error: null,
    totals: { passed: 0, failed: 0, error: 0, total: 4 },
    created_by: api.owner.userId,
    ended_at: null,
  });
  await tick();
  for (let at = 0; at < 4; at++) {
    const job = await executor.claimJob();
    const { name } = job.inputs ?? {};
    expect(job.kind).toBe('test');
    if (name === undefined) await fail(job, 'there is no name');
    else await job.complete({ total: name === 'Ada' ? 12 : 11 });
  }
  const evaluation = await waitForEnd(worker.id, started.id);
  expect(evaluation).toMatchObject({ status: 'completed', totals: { passed: 2, failed: 2, error: 0, total: 4 } });
  expect(evaluation.duration_ms).toBeGreaterThanOrEqual(0);
  const [a, b, c, d] = evaluation.results;
  expect(a).toMatchObject({ example_name: 'A', status: 'passed', output: { total: 12 }, error: null });
  expect(a.run_id).toMatch(/^tr_/);
  expect(b.checks).toEqual([
    { kind: 'equal', path: '/total', passed: false, message: '/total is 11, not 12', score: null },
    { kind: 'contains', path: null, passed: true, message: 'as expected', score: null },
  ]);
  expect(c).toMatchObject({ status: 'passed', output: null, error: 'failed: there is no name' });
  expect(c.checks).toMatchObject([{ kind: 'fails' }, { kind: 'max_cost', passed: true }]);
  expect(d).toMatchObject({ status: 'failed', checks: [{ message: 'the run failed: there is no name' }] });
});

test('four run at once, in the order of their names, and later changes do not count', async () => {
  const worker = await createWorker(api);
  const made = [];
  for (const name of ['6', '5', '4', '3', '2', '1']) made.push(await example(worker.id, { name, inputs: { name } }));
  const id = await startEvaluation(worker.id);
  const statuses = async () => (await read(worker.id, id)).results.map(({ status }: { status: string }) => status);
  expect(await statuses()).toEqual(['running', 'running', 'running', 'running', 'pending', 'pending']);
  for (const { id: one } of made) {
    await me.patch(`/api/workers/${worker.id}/examples/${one}`, { checks: isTotal(1), name: 'other' }).expect(200);
  }
  await me.remove(`/api/workers/${worker.id}/examples/${made[0].id}`).expect(204);
  for (let at = 0; at < 4; at++) await (await executor.claimJob()).complete({ total: 12 });
  await waitUntil(async () => {
    await tick();
    return (await statuses())[5] === 'running';
  });
  for (let at = 0; at < 2; at++) await (await executor.claimJob()).complete({ total: 12 });
  expect(await waitForEnd(worker.id, id)).toMatchObject({ totals: { passed: 6, total: 6 } });
  const { body: table } = await me.get(`${evaluationsPath(worker.id)}/table`).expect(200);
  expect(table.examples).toHaveLength(6);
  expect(table.examples.filter(({ exists }: { exists: boolean }) => !exists)).toEqual([
    { id: made[0].id, name: '6', exists: false },
  ]);
});

test('versions are compared by their latest evaluations', async () => {
  const worker = await createWorker(api);
  const { id: exampleId } = await example(worker.id, {});
  const evaluate = async (total: number, body?: object) => {
    const id = await startEvaluation(worker.id, body);
    await (await executor.claimJob()).complete({ total });
    return waitForEnd(worker.id, id);
  };
  await evaluate(11);
  const first = await evaluate(12);
  const file = { path: 'main.py', content: 'def run(name=None):\n    return {"total": 13}\n' };
  const { sha } = (await me.put(`/api/workers/${worker.id}/files`, { files: [file] }).expect(200)).body;
  const second = await evaluate(13);
  await me.post(`/api/workers/${worker.id}/rollback/${worker.sha}`).expect(200);
  const { body } = await me.get(`${evaluationsPath(worker.id)}/table`).expect(200);
  expect(body.versions).toMatchObject([
    { sha: worker.sha, version: 3, evaluation_id: first.id, status: 'completed', totals: { passed: 1 } },
    { sha, version: 2, evaluation_id: second.id, totals: { failed: 1 } },
  ]);
  expect(body.cells[exampleId]).toMatchObject({ [worker.sha]: { status: 'passed' }, [sha]: { status: 'failed' } });
  const one = (await me.get(`${evaluationsPath(worker.id)}/table?versions=1`).expect(200)).body;
  expect(one.versions).toHaveLength(1);
  const { body: listed, headers } = await me.get(`${evaluationsPath(worker.id)}?sha=${worker.sha.slice(0, 7)}&limit=1`);
  expect(listed).toMatchObject([{ id: first.id, usd: 0 }]);
  expect(headers['x-total-count']).toBe('2');
  const again = await evaluate(12, { sha: sha.slice(0, 10), example_ids: [exampleId] });
  expect(again).toMatchObject({ version: 2, version_sha: sha, totals: { passed: 1 } });
});

test('an evaluation that can’t begin says why', async () => {
  const worker = await createWorker(api);
  const code = async (status: number, body?: object) => (await start(worker.id, body).expect(status)).body.code;
  expect(await code(409)).toBe('no_examples');
  const { id } = await example(worker.id, { enabled: false });
  expect(await code(409)).toBe('no_examples');
  expect((await start(worker.id, { example_ids: [id, 'ex_unknown'] }).expect(400)).body.errors).toMatchObject([
    { path: 'example_ids.1' },
  ]);
  await start(worker.id, { sha: 'abcdef0' }).expect(404);
  const first = await startEvaluation(worker.id, { example_ids: [id] });
  const second = await start(worker.id, { example_ids: [id] }).expect(409);
  expect(second.body).toMatchObject({ code: 'evaluation_under_way', errors: [{ path: 'id', message: first }] });
  await (await executor.claimJob()).complete({ total: 12 });
  await waitForEnd(worker.id, first);
  await example(worker.id, { checks: [{ kind: 'judge', instructions: 'Be kind.' }] });
  const unjudged = await start(worker.id).expect(409);
  expect(unjudged.body).toMatchObject({ code: 'no_model', detail: expect.stringContaining('MODEL_PROVIDERS') });
  await me.post(`/api/workers/${worker.id}/archive`).expect(200);
  expect(await code(409)).toBe('archived');
});

test('an example that the version does not accept, or whose record is gone, is an error and blocks no other', async () => {
  const worker = await createWorker(api);
  const { run_id: runId } = (await me.post(`/api/workers/${worker.id}/runs`, { inputs: { name: 'Ada' } }).expect(201))
    .body;
  await (await executor.claimJob()).complete({ total: 12 });
  await waitUntil(async () => (await me.get(`/api/runs/${runId}`)).body.completed_at);
  const of = { name: 'A', run_id: runId, inputs: undefined, checks: undefined };
  await example(worker.id, of);
  await example(worker.id, { name: 'B', inputs: { name: 'Bob' } });
  await example(worker.id, { name: 'C' });
  await me.patch(`/api/workers/${worker.id}`, { inputs: [{ name: 'other', type: 'text' }] }).expect(200);
  await api.deps.pool.query('DELETE FROM runs WHERE id = $1', [runId]);
  const id = await startEvaluation(worker.id);
  await (await executor.claimJob()).complete({ total: 12 });
  const { results } = await waitForEnd(worker.id, id);
  expect(results).toMatchObject([
    { status: 'error', run_id: null, error: expect.stringContaining('no longer exists') },
    { status: 'error', run_id: null, error: expect.stringContaining('inputs.name') },
    { status: 'passed' },
  ]);
});

test('a stopped evaluation cancels its runs and keeps its results', async () => {
  const worker = await createWorker(api);
  for (const name of ['1', '2', '3', '4', '5']) await example(worker.id, { name });
  const id = await startEvaluation(worker.id);
  const [job] = [await executor.claimJob()];
  await job.complete({ total: 12 });
  await waitUntil(async () => {
    await tick();
    return (await read(worker.id, id)).totals.passed === 1;
  });
  const stop = () => me.post(`${evaluationsPath(worker.id)}/${id}/stop`);
  expect((await stop().expect(200)).body).toMatchObject({ status: 'stopped', totals: { passed: 1, total: 5 } });
  expect((await stop().expect(200)).body.status).toBe('stopped');
  const { results } = await read(worker.id, id);
  expect(results.filter(({ status }: { status: string }) => status === 'stopped')).toHaveLength(4);
  const runs = (await me.get(`/api/runs?worker_id=${worker.id}&trigger=rehearsal`).expect(200)).body;
  expect(runs.map(({ status }: { status: string }) => status).sort()).toEqual([
    ...Array(4).fill('cancelled'),
    'completed',
  ]);
  expect((await me.get(`/api/audit-log?resource_id=${id}`)).body).toMatchObject([
    { action: 'evaluation.stopped' },
    { action: 'evaluation.started', details: { examples: 5 } },
  ]);
  const again = await startEvaluation(worker.id);
  await me.post(`${evaluationsPath(worker.id)}/${again}/stop`).expect(200);
});

test('viewers read evaluations and start none, and other workspaces do not see them', async () => {
  const worker = await createWorker(api);
  await example(worker.id, {});
  const id = await startEvaluation(worker.id);
  const path = `${evaluationsPath(worker.id)}/${id}`;
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  expect((await viewer.get(path).expect(200)).body.results).toHaveLength(1);
  await viewer.post(evaluationsPath(worker.id)).expect(403);
  await viewer.post(`${path}/stop`).expect(403);
  const stranger = createCaller(api.url, api.foreign.owner.jwt);
  await stranger.get(path).expect(404);
  await stranger.post(`${path}/stop`).expect(404);
  const other = await createWorker(api, { name: 'Another' });
  await me.get(`${evaluationsPath(other.id)}/${id}`).expect(404);
  await me.post(`${path}/stop`).expect(200);
});

test('an alert is raised for an evaluation with a failed example, and for no other', async () => {
  const worker = await createWorker(api);
  const on = { on: ['evaluation.failed'], worker_id: worker.id, url: 'https://hooks.example.com/a' };
  const { id: alertId } = (await me.post('/api/alerts', on).expect(201)).body;
  await example(worker.id, {});
  for (const total of [12, 11]) {
    const id = await startEvaluation(worker.id);
    await (await executor.claimJob()).complete({ total });
    await waitForEnd(worker.id, id);
  }
  const told = await waitUntil(async () => {
    const { body } = await me.get(`/api/alerts/${alertId}/deliveries`).expect(200);
    return body.length > 0 && body;
  });
  const [{ payload }] = told;
  expect(told).toHaveLength(1);
  expect(payload.data).toMatchObject({
    worker_id: worker.id,
    evaluation: { version: 1, sha: worker.sha, passed: 0, failed: 1, errors: 0, total: 1, error: null },
  });
  expect(payload.data.evaluation.url).toMatch(`/workers/${worker.id}/evaluations/eval_`);
  expect((await me.post(`/api/alerts/${alertId}/test`)).body.channels).toHaveLength(1);
});

test('a run without a recorded response is an error if it fails, or if its output is not the expected one', async () => {
  const worker = await createWorker(api);
  await example(worker.id, { name: 'A', inputs: { name: 'A' }, checks: [{ kind: 'fails' }] });
  await example(worker.id, { name: 'B', inputs: { name: 'B' } });
  await example(worker.id, { name: 'C', inputs: { name: 'C' } });
  const id = await startEvaluation(worker.id);
  for (let at = 0; at < 3; at++) {
    const job = await executor.claimJob();
    const { name } = job.inputs ?? {};
    const error = { code: 'exception' as const, type: 'NotRecorded', message: 'nobody was asked' };
    if (name === 'A')
      await job.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
    else {
      await api.deps.pool.query(
        `INSERT INTO run_steps (run_id, ordinal, kind, name, status, result)
         VALUES ($1, 1, 'tool', 'crm.create', 'completed', '{"gantry:failed": {"code": "not_recorded", "message": "no record"}}')`,
        [job.runId],
      );
      await job.complete({ total: name === 'B' ? 11 : 12 });
    }
  }
  const { results } = await waitForEnd(worker.id, id);
  expect(results).toMatchObject([
    { status: 'error', checks: [], error: 'nobody was asked' },
    { status: 'error', checks: [{ passed: false }], error: 'no record' },
    { status: 'passed', error: null },
  ]);
});
