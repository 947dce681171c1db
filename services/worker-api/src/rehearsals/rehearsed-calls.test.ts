import { MODELS_CONNECTION, request, runSubjects, type Suspension, type ToolReply, toolReply } from '@gantry/events';
import { listUnrecordedCalls } from '@gantry/run-engine';
import { type FakeJob, setupResource, startScriptedModel, waitUntil, zeroUsage } from '@gantry/testing';
import type { McpCall, McpTool } from '../connections/mcp-client-types';
import { createCaller } from '../test/caller';
import { createTestWorker, type MadeWorker } from '../test/create-test-worker';
import { parseModels } from '../test/parse-models';
import { rehearseNow } from '../test/rehearse-now';
import { testWorkerApi } from '../test/test-worker-api';
import { getWorker } from '../workers/worker-repository';

const model = setupResource(startScriptedModel, (one) => one.stop());
let called: McpCall[] = [];
const inputSchema = { type: 'object' };
const tools: McpTool[] = [
  { name: 'create_issue', description: '', inputSchema },
  { name: 'list_issues', description: '', inputSchema, isReadOnly: true, isRepeatable: true },
];
const mcpClient = {
  listTools: async () => tools,
  callTool: async (_server: object, call: McpCall) => {
    called.push(call);
    const isError = call.arguments.title === 'refused';
    return { isError, content: [{ type: 'text', text: `answer ${called.length}` }] };
  },
};
const api = testWorkerApi(() => ({
  mcpClient,
  outboundAllow: ['127.0.0.0/8'],
  models: parseModels([{ name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'] }], {}),
}));
const executor = setupResource(() => api.connectExecutor());
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
beforeAll(async () => {
  const body = {
    label: 'Tracker',
    url: 'http://127.0.0.1:9999/mcp',
    visibility: 'workspace',
    headers: { Authorization: 'Bearer x' },
  };
  await me.post('/api/connections/mcp', body).expect(201);
});
beforeEach(() => {
  called = [];
});

const getRun = (runId: string) => api.deps.engine.get(api.workspaceId, runId);
const waitForEnd = (runId: string) =>
  waitUntil(async () => {
    const run = await getRun(runId);
    return run.finishedAt && run;
  });

async function beginJob(job: FakeJob): Promise<FakeJob> {
  await job.report({ type: 'started' });
  await waitUntil(async () => (await getRun(job.runId)).startedAt);
  return job;
}

async function startJob(worker: MadeWorker): Promise<FakeJob> {
  await me.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
  return beginJob(await executor.claimJob());
}

async function complete({ report, runId }: FakeJob) {
  await report({ type: 'finished', status: 'completed', output: null, usage: zeroUsage });
  return waitForEnd(runId);
}

/** Rehearses a run that has ended; null: none. */
async function startRehearsal(worker: MadeWorker, of: string | null, isUnread = false): Promise<FakeJob> {
  const recorded = of === null ? null : await getRun(of);
  const row = await getWorker(api.deps.prisma, api.workspaceId, worker.id);
  const run = await rehearseNow(api.deps, { worker: row, inputs: {}, of: recorded, createdBy: null, isUnread });
  const job = await beginJob(await executor.claimJob());
  expect(job.runId).toBe(run.id);
  return job;
}

const aWorker = () => createTestWorker(api, { definition: { connections: ['tracker'] } });

function callTool(
  job: FakeJob,
  ordinal: number,
  tool: string,
  given: object,
  connection = 'tracker',
): Promise<ToolReply> {
  const { runId, attempt, token } = job;
  const payload = { runId, attempt, token, ordinal, connection, tool, arguments: given, timeoutMs: 20_000 };
  return request(executor.bus, runSubjects.tool('worker', executor.id), payload, toolReply, 15_000);
}

const step = <Kind extends 'sleep' | 'approve' | 'call'>(kind: Kind, ordinal: number, name: string) => ({
  kind,
  step: { ordinal, kind, name },
});
const approval = (ordinal: number, data: unknown = null): Suspension => ({
  ...step('approve', ordinal, 'Publish?'),
  title: 'Publish?',
  message: null,
  data,
  form: null,
  expiresInSeconds: null,
});
const aCall = (ordinal: number, worker: MadeWorker, inputs: Record<string, unknown>): Suspension => ({
  ...step('call', ordinal, worker.id),
  workerId: worker.id,
  inputs,
});

/** The job of the next attempt. */
async function waits(job: FakeJob, suspension: Suspension): Promise<FakeJob> {
  await job.suspend(suspension);
  return executor.claimJob();
}

describe('tools', () => {
  /** Completes a run that has called one tool. */
  async function recordCall() {
    const worker = await aWorker();
    const run = await startJob(worker);
    await callTool(run, 1, 'create_issue', { title: 'a' });
    await complete(run);
    called = [];
    return { worker, run };
  }

  test('the k-th call with the same arguments gets the k-th response, in whatever order its keys are, and nothing is called', async () => {
    const worker = await aWorker();
    const run = await startJob(worker);
    await callTool(run, 1, 'create_issue', { title: 'a', labels: { x: 1, y: 2 } });
    await callTool(run, 2, 'create_issue', { title: 'b' });
    await callTool(run, 3, 'create_issue', { title: 'a', labels: { x: 1, y: 2 } });
    await complete(run);
    const again = await startRehearsal(worker, run.runId);
    const same = { labels: { y: 2, x: 1 }, title: 'a' };
    expect(await callTool(again, 1, 'create_issue', same)).toEqual({ result: 'answer 1' });
    expect(await callTool(again, 2, 'create_issue', same)).toEqual({ result: 'answer 3' });
    expect(await callTool(again, 3, 'create_issue', { title: 'b' })).toEqual({ result: 'answer 2' });
    const more = await callTool(again, 4, 'create_issue', same);
    expect(more).toMatchObject({ failed: { code: 'not_recorded', message: expect.stringContaining('results left') } });
    expect(called).toHaveLength(3);
  });

  test('other arguments, and unrecorded calls, are refused; read-only tools are called', async () => {
    const { worker, run } = await recordCall();
    const again = await startRehearsal(worker, run.runId);
    const message = expect.stringContaining(
      `run ${run.runId} requested "tracker.create_issue" with different arguments`,
    );
    expect(await callTool(again, 1, 'create_issue', { title: 'c' })).toEqual({
      failed: { code: 'not_recorded', message },
    });
    expect(await callTool(again, 2, 'list_issues', {})).toEqual({ result: 'answer 1' });
    expect(await callTool(again, 3, 'no_such_tool', {})).toMatchObject({ failed: { code: 'unknown_tool' } });
    expect(await listUnrecordedCalls(api.deps.pool, await getRun(again.runId))).toEqual([{ kind: 'tool', message }]);
    const alone = await startRehearsal(worker, null);
    const none = expect.stringContaining('not based on a recorded run');
    expect(await callTool(alone, 1, 'create_issue', { title: 'a' })).toMatchObject({ failed: { message: none } });
    expect(called).toHaveLength(1);
  });

  test('code that no person has read gets recorded results, and calls no tool at all', async () => {
    const { worker, run } = await recordCall();
    const again = await startRehearsal(worker, run.runId, true);
    expect(await callTool(again, 1, 'create_issue', { title: 'a' })).toEqual({ result: 'answer 1' });
    const refused = await callTool(again, 2, 'list_issues', {});
    expect(refused).toMatchObject({ failed: { code: 'not_recorded' } });
    expect(await listUnrecordedCalls(api.deps.pool, await getRun(again.runId))).toMatchObject([{ kind: 'tool' }]);
    expect(called).toEqual([]);
  });

  test('a recorded failure is a failure again', async () => {
    const worker = await aWorker();
    const run = await startJob(worker);
    const failed = await callTool(run, 1, 'create_issue', { title: 'refused' });
    expect(failed).toMatchObject({ failed: { code: 'tool_error' } });
    await complete(run);
    const again = await startRehearsal(worker, run.runId);
    expect(await callTool(again, 1, 'create_issue', { title: 'refused' })).toEqual(failed);
    expect(called).toHaveLength(1);
  });

  test('a retried attempt gets the same responses', async () => {
    const worker = await aWorker();
    const run = await startJob(worker);
    for (const ordinal of [1, 2, 3]) await callTool(run, ordinal, 'create_issue', { title: 'a' });
    await complete(run);
    const first = await startRehearsal(worker, run.runId);
    await callTool(first, 1, 'create_issue', { title: 'a' });
    await callTool(first, 2, 'create_issue', { title: 'a' });
    const second = await waits(first, { ...step('sleep', 3, 'sleep'), wakeAt: Date.now() + 3_600_000 });
    expect(second).toMatchObject({ runId: first.runId, attempt: 2 });
    await beginJob(second);
    expect(await callTool(second, 2, 'create_issue', { title: 'a' })).toEqual({ result: 'answer 2' });
    expect(await callTool(second, 4, 'create_issue', { title: 'a' })).toEqual({ result: 'answer 3' });
    expect(called).toHaveLength(3);
  });

  test('a run of another workspace is no record', async () => {
    const worker = await aWorker();
    const run = await startJob(worker);
    await callTool(run, 1, 'create_issue', { title: 'a' });
    await complete(run);
    const again = await startRehearsal(worker, run.runId);
    await api.deps.pool.query('UPDATE runs SET workspace_id = $2 WHERE id = $1', [run.runId, api.foreign.workspaceId]);
    expect(await callTool(again, 1, 'create_issue', { title: 'a' })).toMatchObject({
      failed: { code: 'not_recorded' },
    });
  });
});

test('a model response comes from the record for the same request, and from the model for any other', async () => {
  const worker = await aWorker();
  const question = (content: string) => ({ messages: [{ role: 'user', content }] });
  await model.says({ text: 'Recorded.' }, { text: 'Asked.' });
  const run = await startJob(worker);
  const answer = await callTool(run, 1, 'default', question('one'), MODELS_CONNECTION);
  expect(answer).toMatchObject({ result: { text: 'Recorded.' } });
  await complete(run);
  const again = await startRehearsal(worker, run.runId);
  expect(await callTool(again, 1, 'default', question('one'), MODELS_CONNECTION)).toEqual(answer);
  expect(await callTool(again, 2, 'default', question('two'), MODELS_CONNECTION)).toMatchObject({
    result: { text: 'Asked.' },
  });
  expect(await model.asked()).toHaveLength(2);
});

describe('a suspension', () => {
  test('for a sleep ends at once', async () => {
    const job = await startRehearsal(await aWorker(), null);
    const next = await waits(job, { ...step('sleep', 1, 'sleep'), wakeAt: Date.now() + 3_600_000 });
    expect(next).toMatchObject({ runId: job.runId, steps: [{ ordinal: 1, kind: 'sleep', result: null }] });
  });

  test('for an approval ends with its recorded decision, and no approver is asked', async () => {
    const worker = await aWorker();
    const before = (await me.get('/api/approvals').expect(200)).body;
    const run = await startJob(worker);
    await run.suspend(approval(1, { n: 1 }));
    const { body } = await waitUntil(async () => {
      const listed = await me.get('/api/approvals?status=pending');
      return listed.body.length === 1 && listed;
    });
    await me.post(`/api/approvals/${body[0].id}/approve`, {}).expect(200);
    const resumed = await beginJob(await executor.claimJob());
    await complete(resumed);
    const first = await startRehearsal(worker, run.runId);
    const second = await waits(first, approval(1, { n: 1 }));
    expect(second).toMatchObject({ runId: first.runId, steps: resumed.steps });
    await second.suspend(approval(2, { n: 2 }));
    const error = { code: 'exception', type: 'NotRecorded', message: expect.stringContaining('context.approve()') };
    const refused = await waitForEnd(first.runId);
    expect(refused).toMatchObject({ status: 'failed', error });
    expect(await listUnrecordedCalls(api.deps.pool, refused)).toEqual([
      { kind: 'wait', message: refused.error?.message },
    ]);
    expect((await me.get('/api/approvals').expect(200)).body).toHaveLength(before.length + 1);
  });

  test('for a rejected approval ends with the rejection again', async () => {
    const worker = await aWorker();
    const run = await startJob(worker);
    await run.suspend(approval(1));
    await waitUntil(async () => (await getRun(run.runId)).status === 'pending_approval');
    await me.post(`/api/runs/${run.runId}/reject`, { reason: 'not today' }).expect(200);
    const { error } = await waitForEnd(run.runId);
    const again = await startRehearsal(worker, run.runId);
    await again.suspend(approval(1));
    expect(await waitForEnd(again.runId)).toMatchObject({ status: 'rejected', error });
  });

  test('for a called worker calls it no second time', async () => {
    const [worker, callee] = [await aWorker(), await aWorker()];
    const run = await startJob(worker);
    const child = await waits(run, aCall(1, callee, { a: 1, b: 2 }));
    await child.complete({ total: 12 });
    const resumed = await beginJob(await executor.claimJob());
    await complete(resumed);
    const first = await startRehearsal(worker, run.runId);
    const second = await waits(first, aCall(1, callee, { b: 2, a: 1 }));
    expect(second).toMatchObject({ runId: first.runId, steps: resumed.steps });
    await second.suspend(aCall(2, callee, { a: 3 }));
    expect(await waitForEnd(first.runId)).toMatchObject({ status: 'failed', error: { type: 'NotRecorded' } });
    const { body } = await me.get(`/api/runs?worker_id=${callee.id}`).expect(200);
    expect(body).toHaveLength(1);
  });
});
