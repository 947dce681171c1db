import { waitUntil } from '@gantry/testing';
import type { Run } from '../run';
import { buildTestRun, startTestEngines, submitInTurn, type TestEngines } from '../test/engines';
import { buildSleep, startCallingReplica } from '../test/suspensions';

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

test('of runs with one slot, one runs at a time, and they block no other run', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const slot = { key: 'wrk_1', limit: 1 };
  const runs: Run[] = [];
  for (let n = 0; n < 30; n++) runs.push(await submitInTurn(engine, buildTestRun({ slot, priority: 5 })));
  const other = await engine.submitAndWait(buildTestRun());
  const elsewhere = await engine.submitAndWait(buildTestRun({ slot: { key: 'wrk_2', limit: 1 } }));
  const jobs = [await executor.claimJob(), await executor.claimJob(), await executor.claimJob()];
  expect(jobs.map(({ runId }) => runId).sort()).toEqual([runs[0]?.id, other.id, elsewhere.id].sort());
  const waiting = executor.claim();
  await jobs.find(({ runId }) => runId === runs[0]?.id)?.complete(1);
  expect((await waiting)?.runId).toBe(runs[1]?.id);
});

test('a slot is free while its run waits', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const slot = { key: 'wrk_1', limit: 1 };
  const [one, two] = [
    await submitInTurn(engine, buildTestRun({ slot })),
    await engine.submitAndWait(buildTestRun({ slot })),
  ];
  const first = await executor.claimJob();
  expect(first.runId).toBe(one.id);
  const waiting = executor.claim();
  await first.suspend(buildSleep(1, 60_000));
  expect((await waiting)?.runId).toBe(two.id);
});

test('many replicas and executors at once never exceed the limit', async () => {
  const replicas = [await startCallingReplica(engines), await startCallingReplica(engines)];
  const executors = await Promise.all(Array.from({ length: 3 }, () => engines.executor()));
  const slot = { key: 'wrk_1', limit: 3 };
  let most = 0;
  let completed = 0;
  const watch = setInterval(async () => {
    const { rows } = await engines.pool.query(
      `SELECT count(*)::int AS n FROM runs WHERE status = 'running' AND slot_key = 'wrk_1'`,
    );
    most = Math.max(most, rows[0].n);
  }, 5);
  const stops = executors.map((executor) =>
    executor.serve(4, async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      completed++;
    }),
  );
  const runs = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      (replicas[n % 2] ?? replicas[0])?.submitAndWait(buildTestRun(n % 4 ? { slot } : {})),
    ),
  );
  await waitUntil(() => completed === runs.length);
  clearInterval(watch);
  for (const stop of stops) await stop();
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(3);
});

test('priority and fairness between workspaces hold with and without slots', async () => {
  const engine = await startCallingReplica(engines);
  const slot = { key: 'wrk_1', limit: 50 };
  for (let n = 0; n < 20; n++)
    await engine.submitAndWait(buildTestRun({ workspaceId: 'ws_busy', ...(n % 2 && { slot }) }));
  const urgent = await engine.submitAndWait(buildTestRun({ workspaceId: 'ws_busy', slot, priority: 9 }));
  const small = await engine.submitAndWait(buildTestRun({ workspaceId: 'ws_small', slot: { key: 'wrk_9', limit: 1 } }));
  const executor = await engines.executor();
  const firstTwo = [(await executor.claimJob()).runId, (await executor.claimJob()).runId];
  expect(firstTwo.sort()).toEqual([urgent.id, small.id].sort());
});
