/** Tests the end of a run when the executor itself fails: injected faults, a real sandbox. */
import type { Job } from '@gantry/events';
import { createRedactorCache } from '@gantry/masking';
import { captureLogs, setupResource, waitUntil } from '@gantry/testing';
import { createMetrics } from '../host/metrics';
import { createPythonRunner, type PythonRunnerDeps } from '../runners/python/python-runner';
import type { Child } from '../sandbox/child';
import { buildJob } from '../test/fake-service';
import { startTestSandbox } from '../test/sandbox-fixture';
import type { EventPublisher, NewRunEvent } from './event-publisher';
import { type ExecuteJobDeps, executeJob } from './execute-job';

const children: Child[] = [];
const fixture = setupResource(
  () => startTestSandbox({ slots: 1 }),
  async ({ sandbox }) => {
    for (const child of children) child.close();
    await sandbox.stop();
  },
);

const LOOP = 'import time\ndef run():\n    print("begun", flush=True)\n    time.sleep(60)\n';

interface Faults {
  onChild?: (child: Child) => void;
  push?: (event: NewRunEvent) => void;
  flush?: () => void;
}

function startRun(source: string, faults: Faults = {}, limits: Partial<Job['limits']> = {}) {
  const events: NewRunEvent[] = [];
  const caught = captureLogs();
  const publisher = {
    open: () => ({
      push(event: NewRunEvent) {
        faults.push?.(event);
        events.push(event);
      },
      flush: () => faults.flush?.(),
      stored: async () => {},
      abandon() {},
    }),
  } as Partial<EventPublisher> as EventPublisher;
  let acquired: Child | undefined;
  const runner = createPythonRunner({
    sandbox: {
      ...fixture.sandbox,
      async acquire(...args: Parameters<typeof fixture.sandbox.acquire>) {
        const child = await fixture.sandbox.acquire(...args);
        faults.onChild?.(child);
        children.push(child);
        acquired = child;
        return child;
      },
    },
    code: { pin() {}, unpin() {} },
    isolation: 'zygote',
  } as Partial<PythonRunnerDeps> as PythonRunnerDeps);
  const deps = {
    publisher,
    redactorFor: createRedactorCache(),
    metrics: createMetrics({
      slots: 1,
      warm: () => 0,
      busy: () => 0,
      ready: () => 0,
      restarts: () => 0,
      storeBytes: () => 0,
      unstoredBatches: () => 0,
      spoolBytes: () => 0,
    }),
    log: caught.log,
    canStart: () => true,
  } as Partial<ExecuteJobDeps> as ExecuteJobDeps;
  const code = { digest: fixture.storeFiles({ 'main.py': source }), url: '', size: 0 };
  const job = buildJob({ runId: 'run_planted', source: 'automation', token: 'x', code }, { limits });
  const release = jest.fn();
  return { run: executeJob(job, runner, deps, release), release, events, child: () => acquired, logs: caught };
}

const untilBegun = (events: NewRunEvent[]) => waitUntil(() => events.some((event) => event.type === 'log'));
/** Returns its last event, once its slot is released. */
async function getLastEvent({ run, release, events }: Pick<ReturnType<typeof startRun>, 'run' | 'release' | 'events'>) {
  await run.settled;
  expect(release).toHaveBeenCalledTimes(1);
  return events.at(-1);
}
/** Simulates a zygote that never reports that the process has ended. */
const suppressExit = (child: Child) => Object.defineProperty(child, 'exited', { value: new Promise(() => {}) });

test('a run whose exit is never reported is killed, times out and releases its slot', async () => {
  const { run, release, events, child, logs } = startRun(LOOP, { onChild: suppressExit }, { wallMs: 300 });
  expect(await getLastEvent({ run, release, events })).toMatchObject({
    type: 'finished',
    status: 'timed_out',
    error: { code: 'timeout', message: 'The run exceeded its time limit of 0.3 s.' },
  });
  expect(logs.lines.filter(({ level }) => level === 50)).toEqual([
    expect.objectContaining({ msg: 'run did not end in time', runId: 'run_planted' }),
  ]);
  await waitUntil(() => child()?.state === 'dead');
});

test('such a run can be cancelled', async () => {
  const { run, release, events } = startRun(LOOP, { onChild: suppressExit }, { wallMs: 3_000 });
  await untilBegun(events);
  run.cancel();
  expect(await getLastEvent({ run, release, events })).toMatchObject({ type: 'finished', status: 'cancelled' });
});

test('a result that can’t be written becomes a small failure', async () => {
  const push = (event: NewRunEvent) => {
    if (event.type === 'finished' && event.output !== undefined) throw new RangeError('planted');
  };
  const { run, release, events } = startRun('def run(): return 1\n', { push });
  expect(await getLastEvent({ run, release, events })).toMatchObject({
    type: 'finished',
    status: 'failed',
    error: { code: 'sandbox', message: 'The run ended, but its result could not be written.' },
  });
});

test('slot and lease are released and the process ends even if nothing can be written', async () => {
  let begun = false;
  const fail = (event?: NewRunEvent) => {
    if (begun) throw new Error('planted');
    begun = event === undefined;
  };
  const { run, release, child } = startRun('def run(): return 1\n', { push: fail, flush: fail });
  await run.settled;
  await run.gone;
  expect(release).toHaveBeenCalledTimes(1);
  await waitUntil(() => child()?.state === 'dead');
});

test('progress that can’t be written does not block the result', async () => {
  const push = (event: NewRunEvent) => {
    if (event.type === 'progress') throw new Error('planted');
  };
  const source = 'from gantry import context\ndef run():\n    context.progress(0.5)\n    return 1\n';
  const { run, events } = startRun(source, { push });
  await run.settled;
  expect(events.at(-1)).toMatchObject({ type: 'finished', status: 'completed', output: 1 });
});
