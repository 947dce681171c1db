/** Tests calls whose replica stops before they end. Tools themselves are tested in worker-api. */
import { request, runSubjects, toolReply } from '@gantry/events';
import { type FakeExecutor, type FakeJob, until } from '@gantry/testing';
import { aRun, claimed, startTestEngines, type TestEngines } from './test/engines';
import type { ToolOutcome } from './tool-steps';

let engines: TestEngines;
let executor: FakeExecutor;
let job: FakeJob;

beforeAll(async () => {
  engines = await startTestEngines();
});
afterAll(() => engines.stop());

/** Starts a replica where `search` is idempotent and `book` is not. */
const replica = (call: () => Promise<ToolOutcome>) =>
  engines.replica({
    tools: {
      of: async () => [],
      prepare: async (_, { tool }) => ({ isRepeatable: tool === 'search', isReadOnly: false, call }),
    },
  });

function ask(tool: string, ordinal: number) {
  const { runId, attempt, token } = job;
  const asked = { ordinal, connection: 'tracker', tool, arguments: {}, timeoutMs: 60_000 };
  const subject = runSubjects.tool('worker', executor.id);
  return request(executor.bus, subject, { runId, attempt, token, ...asked }, toolReply, 60_000);
}

const steps = async () =>
  (
    await engines.pool.query(
      `SELECT name, status, lost_calls AS "lostCalls", calling_until > now() AS "isBusy" FROM run_steps
       WHERE run_id = $1 ORDER BY ordinal`,
      [job.runId],
    )
  ).rows;

test('a stopping replica hands over idempotent calls, which do not count as lost', async () => {
  let release: (outcome: ToolOutcome) => void = () => {};
  const pending = new Promise<ToolOutcome>((resolve) => {
    release = resolve;
  });
  const leaving = await replica(() => pending);
  executor = await engines.executor();
  const run = await leaving.submitAndWait(aRun());
  job = await claimed(executor);
  await job.report({ type: 'started' });
  const statusOf = 'SELECT status FROM runs WHERE id = $1';
  await until(async () => (await engines.pool.query(statusOf, [run.id])).rows[0].status === 'running');

  for (const [at, tool] of ['search', 'book'].entries()) void ask(tool, at + 1).catch(() => {});
  await until(async () => (await steps()).length === 2);
  await leaving.drain();
  await leaving.stop();
  expect(await steps()).toEqual([
    { name: 'tracker.search', status: 'calling', lostCalls: -1, isBusy: false },
    { name: 'tracker.book', status: 'calling', lostCalls: 0, isBusy: true },
  ]);

  await replica(async () => ({ result: 'found' }));
  expect(await ask('search', 1)).toEqual({ result: 'found' });
  expect((await steps())[0]).toMatchObject({ status: 'completed', lostCalls: 0 });
  release({ result: 'too late' });
});
