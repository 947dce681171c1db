import { setTimeout as delay } from 'node:timers/promises';
import { encode, type RunEvent, runSubjects } from '@gantry/events';
import { setupResource, zeroUsage } from '@gantry/testing';
import { buildTestRun, startTestEngines } from '../test/engines';

const engines = setupResource(
  () => startTestEngines('automation'),
  (started) => started.stop(),
);
afterEach(() => engines.reset());

/** Starts a run whose reports are published in any order. */
async function startRun() {
  const engine = await engines.replica();
  const executor = await engines.executor();
  const claimed = executor.claim();
  const run = await engine.submitAndWait(buildTestRun());
  const job = await claimed;
  if (!job) throw new Error('the run was not handed out');
  const subject = runSubjects.events('automation', executor.id, run.id);
  const publish = (...events: object[]) =>
    executor.bus.js.publish(
      subject,
      encode({
        attempt: job.attempt,
        token: job.token,
        events: events.map((event) => ({ at: Date.now(), ...event }) as RunEvent),
      }),
    );
  await publish({ type: 'started', seq: 1 });
  return { engine, run, publish };
}

const FINISHED = { type: 'finished', seq: 4, status: 'completed', output: 1, usage: zeroUsage };

test('a run ends with all that was reported before, also if its end is received first', async () => {
  const { engine, run, publish } = await startRun();
  const ended = engine.waitForEnd(run, 10_000);
  await publish(FINISHED);
  await delay(100);
  await publish(
    { type: 'log', seq: 2, stream: 'stdout', level: 'info', text: 'before the end' },
    {
      type: 'artifact',
      seq: 3,
      artifactId: 'art_1',
      name: 'a.txt',
      contentType: 'text/plain',
      size: 1,
      sha256: 'a'.repeat(64),
      key: `${run.workspaceId}/runs/${run.id}/1/a`,
    },
  );
  const whole = await ended;
  expect(whole.status).toBe('completed');
  expect(await engine.artifacts(whole)).toMatchObject([{ name: 'a.txt' }]);
  expect(await engine.getLogsText(whole)).toBe('before the end\n');
});

test('a run ends although something reported before was lost', async () => {
  const { engine, run, publish } = await startRun();
  await publish(FINISHED);
  expect(await engine.waitForEnd(run, 10_000)).toMatchObject({ status: 'completed', output: 1 });
});
