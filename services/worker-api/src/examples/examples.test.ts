import { type FakeJob, setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const equal = [{ kind: 'equal', path: '/total', value: 12 }];
const examplesPath = (id: string) => `/api/workers/${id}/examples`;
const add = (id: string, body: object) => me.post(examplesPath(id), { name: 'One', ...body });
const addExample = async (id: string, body: object) => (await add(id, body).expect(201)).body;
const problems = async (id: string, body: object) => (await add(id, body).expect(400)).body.errors;

/** @returns the id of a run that has ended */
async function ran(workerId: string, inputs: object, end: (job: FakeJob) => Promise<void>): Promise<string> {
  const { run_id: runId } = (await me.post(`/api/workers/${workerId}/runs`, { inputs }).expect(201)).body;
  await end(await executor.claimJob());
  await waitUntil(async () => (await me.get(`/api/runs/${runId}`)).body.completed_at);
  return runId;
}

test('an example is added, changed, listed and deleted, and each change is audited', async () => {
  const { id } = await createWorker(api);
  const example = await addExample(id, { inputs: { name: 'Ada' }, checks: equal, max_duration_seconds: 30 });
  expect(example).toMatchObject({
    name: 'One',
    description: '',
    inputs: { name: 'Ada' },
    checks: equal,
    enabled: true,
    of_run_id: null,
    max_duration_seconds: 30,
    max_cost_usd: null,
    created_by: api.owner.userId,
  });
  const path = `${examplesPath(id)}/${example.id}`;
  const checks = [{ kind: 'judge', instructions: 'It is polite.' }];
  const changed = (await me.patch(path, { checks, enabled: false, max_duration_seconds: null }).expect(200)).body;
  expect(changed).toMatchObject({
    name: 'One',
    enabled: false,
    max_duration_seconds: null,
    checks: [{ kind: 'judge', instructions: 'It is polite.', threshold: 0.7 }],
  });
  const second = await addExample(id, { name: 'Another', checks: equal });
  const { body, headers } = await me.get(`${examplesPath(id)}?limit=1`).expect(200);
  expect(body).toEqual([changed]);
  expect(headers).toMatchObject({ 'x-total-count': '2', link: expect.stringContaining('offset=1') });
  await me.remove(path).expect(204);
  await me.get(path).expect(404);
  await me.remove(path).expect(404);
  expect((await me.get(examplesPath(id))).body).toEqual([second]);
  const listAuditEntries = async (one: string) =>
    (await me.get(`/api/audit-log?resource_id=${one}`).expect(200)).body.map(
      ({ action }: { action: string }) => action,
    );
  expect((await listAuditEntries(example.id)).sort()).toEqual([
    'example.created',
    'example.deleted',
    'example.updated',
  ]);
});

test('inputs that the worker refuses are named, and files come from runs only', async () => {
  const inputs = [
    { name: 'count', type: 'number', required: true },
    { name: 'table', type: 'file' },
  ];
  const { id } = await createWorker(api, { inputs, files: [{ path: 'main.py', content: 'def run(**all): pass' }] });
  expect(await problems(id, { inputs: { count: 'many', other: 1 }, checks: equal })).toMatchObject([
    { path: 'inputs.other' },
    { path: 'inputs.count' },
  ]);
  const table = { name: 'a.csv', content_base64: 'YQ==' };
  expect(await problems(id, { inputs: { count: 1, table }, checks: equal })).toMatchObject([
    { path: 'inputs.table', message: expect.stringContaining('must come from a run') },
  ]);
  const runId = await ran(id, { count: 1, table }, (job) => job.complete({ total: 12 }));
  const example = await addExample(id, { run_id: runId });
  expect(example.inputs).toEqual({ count: 1, table: { name: 'a.csv', size: 1 } });
  const path = `${examplesPath(id)}/${example.id}`;
  expect((await me.patch(path, { inputs: { ...example.inputs, count: 2 } }).expect(200)).body.inputs.count).toBe(2);
  const stolen = { ...example.inputs, table: { name: 'b.csv', size: 1 } };
  expect((await me.patch(path, { inputs: stolen }).expect(400)).body.errors).toMatchObject([{ path: 'inputs.table' }]);
});

test('invalid checks, and checks without effect, are named', async () => {
  const { id } = await createWorker(api);
  const expectProblems = async (...checks: object[]) => problems(id, { checks });
  expect(await expectProblems({ kind: 'equal' })).toMatchObject([{ path: 'checks.0.value', message: 'is required' }]);
  expect(await expectProblems(...equal, { kind: 'contains', path: 'total', value: 1 })).toMatchObject([
    { path: 'checks.1.path', message: 'must be a JSON pointer, such as /report/total' },
  ]);
  expect(
    await expectProblems({ kind: 'schema', schema: { type: 'text', properties: { a: { pattern: '^a' } } } }),
  ).toMatchObject([
    { path: 'checks.0.schema', message: expect.stringContaining('type must be one of') },
    { path: 'checks.0.schema', message: expect.stringContaining('/properties/a: pattern is not supported here') },
  ]);
  expect(await expectProblems({ kind: 'fails' }, ...equal)).toMatchObject([{ path: 'checks.0.kind' }]);
  expect(await expectProblems({ kind: 'equal', value: 1, instructions: 'x' })).toMatchObject([
    { path: 'checks.0.instructions' },
  ]);
  expect(await expectProblems({ kind: 'equal', value: 'x'.repeat(140_000) })).toMatchObject([{ path: 'checks' }]);
  const deep = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`);
  await add(id, { checks: [{ kind: 'equal', value: deep }] }).expect(400);
  expect(await problems(id, {})).toMatchObject([{ path: 'checks', message: expect.stringContaining('is required') }]);
});

test('an example of a run expects the output of the run', async () => {
  const { id } = await createWorker(api);
  const completed = await ran(id, { name: 'Ada' }, (job) => job.complete('hello'));
  expect(await addExample(id, { run_id: completed })).toMatchObject({
    inputs: { name: 'Ada' },
    of_run_id: completed,
    checks: [{ kind: 'equal', value: { result: 'hello' } }],
  });
  const error = { code: 'exception' as const, message: 'no such name' };
  const failed = await ran(id, { name: 'Bob' }, (job) =>
    job.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage }),
  );
  expect((await addExample(id, { run_id: failed })).checks).toEqual([{ kind: 'fails' }]);
  expect(await problems(id, { run_id: failed, inputs: {} })).toMatchObject([{ path: 'inputs' }]);
  const other = await createWorker(api, { name: 'Another' });
  await add(other.id, { run_id: completed }).expect(404);
  await add(id, { run_id: 'run_unknown' }).expect(404);
  const { run_id: going } = (await me.post(`/api/workers/${id}/runs`, { inputs: {} }).expect(201)).body;
  expect((await add(id, { run_id: going }).expect(409)).body.code).toBe('not_ended');
  await (await executor.claimJob()).complete(null);
});

test('viewers read examples and change none; those of a private worker are visible to its owner', async () => {
  const { id } = await createWorker(api);
  const example = await addExample(id, { checks: equal });
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  expect((await viewer.get(examplesPath(id)).expect(200)).body).toEqual([example]);
  await viewer.post(examplesPath(id), { name: 'Two', checks: equal }).expect(403);
  await viewer.patch(`${examplesPath(id)}/${example.id}`, { enabled: false }).expect(403);
  await me.patch(`/api/workers/${id}`, { visibility: 'private' }).expect(200);
  await viewer.get(`${examplesPath(id)}/${example.id}`).expect(404);
  const stranger = createCaller(api.url, api.foreign.owner.jwt);
  await stranger.get(`${examplesPath(id)}/${example.id}`).expect(404);
  const own = await createWorker(api, { name: 'Has none' });
  await me.get(`${examplesPath(own.id)}/${example.id}`).expect(404);
});

test('the number of examples of a worker is limited', async () => {
  const { id } = await createWorker(api);
  await addExample(id, { checks: equal });
  await api.deps.pool.query(
    `INSERT INTO worker_examples SELECT 'ex_' || id || n, workspace_id, worker_uid, name, description, inputs, checks, NULL, NULL,
       enabled, NULL, NULL, now(), now()
     FROM worker_examples, generate_series(2, 200) n WHERE worker_uid = (SELECT uid FROM workers WHERE id = $1)`,
    [id],
  );
  expect((await add(id, { checks: equal }).expect(409)).body.code).toBe('too_many_examples');
});
