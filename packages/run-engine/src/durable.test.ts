import { newId, type RunError, type Suspension } from '@gantry/events';
import { type FakeJob, until } from '@gantry/testing';
import type { RunEngine } from './engine';
import type { Run } from './run';
import type { OnSuspended } from './suspend-run';
import { aRun, startTestEngines, type TestEngines } from './test/engines';

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const failure: RunError = { code: 'exception', message: 'it broke', type: 'ValueError' };
const sleep = (ordinal: number, ms: number): Suspension => ({
  kind: 'sleep',
  step: { ordinal, kind: 'sleep', name: 'sleep' },
  wakeAt: Date.now() + ms,
});
const approve = (ordinal: number): Suspension => ({
  kind: 'approve',
  step: { ordinal, kind: 'approve', name: 'Publish?' },
  ...{ title: 'Publish?', message: null, data: { n: 1 }, form: null, expiresInSeconds: null },
});
const call = (ordinal: number): Suspension => ({
  kind: 'call',
  step: { ordinal, kind: 'call', name: 'child' },
  workerId: 'child',
  inputs: {},
});

/** Approvals are ids; called runs are submitted in the same transaction, by the engine that is set later. */
function awaited(): OnSuspended & { engine?: RunEngine } {
  const made: OnSuspended & { engine?: RunEngine } = async (tx, run, suspension) => {
    if (suspension.kind === 'approve') return { ref: newId('apr_') };
    const child = await made.engine?.submitIn(tx, aRun({ parentRunId: run.id, depth: run.depth + 1 }));
    return { ref: child?.id ?? '' };
  };
  return made;
}

async function callingReplica(options: Parameters<TestEngines['replica']>[0] = {}): Promise<RunEngine> {
  const onSuspended = awaited();
  const engine = await engines.replica({ onSuspended, ...options });
  onSuspended.engine = engine;
  return engine;
}

async function claimed(executor: { claim: () => Promise<FakeJob | null> }): Promise<FakeJob> {
  return until(() => executor.claim(), { deadlineMs: 10_000 });
}

const inStatus = (engine: RunEngine, run: Run, status: Run['status']) =>
  until(async () => {
    const now = await engine.get(run.workspaceId, run.id);
    return now.status === status && now;
  });

const eventsOf = async (run: Run) =>
  (
    await engines.pool.query('SELECT seq::float8 AS seq, type, data FROM run_events WHERE run_id = $1 ORDER BY seq', [
      run.id,
    ])
  ).rows;

test('a run sleeps without an executor, and goes on with what it has recorded', async () => {
  const engine = await callingReplica();
  const executor = await engines.executor();
  const run = await engine.submit(aRun());
  const first = await claimed(executor);
  expect(await first.step(1, 'charge', { id: 7 })).toEqual({ id: 7 });
  await first.suspend(sleep(2, 300));
  const asleep = await inStatus(engine, run, 'suspended');
  expect(asleep).toMatchObject({ suspension: { kind: 'sleep', step: { ordinal: 2 } }, wakeAt: expect.any(Date) });
  const second = await claimed(executor);
  expect(second).toMatchObject({
    runId: run.id,
    attempt: 2,
    steps: [
      { ordinal: 1, kind: 'step', name: 'charge', result: { id: 7 } },
      { ordinal: 2, kind: 'sleep', name: 'sleep', result: null },
    ],
  });
  expect(second.tryNumber ?? 1).toBe(1);
  await second.complete('done');
  const ended = await engine.waitForEnd(run, 5_000);
  expect(ended).toMatchObject({ status: 'completed', output: 'done', tries: 1, suspension: null, wakeAt: null });
  expect((await eventsOf(run)).map(({ type, data }) => data.status ?? type)).toEqual([
    'running',
    'queued',
    'step',
    'queued',
    'running',
    'output',
    'completed',
  ]);
});

test('a run waits for approval and goes on with the answer', async () => {
  const engine = await callingReplica();
  const executor = await engines.executor();
  const run = await engine.submit(aRun());
  await (await claimed(executor)).suspend(approve(1));
  await inStatus(engine, run, 'pending_approval');
  const [step] = await engine.steps(run);
  expect(step).toMatchObject({ status: 'pending', ref: expect.stringMatching(/^apr_/) });
  const result = { approved_by: 'Ada', data: null };
  const resumed = await engines.tx((tx) =>
    engine.resumeIn(tx, run.id, { from: 'pending_approval', step: { ordinal: 1, result } }),
  );
  expect(resumed?.status).toBe('queued');
  engine.hint(run);
  const job = await claimed(executor);
  expect(job.steps).toEqual([{ ordinal: 1, kind: 'approve', name: 'Publish?', result }]);
  await job.complete(1);
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'completed' });
});

test('a run that calls another gets its output when that ends', async () => {
  const engine = await callingReplica();
  const executor = await engines.executor();
  const parent = await engine.submit(aRun());
  await (await claimed(executor)).suspend(call(1));
  const child = await claimed(executor);
  expect((await engine.get('ws_a', parent.id)).suspension).toMatchObject({ kind: 'call', runId: child.runId });
  await child.complete({ n: 5 });
  const again = await claimed(executor);
  expect(again.runId).toBe(parent.id);
  expect(again.steps?.[0]?.result).toEqual({ status: 'completed', output: { n: 5 }, error: null });
  await again.complete(6);
  expect(await engine.waitForEnd(parent, 5_000)).toMatchObject({ status: 'completed', output: 6 });
});

test('a failed run is tried again after a while, and what it used adds up', async () => {
  const engine = await callingReplica({ computeCostUsd: ({ cpuMs }) => cpuMs * 0.5 });
  const executor = await engines.executor();
  const run = await engine.submit(aRun({ retry: { max: 1, backoffMs: 50, factor: 2, backoffMsMax: 1_000 } }));
  const usage = { wallMs: 10, cpuMs: 10, maxRssBytes: 100, costUsd: 1 };
  const first = await claimed(executor);
  await first.report({ type: 'started' }, { type: 'finished', status: 'failed', error: failure, usage });
  const second = await claimed(executor);
  expect(second).toMatchObject({ runId: run.id, attempt: 2, tryNumber: 2 });
  await second.report(
    { type: 'started' },
    {
      type: 'finished',
      status: 'timed_out',
      error: { ...failure, code: 'timeout' },
      usage: { ...usage, maxRssBytes: 50 },
    },
  );
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({
    ...{ status: 'timed_out', tries: 2, costUsd: 12, cpuMs: 20, maxRssBytes: 100 },
  });
  const { rows } = await engines.pool.query('SELECT data FROM outbox');
  expect(rows.map(({ data }) => data)).toMatchObject([{ status: 'timed_out', errorCode: 'timeout', costUsd: 12 }]);
});

test('of runs with one slot, one runs at a time, and they hide nobody', async () => {
  const engine = await callingReplica();
  const executor = await engines.executor();
  const slot = { key: 'wrk_1', limit: 1 };
  const [one, two] = [await engine.submit(aRun({ slot })), await engine.submit(aRun({ slot }))];
  const other = await engine.submit(aRun());
  const [a, b] = [await claimed(executor), await claimed(executor)];
  expect([a.runId, b.runId]).toEqual([one.id, other.id]);
  const waiting = executor.claim();
  await a.complete(1);
  expect((await waiting)?.runId).toBe(two.id);
});

test('a held run is not handed out until somebody lets it go', async () => {
  const engine = await callingReplica();
  const executor = await engines.executor();
  const run = await engine.submit(aRun({ held: true }));
  expect(run.status).toBe('pending_approval');
  const other = await engine.submit(aRun());
  expect((await claimed(executor)).runId).toBe(other.id);
  await engines.tx((tx) => engine.resumeIn(tx, run.id, { from: 'pending_approval' }));
  engine.hint(run);
  expect(await claimed(executor)).toMatchObject({ runId: run.id, attempt: 1 });
});

test('ending a run that waits says so everywhere, and takes along what it has called', async () => {
  const engine = await callingReplica();
  const executor = await engines.executor();
  const parent = await engine.submit(aRun());
  await (await claimed(executor)).suspend(call(1));
  const suspended = await inStatus(engine, parent, 'suspended');
  const [child] = await engine.list('ws_a', { limit: 1, parentRunId: parent.id });
  const waited = engine.waitForEnd(child as Run, 5_000);
  const ended = await engines.tx((tx) =>
    engine.endIn(tx, suspended, { status: 'rejected', error: { code: 'approval_rejected', message: 'no' } }),
  );
  engine.announce(ended as Run);
  expect(ended?.status).toBe('rejected');
  expect(await waited).toMatchObject({ status: 'cancelled' });
});
