import { zeroUsage } from '@gantry/testing';
import { REHEARSAL } from '../run';
import { buildTestRun, startTestEngines, type TestEngines } from '../test/engines';

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const buildRehearsal = (of: string | null = null) =>
  buildTestRun({ kind: 'test', trigger: REHEARSAL, spec: { ...buildTestRun().spec, rehearsal: { of } } });
const listOutboxEvents = async () => (await engines.pool.query('SELECT type, data FROM outbox')).rows;

test('every end of a rehearsal is published once, and never as run.finished', async () => {
  const engine = await engines.replica();
  const executor = await engines.executor();
  const completed = await engine.submitAndWait(buildRehearsal());
  await (await executor.claimJob()).complete('done');
  await engine.waitForEnd(completed, 5_000);
  const failed = await engine.submitAndWait(buildRehearsal());
  const error = { code: 'exception' as const, message: 'no' };
  const job = await executor.claimJob();
  await job.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
  await engine.waitForEnd(failed, 5_000);
  const cancelled = await engine.submitAndWait(buildRehearsal());
  await engine.cancel(cancelled.workspaceId, cancelled.id);
  const finishedEvent = (runId: string, status: string) => ({
    type: 'rehearsal.finished.v1',
    data: { runId, subjectId: 'wrk_1', status },
  });
  expect(await listOutboxEvents()).toEqual([
    finishedEvent(completed.id, 'completed'),
    finishedEvent(failed.id, 'failed'),
    finishedEvent(cancelled.id, 'cancelled'),
  ]);
});

test('the end of a draft’s test is not published', async () => {
  const engine = await engines.replica();
  const run = await engine.submitAndWait(buildTestRun({ kind: 'test', trigger: 'test' }));
  await engine.cancel(run.workspaceId, run.id);
  expect(await listOutboxEvents()).toEqual([]);
});
