/** Answers to the requests of recorded runs, on their way to rehearsals and to no other run. */

import { listUnrecordedCalls } from '@gantry/run-engine';
import { type FakeEvent, type FakeJob, setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createTestWorker, type MadeWorker } from '../test/create-test-worker';
import { rehearseNow } from '../test/rehearse-now';
import { testWorkerApi } from '../test/test-worker-api';
import { getWorker } from '../workers/worker-repository';

const api = testWorkerApi();
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

type RequestEvent = Extract<FakeEvent, { type: 'request' }>;
const BODY = 'seen by nobody but a rehearsal';

const post = (target: string, body = BODY): RequestEvent => ({
  type: 'request',
  method: 'POST',
  scheme: 'https',
  host: 'api.test',
  port: 443,
  path: '/items',
  status: 201,
  bytesSent: 2,
  bytesReceived: 2,
  durationMs: 1,
  credentials: [],
  answer: { target, contentType: 'text/plain', body, encoding: 'text' },
});
const getRun = (runId: string) => api.deps.engine.get(api.workspaceId, runId);

async function complete({ report, runId }: FakeJob, ...events: FakeEvent[]) {
  await report(...events, { type: 'finished', status: 'completed', output: null, usage: zeroUsage });
  return waitUntil(async () => {
    const run = await getRun(runId);
    return run.finishedAt && run;
  });
}

async function recordRun(worker: MadeWorker, ...events: FakeEvent[]) {
  await me.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
  return complete(await executor.claimJob(), { type: 'started' }, ...events);
}

async function startRehearsal(worker: MadeWorker, of: Awaited<ReturnType<typeof recordRun>>): Promise<FakeJob> {
  const row = await getWorker(api.deps.prisma, api.workspaceId, worker.id);
  await rehearseNow(api.deps, { worker: row, inputs: of.inputs, of, createdBy: null });
  return executor.claimJob();
}

test('a rehearsal gets them in the order of the record, and each once over all its attempts', async () => {
  const worker = await createTestWorker(api);
  const of = await recordRun(worker, post('/items?n=1', 'one'), post('/items?n=1', 'two'), post('/items?n=2', 'three'));
  const answer = { method: 'POST', scheme: 'https', host: 'api.test', port: 443, status: 201 };
  const first = await startRehearsal(worker, of);
  expect(first.rehearsal?.answers).toMatchObject([
    { id: 1_000_002, ...answer, target: '/items?n=1', contentType: 'text/plain', body: 'one', encoding: 'text' },
    { id: 1_000_003, ...answer, target: '/items?n=1', body: 'two' },
    { id: 1_000_004, ...answer, target: '/items?n=2', body: 'three' },
  ]);
  const { answer: _, ...used } = post('/items?n=1');
  await first.report({ type: 'started' }, { ...used, recorded: 1_000_002 });
  await first.report({
    type: 'finished',
    status: 'suspended',
    usage: zeroUsage,
    suspension: { kind: 'sleep', step: { ordinal: 1, kind: 'sleep', name: 'sleep' }, wakeAt: Date.now() },
  });
  const second = await executor.claimJob();
  expect(second.rehearsal?.answers.map(({ body }) => body)).toEqual(['two', 'three']);
  const problem = { kind: 'refused' as const, message: 'POST /items was not recorded' };
  const run = await complete(second, { type: 'started' }, { ...used, status: null, recorded: null, problem });
  expect(await listUnrecordedCalls(api.deps.pool, run)).toEqual([{ kind: 'request', message: problem.message }]);
  expect(await listUnrecordedCalls(api.deps.pool, of)).toEqual([]);
});

test('many of them are transferred by object store', async () => {
  const worker = await createTestWorker(api);
  const of = await recordRun(worker, ...Array.from({ length: 6 }, (_, n) => post(`/${n}`, 'x'.repeat(8_000))));
  const job = await startRehearsal(worker, of);
  expect(job.rehearsal).toEqual({ answers: [], answersUrl: expect.any(String) });
  const answers = await (await fetch(job.rehearsal?.answersUrl ?? '')).json();
  expect(answers).toHaveLength(6);
  await complete(job);
});

test('a rehearsal without a recorded run, and an ordinary run, get none', async () => {
  const worker = await createTestWorker(api);
  const row = await getWorker(api.deps.prisma, api.workspaceId, worker.id);
  await rehearseNow(api.deps, { worker: row, inputs: {}, of: null, createdBy: null });
  const job = await executor.claimJob();
  expect(job).toMatchObject({ kind: 'test', rehearsal: { answers: [] } });
  await complete(job);
  await me.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
  const run = await executor.claimJob();
  expect(run.rehearsal).toBeUndefined();
  await complete(run);
});

test('no response body is shown: lists, streams and downloads only say that it is stored', async () => {
  const worker = await createTestWorker(api);
  await me.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
  const job = await executor.claimJob();
  const live = fetch(`${api.url}/api/runs/${job.runId}/events`, {
    headers: { Authorization: `Bearer ${api.owner.jwt}` },
  });
  await job.report({ type: 'started' });
  const { id } = await complete(job, post('/items?secret-target=1'));
  const { body } = await me.get(`/api/runs/${id}/requests`).expect(200);
  expect(body).toMatchObject([{ method: 'POST', path: '/items', answer_recorded: true }]);
  const told = [
    JSON.stringify(body),
    await (await live).text(),
    (await me.get(`/api/runs/${id}/events`).expect(200)).text,
    JSON.stringify((await me.get(`/api/runs/${id}`).expect(200)).body),
    (await me.get(`/api/runs/${id}/download`)).text ?? '',
  ];
  expect(told[1]).toContain('answer_recorded');
  expect(told[2]).toContain('answer_recorded');
  for (const text of told) {
    expect(text).not.toContain(BODY);
    expect(text).not.toContain('secret-target');
  }
});
