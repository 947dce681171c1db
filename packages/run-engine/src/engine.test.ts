import { AppError } from '@gantry/errors';
import { encode, runSubjects } from '@gantry/events';
import { createFakeExecutor, terminateConnections, waitUntil, zeroUsage } from '@gantry/testing';
import { createRunTokens } from './run-tokens';
import { buildTestRun, startTestEngines, submitInTurn, type TestEngines, tokenKeys } from './test/engines';

const LEASE_MS = 800;

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines('automation');
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const startReplica = (options: Parameters<TestEngines['replica']>[0] = {}) =>
  engines.replica({ leaseMs: LEASE_MS, ...options });

const getStatus = async (id: string) =>
  (await engines.pool.query('SELECT status FROM runs WHERE id = $1', [id])).rows[0]?.status;
const listOutboxEvents = async () =>
  (await engines.pool.query("SELECT data ->> 'runId' AS id, data ->> 'status' AS status FROM outbox")).rows;

test('a run goes straight to a waiting executor', async () => {
  const engine = await startReplica();
  const stop = (await engines.executor()).serve(1, () => 'done');
  const run = await waitUntil(
    async () => {
      const submitted = await engine.submitAndWait(buildTestRun());
      if (submitted.status === 'running') return submitted;
      // The run came before the executor waited. A moment after its end the executor waits again.
      await engine.waitForEnd(submitted, 5_000);
      return false;
    },
    { everyMs: 250 },
  );
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'completed', attempt: 1 });
  await stop();
});

test('output and logs are returned unchanged, including NUL, and the end is published once', async () => {
  const engine = await startReplica();
  const claimed = (await engines.executor()).claim();
  const ended = engine.submitAndWait(buildTestRun(), 5_000);
  const job = await claimed;
  expect(job).toMatchObject({ attempt: 1, inputs: { n: 1 }, code: { url: 'http://objects/code/a' } });
  await job?.report({ type: 'started' });
  await job?.report(
    { type: 'log', stream: 'stdout', level: 'info', text: 'hello\u0000' },
    { type: 'finished', status: 'completed', output: { sum: 2, nul: '\u0000' }, usage: zeroUsage },
  );
  const run = await ended;
  expect(run).toMatchObject({ status: 'completed', output: { sum: 2, nul: '\u0000' } });
  expect(await engine.getLogsText(run)).toBe('hello\u0000\n');
  expect(await listOutboxEvents()).toEqual([{ id: run.id, status: 'completed' }]);
});

test('a queued run waits for an executor, in order of priority and then of age', async () => {
  const engine = await startReplica();
  const first = await submitInTurn(engine, buildTestRun());
  const second = await submitInTurn(engine, buildTestRun());
  const urgent = await engine.submitAndWait(buildTestRun({ priority: 5 }));
  const exec = await engines.executor();
  const order = [];
  for (let i = 0; i < 3; i++) order.push((await exec.claim())?.runId);
  expect(order).toEqual([urgent.id, first.id, second.id]);
});

const HOUR_MS = 3_600_000;

/** Shifts the clock of this process. @returns a function that restores it */
function shiftClock(byMs: number): () => void {
  const RealDate = Date;
  class ShiftedDate extends RealDate {
    constructor(...args: [] | [string | number | Date]) {
      super(args.length ? args[0] : ShiftedDate.now());
    }
    static override now = () => RealDate.now() + byMs;
    static override [Symbol.hasInstance](value: unknown): boolean {
      return value instanceof RealDate;
    }
  }
  globalThis.Date = ShiftedDate as DateConstructor;
  return () => {
    globalThis.Date = RealDate;
  };
}

test.each([
  ['an hour ahead', HOUR_MS],
  ['an hour behind', -HOUR_MS],
])('a run that is queued by a service whose clock is %s is handed out at once and in order', async (_what, byMs) => {
  const engine = await startReplica();
  const before = await submitInTurn(engine, buildTestRun());
  const restoreClock = shiftClock(byMs);
  const shifted = await submitInTurn(engine, buildTestRun()).finally(restoreClock);
  expect(Math.abs(shifted.createdAt.getTime() - before.createdAt.getTime())).toBeGreaterThan(HOUR_MS / 2);
  const after = await engine.submitAndWait(buildTestRun());
  const exec = await engines.executor();
  const order = [];
  for (let i = 0; i < 3; i++) order.push((await exec.claim())?.runId);
  expect(order).toEqual([before.id, shifted.id, after.id]);
});

test('a workspace with many queued runs does not delay another', async () => {
  const engine = await startReplica();
  for (let i = 0; i < 30; i++) await engine.submitAndWait(buildTestRun({ workspaceId: 'ws_busy' }));
  const small = await engine.submitAndWait(buildTestRun({ workspaceId: 'ws_small' }));
  const exec = await engines.executor();
  const firstTwo = [(await exec.claim())?.runId, (await exec.claim())?.runId];
  expect(firstTwo).toContain(small.id);
});

test('a repeated report, or one of an earlier attempt, changes nothing', async () => {
  const engine = await startReplica();
  const run = await engine.submitAndWait(buildTestRun());
  const exec = await engines.executor();
  const job = await exec.claim();
  await job?.complete('first');
  await engine.waitForEnd(run, 5_000);
  const subject = runSubjects.events('automation', exec.id, run.id);
  const tokens = createRunTokens('automation', tokenKeys);
  for (const attempt of [1, 7]) {
    const token = tokens.issue({ runId: run.id, attempt, executorId: exec.id });
    const end = { type: 'finished', status: 'completed', output: 'second', usage: zeroUsage };
    await exec.bus.js.publish(subject, encode({ attempt, token, events: [{ seq: 2, at: Date.now(), ...end }] }));
  }
  const later = await engine.submitAndWait(buildTestRun());
  await (await exec.claim())?.complete('later');
  await engine.waitForEnd(later, 5_000);
  expect(await engine.get('ws_a', run.id)).toMatchObject({ output: 'first' });
  expect((await listOutboxEvents()).filter(({ id }) => id === run.id)).toHaveLength(1);
});

test('a run that its executor never started is requeued; a started one ends as executor_lost', async () => {
  const engine = await startReplica();
  const [untouched, begun] = [await engine.submitAndWait(buildTestRun()), await engine.submitAndWait(buildTestRun())];
  const lost = await engines.executor();
  await lost.claim();
  await (await lost.claim())?.report({ type: 'started' });
  expect(await engine.waitForEnd(begun, 10_000)).toMatchObject({ status: 'failed', error: { code: 'executor_lost' } });
  const job = await (await engines.executor()).claim();
  expect(job).toMatchObject({ runId: untouched.id, attempt: 2 });
  await job?.complete('second try');
  expect(await engine.waitForEnd(untouched, 5_000)).toMatchObject({ status: 'completed', attempt: 2 });
});

test('a renewed lease is kept, and a run that no longer belongs to the executor is reported as lost', async () => {
  const engine = await startReplica();
  const run = await engine.submitAndWait(buildTestRun());
  const exec = await engines.executor();
  const job = await exec.claim();
  if (!job) throw new Error('no job');
  await job.report({ type: 'started' });
  const deadline = Date.now() + 3 * LEASE_MS;
  await waitUntil(async () => (await exec.renew(job)).lost.length > 0 || Date.now() > deadline, { everyMs: 150 });
  expect(await getStatus(run.id)).toBe('running');
  await job.report({
    type: 'finished',
    status: 'failed',
    error: { code: 'exception', message: 'x' },
    usage: zeroUsage,
  });
  await engine.waitForEnd(run, 5_000);
  expect(await exec.renew(job)).toEqual({ cancelled: [], lost: [run.id] });
});

test('cancelling ends a queued run at once and notifies the executor of a running one', async () => {
  const engine = await startReplica();
  const queued = await engine.submitAndWait(buildTestRun());
  expect(await engine.cancel('ws_a', queued.id)).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
  await expect(engine.cancel('ws_a', queued.id)).rejects.toMatchObject({ kind: 'conflict' });

  const running = await engine.submitAndWait(buildTestRun());
  const bus = await engines.connect('executor');
  const exec = createFakeExecutor(bus, 'automation');
  const job = await exec.claim();
  const cancelReceived = new Promise((resolve) =>
    bus.nc.subscribe(runSubjects.cancel(exec.id, running.id), { callback: resolve }),
  );
  await bus.nc.flush();
  await engine.cancel('ws_a', running.id);
  await cancelReceived;
  if (!job) throw new Error('no job');
  expect(await exec.renew(job)).toEqual({ cancelled: [running.id], lost: [] });
  await job.report({ type: 'finished', status: 'cancelled', usage: zeroUsage });
  expect(await engine.waitForEnd(running, 5_000)).toMatchObject({ status: 'cancelled' });
});

test('a run whose secret is not set fails with its name, without reaching an executor', async () => {
  const engine = await startReplica({ givenTo: async () => ({ secrets: { SET: 'value-1' } }) });
  const exec = await engines.executor();
  const missing = buildTestRun();
  missing.spec = { ...missing.spec, secrets: ['SET', 'UNSET'] };
  const run = await engine.submitAndWait(missing);
  const good = buildTestRun();
  good.spec = { ...good.spec, secrets: ['SET'] };
  await engine.submitAndWait(good);
  expect((await exec.claim())?.secrets).toEqual({ SET: 'value-1' });
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({
    status: 'failed',
    error: { code: 'missing_secret', message: expect.stringContaining('UNSET') },
  });
});

test('a run with more than 64 KB of secrets fails with their size, without reaching an executor', async () => {
  const values = { ONE: 'é'.repeat(16_384), TWO: 'x'.repeat(32_768) };
  const engine = await startReplica({
    givenTo: async (run) => ({ secrets: run.inputs.over ? { ...values, MORE: 'y' } : values }),
  });
  const exec = await engines.executor();
  const submit = (inputs: Record<string, unknown>, secrets: string[]) => {
    const baseRun = buildTestRun({ inputs });
    return engine.submitAndWait({ ...baseRun, spec: { ...baseRun.spec, secrets } });
  };
  const over = await submit({ over: true }, ['ONE', 'TWO', 'MORE']);
  await submit({}, ['ONE', 'TWO']);
  expect((await exec.claim())?.secrets).toEqual(values);
  expect(await engine.waitForEnd(over, 5_000)).toMatchObject({
    status: 'failed',
    error: {
      code: 'invalid_inputs',
      message: expect.stringMatching(
        /^the secrets of this run total 65537 bytes, but at most 65536 \(64 KB\) are allowed/,
      ),
    },
  });
});

test('a run that is returned unstarted is handed to the next executor', async () => {
  const engine = await startReplica();
  const run = await engine.submitAndWait(buildTestRun());
  const job = await (await engines.executor()).claim();
  await job?.report({ type: 'finished', status: 'returned', usage: zeroUsage });
  expect((await (await engines.executor()).claim())?.runId).toBe(run.id);
});

test('another workspace cannot see that a run exists', async () => {
  const engine = await startReplica();
  const run = await engine.submitAndWait(buildTestRun());
  await expect(engine.get('ws_b', run.id)).rejects.toThrow(AppError);
  await expect(engine.cancel('ws_b', run.id)).rejects.toMatchObject({ kind: 'not_found' });
  expect(await engine.list('ws_b', { limit: 10 })).toEqual([]);
});

test('one fire of a schedule creates one run, also if submitted twice', async () => {
  const engine = await startReplica();
  const scheduledFor = new Date('2026-01-01T00:00:00Z');
  const tx = await engines.pool.connect();
  try {
    const both = await Promise.all([
      engine.submitInTransaction(tx, buildTestRun({ scheduledFor })),
      engine.submitInTransaction(tx, buildTestRun({ scheduledFor })),
    ]);
    expect(both.filter(Boolean)).toHaveLength(1);
  } finally {
    tx.release();
  }
});

test('with two replicas, every waiter is notified, whichever replica stores the end', async () => {
  const [one, two] = [await startReplica(), await startReplica()];
  const exec = await engines.executor();
  const stop = exec.serve(4, (job) => job.inputs);
  const runs = await Promise.all(
    Array.from({ length: 40 }, (_, n) => (n % 2 ? one : two).submitAndWait(buildTestRun({ inputs: { n } }), 10_000)),
  );
  expect(runs.map(({ status, output }) => ({ status, output }))).toEqual(
    Array.from({ length: 40 }, (_, n) => ({ status: 'completed', output: { n } })),
  );
  expect(await listOutboxEvents()).toHaveLength(40);
  await stop();
});

test('nothing is lost or doubled when NATS is killed and PostgreSQL drops every connection in the middle', async () => {
  const engine = await startReplica({ relayed: true, leaseMs: 20_000 });
  const exec = await engines.executor();
  const jobs = [];
  const runs = [];
  for (let n = 0; n < 20; n++) runs.push(await engine.submitAndWait(buildTestRun({ inputs: { n } })));
  for (let n = 0; n < 20; n++) jobs.push(await exec.claim());
  await engines.nats.kill();
  const reported = Promise.all(jobs.map((job) => job?.complete(job.inputs)));
  await engines.nats.restart();
  await terminateConnections(engines.database);
  await reported;
  const ended = await Promise.all(runs.map((run) => engine.waitForEnd(run, 20_000)));
  expect(ended.map((run) => [run.status, run.output])).toEqual(runs.map((_, n) => ['completed', { n }]));
  await waitUntil(async () => (await listOutboxEvents()).length === 0);
});
