import { noUsage } from '@gantry/testing';
import { REHEARSAL } from './run';
import { aRun, claimed, startTestEngines, type TestEngines } from './test/engines';

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const aRehearsal = (of: string | null = null) =>
  aRun({ kind: 'test', trigger: REHEARSAL, spec: { ...aRun().spec, rehearsal: { of } } });
const announced = async () => (await engines.pool.query('SELECT type, data FROM outbox')).rows;

test('every end of a rehearsal is published once, and never as run.finished', async () => {
  const engine = await engines.replica();
  const executor = await engines.executor();
  const completed = await engine.submitAndWait(aRehearsal());
  await (await claimed(executor)).complete('done');
  await engine.waitForEnd(completed, 5_000);
  const failed = await engine.submitAndWait(aRehearsal());
  const error = { code: 'exception' as const, message: 'no' };
  const job = await claimed(executor);
  await job.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: noUsage });
  await engine.waitForEnd(failed, 5_000);
  const cancelled = await engine.submitAndWait(aRehearsal());
  await engine.cancel(cancelled.workspaceId, cancelled.id);
  const told = (runId: string, status: string) => ({
    ...{ type: 'rehearsal.finished.v1', data: { runId, subjectId: 'wrk_1', status } },
  });
  expect(await announced()).toEqual([
    told(completed.id, 'completed'),
    told(failed.id, 'failed'),
    told(cancelled.id, 'cancelled'),
  ]);
});

test('the end of a draft’s test is not published', async () => {
  const engine = await engines.replica();
  const run = await engine.submitAndWait(aRun({ kind: 'test', trigger: 'test' }));
  await engine.cancel(run.workspaceId, run.id);
  expect(await announced()).toEqual([]);
});
