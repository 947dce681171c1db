/** Tests that runs go to executors with their runner. Most have only `python`, and older ones do not report it. */
import { PYTHON } from '@gantry/events';
import { type FakeExecutor, waitUntil } from '@gantry/testing';
import type { RunEngine } from '../engine';
import type { NewRun, Run } from '../run';
import { buildTestRun, startTestEngines, submitInTurn, type TestEngines } from '../test/engines';
import { startCallingReplica } from '../test/suspensions';

const OTHER = 'other';
const buildOtherRun = (over: Partial<NewRun> = {}) =>
  buildTestRun({ ...over, spec: { ...buildTestRun().spec, runner: OTHER } });

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const listStatuses = async (...runs: Run[]): Promise<string[]> => {
  const { rows } = await engines.pool.query('SELECT DISTINCT status FROM runs WHERE id = ANY($1)', [
    runs.map(({ id }) => id),
  ]);
  return rows.map(({ status }) => status);
};

const slotted = { slot: { key: 'wrk_1', limit: 50 } };

describe.each([
  ['reports python', [PYTHON]],
  ['reports no runners', undefined],
])('an executor that %s', (_what, runners) => {
  test.each([
    ['without a slot', {}],
    ['with a slot', slotted],
  ])('gets its own runs despite any number of queued ones of another runner, %s', async (_which, over) => {
    const engine = await startCallingReplica(engines);
    const executor = await engines.executor(runners);
    const others: Run[] = [];
    for (let n = 0; n < 20; n++) others.push(await engine.submitAndWait(buildOtherRun({ ...over, priority: 9 })));
    const own = [await engine.submitAndWait(buildTestRun()), await engine.submitAndWait(buildTestRun(slotted))];
    const jobs = [await executor.claimJob(), await executor.claimJob()];
    expect(jobs.map(({ runId }) => runId).sort()).toEqual(own.map(({ id }) => id).sort());
    expect(jobs.map(({ runner }) => runner)).toEqual([PYTHON, PYTHON]);
    expect(await listStatuses(...others)).toEqual(['queued']);
  });

  test.each([
    ['without a slot', {}],
    ['with a slot', slotted],
  ])('waits for its own runs while others are submitted, %s, and is handed them at once', async (_which, over) => {
    const engine = await engines.replica();
    const executor = await engines.executor(runners);
    await waitForEmptyQueue(engine, executor);
    for (let n = 0; n < 5; n++) {
      const waiting = executor.claim();
      await waitForClaims(executor);
      const other = await engine.submitAndWait(buildOtherRun(over));
      const own = await engine.submitAndWait(buildTestRun());
      expect([other.status, own.status]).toEqual(['queued', 'running']);
      const job = await waiting;
      expect(job?.runId).toBe(own.id);
      await job?.complete(n);
      await engine.waitForEnd(own, 5_000);
    }
  });
});

test('a run waits for an executor that has its runner', async () => {
  const engine = await engines.replica();
  const others = [await engine.submitAndWait(buildOtherRun()), await engine.submitAndWait(buildOtherRun(slotted))];
  await waitForEmptyQueue(engine, await engines.executor([PYTHON]));
  expect(await listStatuses(...others)).toEqual(['queued']);
  const both = await engines.executor([OTHER, PYTHON]);
  const jobs = [await both.claimJob(), await both.claimJob()];
  expect(jobs.map(({ runId }) => runId).sort()).toEqual(others.map(({ id }) => id).sort());
  expect(jobs.map(({ runner }) => runner)).toEqual([OTHER, OTHER]);
});

test('a waiting executor with both runners is handed a run of either at once', async () => {
  const engine = await engines.replica();
  const executor = await engines.executor([OTHER, PYTHON]);
  await waitForEmptyQueue(engine, executor);
  for (const run of [buildOtherRun(), buildTestRun(), buildOtherRun()]) {
    const waiting = executor.claim();
    await waitForClaims(executor);
    const submitted = await engine.submitAndWait(run);
    expect(submitted.status).toBe('running');
    const job = await waiting;
    expect(job).toMatchObject({ runId: submitted.id, runner: run.spec.runner });
    await job?.complete(1);
    await engine.waitForEnd(submitted, 5_000);
  }
});

test('runs of two runners with one key share its slots', async () => {
  const engine = await startCallingReplica(engines);
  const slot = { key: 'wrk_1', limit: 1 };
  const runs = [
    await submitInTurn(engine, buildOtherRun({ slot })),
    await engine.submitAndWait(buildTestRun({ slot })),
  ];
  const free = await engine.submitAndWait(buildTestRun());
  const executor = await engines.executor([OTHER, PYTHON]);
  const jobs = [await executor.claimJob(), await executor.claimJob()];
  expect(jobs.map(({ runId }) => runId).sort()).toEqual([runs[0]?.id, free.id].sort());
  const waiting = executor.claim();
  await jobs.find(({ runId }) => runId === runs[0]?.id)?.complete(1);
  expect((await waiting)?.runId).toBe(runs[1]?.id);
});

/** Waits until the replica has this executor's claims: it receives an executor's requests in order. */
const waitForClaims = (executor: FakeExecutor) => executor.renew();

/** Waits until the replica knows the queue as empty: runs that are submitted now need not be queued first. */
async function waitForEmptyQueue(engine: RunEngine, executor: FakeExecutor): Promise<void> {
  await waitUntil(async () => {
    const waiting = executor.claim();
    await waitForClaims(executor);
    const run = await engine.submitAndWait(buildTestRun());
    await (await waiting)?.complete('warm');
    await engine.waitForEnd(run, 5_000);
    return run.status === 'running';
  });
}
