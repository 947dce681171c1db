/** Tests calls whose replica stops before they end. Tools themselves are tested in worker-api. */
import { request, runSubjects, TOOL_HOLD_MS, toolReply } from '@gantry/events';
import { type FakeExecutor, type FakeJob, waitUntil } from '@gantry/testing';
import { buildTestRun, startTestEngines, type TestEngines } from '../test/engines';
import type { ToolOutcome } from './tool-steps';

let engines: TestEngines;
let executor: FakeExecutor;
let job: FakeJob;

beforeAll(async () => {
  engines = await startTestEngines();
});
afterAll(() => engines.stop());

/** Starts a replica where `search` is idempotent and `book` is not. */
const startReplica = (call: () => Promise<ToolOutcome>) =>
  engines.replica({
    tools: {
      of: async () => [],
      prepare: async (_, { tool }) => ({ isIdempotent: tool === 'search', isReadOnly: false, call }),
    },
  });

/** Longer than a call is held before its caller is to repeat it. */
const REPLY_MS = 2 * TOOL_HOLD_MS;

function callTool(tool: string, ordinal: number) {
  const { runId, attempt, token } = job;
  const asked = { ordinal, connection: 'tracker', tool, arguments: {}, timeoutMs: 60_000 };
  const subject = runSubjects.tool('worker', executor.id);
  return request(executor.bus, subject, { runId, attempt, token, ...asked }, toolReply, REPLY_MS);
}

/** Repeats the request as executors do: a service that is busy may answer none. */
const callUntilDone = (tool: string, ordinal: number) =>
  waitUntil(async () => {
    const reply = await callTool(tool, ordinal);
    return !('calling' in reply) && reply;
  });

const listSteps = async () =>
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
  const stopping = await startReplica(() => pending);
  executor = await engines.executor();
  const run = await stopping.submitAndWait(buildTestRun());
  job = await executor.claimJob();
  await job.report({ type: 'started' });
  const STATUS_QUERY = 'SELECT status FROM runs WHERE id = $1';
  await waitUntil(async () => (await engines.pool.query(STATUS_QUERY, [run.id])).rows[0].status === 'running');

  for (const [at, tool] of ['search', 'book'].entries()) void callTool(tool, at + 1).catch(() => {});
  await waitUntil(async () => (await listSteps()).length === 2);
  await stopping.drain();
  await stopping.stop();
  expect(await listSteps()).toEqual([
    { name: 'tracker.search', status: 'calling', lostCalls: -1, isBusy: false },
    { name: 'tracker.book', status: 'calling', lostCalls: 0, isBusy: true },
  ]);

  await startReplica(async () => ({ result: 'found' }));
  expect(await callUntilDone('search', 1)).toEqual({ result: 'found' });
  expect((await listSteps())[0]).toMatchObject({ status: 'completed', lostCalls: 0 });
  release({ result: 'too late' });
});
