import {
  alertRaised,
  buildEventSubject,
  type EventType,
  encode,
  enqueue,
  newId,
  runFinished,
  scheduleMissed,
} from '@gantry/events';
import { setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { createCaller } from '../../test/caller';
import { testWorkerApi } from '../../test/test-worker-api';

const api = testWorkerApi();
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());
/** Leaves nothing that hears the next test's events, and nothing in the queue. */
afterEach(async () => {
  await api.deps.pool.query("UPDATE workers SET status = 'archived'");
  for (const { id } of (await me.get('/api/runs?status=queued&limit=200')).body)
    await me.post(`/api/runs/${id}/cancel`);
});

const files = [{ path: 'main.py', content: 'def run(event): return event' }];
async function createTriggered(trigger: unknown, body: object = {}, caller = me): Promise<string> {
  return (await caller.post('/api/workers', { name: 'Listens', files, trigger, ...body }).expect(201)).body.id;
}
const on = (events: string[], source_id: string | null = null) => ({ type: 'event', on: events, source_id });
const listRuns = async (id: string, caller = me) => (await caller.get(`/api/runs?worker_id=${id}&limit=200`)).body;
const getInput = async (runId: string) => (await me.get(`/api/runs/${runId}`).expect(200)).body.input;
const waitForFirstRun = (id: string, caller = me) => waitUntil(async () => (await listRuns(id, caller))[0]);
async function emit<T extends EventType>(event: T, data: object): Promise<void> {
  const { pool } = api.deps;
  await enqueue(pool, event, api.workspaceId, data as never);
}
const publishFinished = (data: object) =>
  emit(runFinished, {
    runId: newId('run_'),
    source: 'automation',
    subjectId: 'auto-x',
    status: 'completed',
    errorCode: null,
    durationMs: 12,
    finishedAt: Date.parse('2026-01-05T09:00:00Z'),
    trigger: 'api',
    costUsd: 0,
    ...data,
  });
/** Has the worker run once and end so; returns the run's id. */
async function runEnds(id: string, status: 'completed' | 'failed'): Promise<string> {
  const { run_id } = (await me.post(`/api/workers/${id}/runs`, { inputs: {} }).expect(201)).body;
  const job = await executor.claimJob();
  const error = { code: 'exception' as const, message: 'no luck', type: 'ValueError' };
  const ending = status === 'completed' ? { status, output: {} } : { status, error };
  await job.report({ type: 'started' }, { type: 'finished', ...ending, usage: zeroUsage });
  return run_id;
}
/** An event behind all those before it has been heard. */
async function allHeard(): Promise<void> {
  const last = await createTriggered(on(['run.timed_out'], 'the-last'));
  await publishFinished({ subjectId: 'the-last', status: 'timed_out' });
  await waitForFirstRun(last);
}

test("another worker's failed run starts a run that gets its event", async () => {
  const source = await createTriggered('manual', { id: 'importer' });
  const listener = await createTriggered(on(['run.failed'], source));
  const elsewhere = await createTriggered(on(['run.failed'], 'another-worker'));
  const other = await createTriggered(on(['run.completed', 'run.cancelled']));
  const runId = await runEnds(source, 'failed');
  const run = await waitForFirstRun(listener);
  expect(run).toMatchObject({ trigger: 'event', status: 'queued' });
  expect(await getInput(run.id)).toEqual({
    event: {
      type: 'run.failed',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      worker_id: 'importer',
      automation_id: null,
      run_id: runId,
      status: 'failed',
      trigger: 'api',
      error_code: 'exception',
      error: 'no luck',
      duration_ms: expect.any(Number),
      cost_usd: 0,
    },
  });
  await allHeard();
  expect(await listRuns(listener)).toHaveLength(1);
  expect(await listRuns(elsewhere)).toEqual([]);
  expect(await listRuns(other)).toEqual([]);
});

test('a trigger without a source receives events of all others in the workspace, automations too, and never of its own worker', async () => {
  const source = await createTriggered('manual');
  const listener = await createTriggered(on(['run.completed']));
  await runEnds(source, 'completed');
  await waitForFirstRun(listener);
  await publishFinished({ subjectId: 'auto-9' });
  const heard = await waitUntil(async () => {
    const runs = await listRuns(listener);
    return runs.length === 2 && runs;
  });
  expect((await getInput(heard[0].id)).event).toMatchObject({ automation_id: 'auto-9', worker_id: null });
  const job = await executor.claimJob();
  await job.complete({});
  await allHeard();
  expect(await listRuns(listener)).toHaveLength(2);
});

test('an event that is redelivered starts nothing', async () => {
  const listener = await createTriggered(on(['run.completed'], 'auto-twice'));
  const data = { runId: 'run_1', source: 'automation', subjectId: 'auto-twice', status: 'completed', errorCode: null };
  const envelope = {
    specversion: '1.0',
    id: newId('evt_'),
    type: runFinished.type,
    source: '/gantry/worker-api',
    time: new Date().toISOString(),
    workspaceid: api.workspaceId,
    data: { ...data, durationMs: 1, finishedAt: Date.now() },
  };
  for (let i = 0; i < 3; i++) await api.bus.js.publish(buildEventSubject(runFinished, 'worker-api'), encode(envelope));
  await allHeard();
  expect(await listRuns(listener)).toHaveLength(1);
});

test('a worker that triggers itself is limited to a chain of eight', async () => {
  const id = await createTriggered('manual', { id: 'ouroboros' });
  await me.patch(`/api/workers/${id}`, { trigger: on(['run.completed'], id) }).expect(200);
  const stop = await api.serveRuns(() => ({}), 2);
  await me.post(`/api/workers/${id}/runs`, { inputs: {} }).expect(201);
  await waitUntil(() => api.logs.lines.some(({ msg }) => msg === 'stopped a circular event chain'));
  await stop();
  const runs = await listRuns(id);
  expect(runs).toHaveLength(9);
  expect(new Set(runs.map(({ status }: { status: string }) => status))).toEqual(new Set(['completed']));
});

test('alerts, approvals and missed schedules are triggers as well', async () => {
  const listener = await createTriggered(on(['alert.raised', 'approval.requested', 'schedule.missed']));
  const asking = await createTriggered('manual', { approvals: { required: true } });
  await emit(alertRaised, { alertId: 'alrt_1', type: 'run.failed', runId: 'run_1', subjectId: 'auto-1', depth: 2 });
  const alarmed = await waitForFirstRun(listener);
  expect((await getInput(alarmed.id)).event).toMatchObject({
    type: 'alert.raised',
    alert_id: 'alrt_1',
    raised_for: 'run.failed',
    run_id: 'run_1',
    automation_id: 'auto-1',
    worker_id: null,
  });
  const { run_id } = (await me.post(`/api/workers/${asking}/runs`, { inputs: {} }).expect(201)).body;
  const approval = await waitUntil(async () => {
    const [newest, ...rest] = await listRuns(listener);
    return rest.length === 1 && newest;
  });
  expect((await getInput(approval.id)).event).toMatchObject({ type: 'approval.requested', run_id, worker_id: asking });
  const { rows } = await api.deps.pool.query('SELECT uid FROM workers WHERE id = $1', [asking]);
  await emit(scheduleMissed, { workerUid: rows[0].uid, workerId: asking, missed: 3, since: 0, startedLate: 1 });
  const missed = await waitUntil(async () => {
    const [newest, ...rest] = await listRuns(listener);
    return rest.length === 2 && newest;
  });
  expect((await getInput(missed.id)).event).toMatchObject({
    type: 'schedule.missed',
    worker_id: asking,
    missed: 3,
    started_late: 1,
    since: '1970-01-01T00:00:00.000Z',
  });
});

test('events of a private worker reach only private ones of the same owner', async () => {
  const member = await api.addMember('member');
  const theirs = createCaller(api.url, member.jwt);
  const source = await createTriggered('manual', { visibility: 'private' }, theirs);
  const shared = await createTriggered(on(['run.completed'], source), {}, theirs);
  const own = await createTriggered(on(['run.completed'], source), { visibility: 'private' }, theirs);
  const foreign = await createTriggered(on(['run.completed'], source), { visibility: 'private' });
  await runEnds(source, 'completed');
  await waitForFirstRun(own, theirs);
  await allHeard();
  expect(await listRuns(shared, theirs)).toEqual([]);
  expect(await listRuns(foreign)).toEqual([]);
});

test('paused workers receive no events, and a run that cannot start is a failed one beside the others', async () => {
  const source = 'auto-mixed';
  const paused = await createTriggered(on(['run.completed'], source));
  await me.post(`/api/workers/${paused}/pause`).expect(200);
  const picky = await createTriggered(on(['run.completed'], source), { inputs: ['colour'] });
  const fine = await createTriggered(on(['run.completed'], source));
  await publishFinished({ subjectId: source });
  await waitForFirstRun(fine);
  expect(await waitForFirstRun(picky)).toMatchObject({
    status: 'failed',
    trigger: 'event',
    error_code: 'invalid_inputs',
  });
  expect(await listRuns(paused)).toEqual([]);
});
