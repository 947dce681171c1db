import type { RunError } from '@gantry/events';
import { type FakeExecutor, type FakeJob, waitUntil, zeroUsage } from '@gantry/testing';
import type { RetryPolicy, Run } from '../run';
import { buildTestRun, startTestEngines, type TestEngines } from '../test/engines';
import { buildSleep, startCallingReplica } from '../test/suspensions';

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const fastRetry: RetryPolicy = { max: 2, backoffMs: 20, factor: 2, backoffMsMax: 1_000 };
const failure: RunError = { code: 'exception', message: 'it broke', type: 'ValueError' };
const reportFailure = (job: FakeJob, error: RunError = failure, usage = zeroUsage) =>
  job.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage });

test('a failed run is retried with its recorded steps, and usage adds up', async () => {
  const engine = await startCallingReplica(engines, { computeCostUsd: ({ cpuMs }) => cpuMs * 0.5 });
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun({ retry: fastRetry, subjectRef: 'my-worker', depth: 3 }));
  const usage = { wallMs: 10, cpuMs: 10, maxRssBytes: 100, costUsd: 1 };
  const first = await executor.claimJob();
  await first.step(1, 'charge', 'paid');
  await reportFailure(first, failure, usage);
  const second = await executor.claimJob();
  const steps = [{ ordinal: 1, kind: 'step', name: 'charge', result: 'paid' }];
  expect(second).toMatchObject({ runId: run.id, attempt: 2, tryNumber: 2, steps });
  await second.report(
    { type: 'started' },
    { type: 'finished', status: 'suspended', suspension: buildSleep(2, 0), usage },
  );
  const third = await executor.claimJob();
  expect(third).toMatchObject({ attempt: 3, tryNumber: 2 });
  const error = { code: 'timeout', message: 'too long' } as const;
  const less = { ...usage, maxRssBytes: 50 };
  await third.report({ type: 'started' }, { type: 'finished', status: 'timed_out', error, usage: less });
  await reportFailure(await executor.claimJob(), failure, usage);
  const ended = await engine.waitForEnd(run, 5_000);
  expect(ended).toMatchObject({ status: 'failed', tries: 3, costUsd: 24, cpuMs: 40, maxRssBytes: 100, error: failure });
  const { rows } = await engines.pool.query('SELECT data FROM outbox');
  expect(rows.map(({ data }) => data)).toMatchObject([
    { status: 'failed', errorCode: 'exception', costUsd: 24, subjectRef: 'my-worker', trigger: 'api', depth: 3 },
  ]);
});

test('the stream reports time and reason of a retry; the backoff grows up to its maximum', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const waits: number[] = [];
  const run = await engine.submitAndWait(
    buildTestRun({ retry: { max: 3, backoffMs: 100_000, factor: 3, backoffMsMax: 500_000 } }),
  );
  for (let n = 1; n <= 3; n++) {
    await reportFailure(await executor.claimJob());
    const waiting = await waitUntil(async () => {
      const now = await engine.get('ws_a', run.id);
      return now.status === 'suspended' && now;
    });
    expect(waiting).toMatchObject({ suspension: { kind: 'retry', error: failure }, error: null, finishedAt: null });
    const { rows } = await engines.pool.query(
      `SELECT data FROM run_events WHERE run_id = $1 AND type = 'status' ORDER BY seq DESC LIMIT 1`,
      [run.id],
    );
    const until_ = waiting.wakeAt?.toISOString();
    expect(rows[0].data).toMatchObject({
      status: 'queued',
      error: failure,
      retry_at: until_,
      waiting_for: { until: until_ },
    });
    waits.push(Math.round(((waiting.wakeAt?.getTime() ?? 0) - Date.now()) / 10_000) * 10_000);
    await engines.tx((tx) => engine.resumeInTransaction(tx, run.id, { from: 'suspended' }));
  }
  expect(waits).toEqual([100_000, 300_000, 500_000]);
});

test.each([
  { code: 'missing_secret', message: 'KEY is not set' },
  { code: 'exception', message: 'step 1 is another', type: 'CodeChanged' },
] as const)('an error that a retry cannot fix is final: %j', async (error) => {
  const engine = await startCallingReplica(engines);
  const run = await engine.submitAndWait(buildTestRun({ retry: fastRetry }));
  await reportFailure(await (await engines.executor()).claimJob(), error);
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'failed', error, tries: 1 });
});

test('a failure that is reported twice uses up one retry', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun({ retry: { ...fastRetry, max: 1 } }));
  const job = await executor.claimJob();
  await reportFailure(job);
  await job.report({ type: 'finished', status: 'failed', error: failure, usage: zeroUsage });
  const second = await executor.claimJob();
  await job.report({ type: 'finished', status: 'failed', error: failure, usage: zeroUsage });
  await second.complete('well');
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'completed', tries: 2, attempt: 2 });
});

test('a run whose executor was lost is retried like a failed one, with its recorded steps', async () => {
  const engine = await startCallingReplica(engines, { leaseMs: 800 });
  const [lost, other] = [await engines.executor(), await engines.executor()];
  const run = await engine.submitAndWait(buildTestRun({ retry: { ...fastRetry, max: 1 } }));
  const job = await lost.claimJob();
  await job.report({ type: 'started' });
  await job.step(1, 'charge', 'paid');
  const second = await other.claimJob();
  expect(second).toMatchObject({ runId: run.id, attempt: 2, tryNumber: 2, steps: [{ result: 'paid' }] });
  // The first executor is still alive, and can no longer record.
  await expect(job.step(2, 'ship', 'sent')).rejects.toThrow('not held');
  expect(await second.step(2, 'ship', 'sent again')).toBe('sent again');
  await second.complete('well');
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'completed', output: 'well' });
});

test('cancelling ends the wait for a retry', async () => {
  const engine = await startCallingReplica(engines);
  const run = await engine.submitAndWait(
    buildTestRun({ retry: { ...fastRetry, backoffMs: 60_000, backoffMsMax: 60_000 } }),
  );
  await reportFailure(await (await engines.executor()).claimJob());
  await waitUntil(async () => (await engine.get('ws_a', run.id)).status === 'suspended');
  expect(await engine.cancel('ws_a', run.id)).toMatchObject({ status: 'cancelled', wakeAt: null, suspension: null });
  expect(await engine.counts('ws_a')).toMatchObject({ suspended: 0 });
});

describe('the record of a step', () => {
  async function startRunning(): Promise<{ run: Run; job: FakeJob; executor: FakeExecutor }> {
    const engine = await startCallingReplica(engines);
    const executor = await engines.executor();
    const run = await engine.submitAndWait(buildTestRun());
    return { run, job: await executor.claimJob(), executor };
  }

  test('keeps its first value, however often it is recorded again', async () => {
    const { job } = await startRunning();
    const all = await Promise.all(Array.from({ length: 10 }, (_, n) => job.step(1, 'charge', { n, nul: '\u0000' })));
    expect(new Set(all.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(await job.step(1, 'charge', 'later')).toEqual(all[0]);
  });

  test("is refused if it conflicts, is too large, or is not the code's to record", async () => {
    const { job, executor } = await startRunning();
    await job.step(1, 'charge', 1);
    await expect(job.step(1, 'refund', 1)).rejects.toThrow('step 1 is recorded as step "charge"');
    await expect(job.step(1_001, 'one more', 1)).rejects.toThrow('1000 steps');
    await expect(job.step(2, 'large', 'x'.repeat(70_000))).rejects.toThrow('64 KB');
    await expect(job.step(2, 'approve', true, { kind: 'approve' })).rejects.toThrow('do not record steps of kind');
    await expect(job.step(2, 'x', 1, { attempt: 7 })).rejects.toThrow('not held');
    await expect(job.step(2, 'x', 1, { token: 'of another executor' })).rejects.toThrow('not held');
    await job.complete(executor.id);
    await waitUntil(async () =>
      job.step(2, 'x', 1).then(
        () => false,
        (err) => /not held/.test(err.message),
      ),
    );
  });

  test('travels by object store if the job would be too large', async () => {
    const { job, executor, run } = await startRunning();
    for (let n = 1; n <= 3; n++) await job.step(n, `step ${n}`, 'x'.repeat(20_000));
    await job.suspend(buildSleep(4, 0));
    const second = await executor.claimJob();
    expect(second.steps).toBeUndefined();
    expect(second.stepsUrl).toBe(`http://objects/ws_a/runs/${run.id}/steps.json`);
    const stored = JSON.parse(engines.blobs.get(`ws_a/runs/${run.id}/steps.json`)?.toString() ?? '[]');
    expect(stored.map(({ name }: { name: string }) => name)).toEqual(['step 1', 'step 2', 'step 3', 'sleep']);
  });
});
