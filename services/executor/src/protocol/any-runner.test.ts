/** Tests only the protocol side of a run: the runner is a fake, without a process. */
import { type Job, PYTHON } from '@gantry/events';
import { createRedactorCache } from '@gantry/masking';
import { captureLogs, waitUntil } from '@gantry/testing';
import type { Metrics } from '../host/metrics';
import {
  NotPreparedError,
  NotStartedError,
  type RunHooks,
  type RunInput,
  type Runner,
  type RunOutcome,
} from '../runners/runner';
import { LIMITS } from '../test/fake-service';
import type { NewRunEvent } from './event-publisher';
import { executeJob } from './execute-job';

const job: Job = {
  runId: 'run_1',
  source: 'automation',
  attempt: 1,
  token: 'x',
  workspaceId: 'ws_1',
  kind: 'run',
  runner: PYTHON,
  code: { digest: 'a'.repeat(64), url: '', size: 0 },
  entrypoint: 'main.py',
  dependencies: [],
  inputs: { n: 1 },
  files: [],
  network: 'none',
  isolation: 'zygote',
  secrets: { TOKEN: 'hush-hush' },
  limits: LIMITS,
};
const USAGE = { wallMs: 5, cpuMs: 4, maxRssBytes: 3 };

type Code = (input: RunInput, hooks: RunHooks) => Promise<RunOutcome>;

function start(code: Code, overrides: Partial<Runner> = {}, canStart = () => true) {
  const events: NewRunEvent[] = [];
  const actions: string[] = [];
  let store!: () => void;
  const stored = new Promise<void>((resolve) => {
    store = resolve;
  });
  const runner: Runner = {
    prepare: async () => ({
      start: () => ({
        isDead: () => false,
        kill: (reason) => actions.push(`killed: ${reason}`),
        async run(input, hooks) {
          if (!(await input.canBegin)) throw new NotStartedError();
          actions.push('begun');
          return { outcome: await code(input, hooks), usage: USAGE, gone: Promise.resolve() };
        },
      }),
      close: () => void actions.push('closed'),
    }),
    prepareAhead: async () => {},
    endOutdated: () => {},
    inspect: async () => ({ ok: true }),
    ...overrides,
  };
  const run = executeJob(
    job,
    runner,
    {
      publisher: {
        open: () => ({ push: (event) => void events.push(event), flush() {}, stored: () => stored, abandon() {} }),
      },
      uploads: { attach: async () => ({ refused: 'not here' }), place: async () => ({ refused: 'no store' }) },
      steps: { record: async () => ({ refused: 'no service' }) },
      locks: { agree: async () => null },
      tools: { call: async () => ({ refused: 'no service' }) },
      redactorFor: createRedactorCache(),
      metrics: { runs: { inc() {} }, phase: { observe() {} } } as unknown as Metrics,
      log: captureLogs().log,
      canStart,
    },
    () => actions.push('released'),
  );
  return { run, events, done: actions, store };
}

test('code begins when `started` is stored, and not before', async () => {
  const {
    run,
    events,
    done: actions,
    store,
  } = start(async ({ inputs }) => ({
    kind: 'returned',
    json: Buffer.from(JSON.stringify(inputs)),
  }));
  await waitUntil(() => events.some(({ type }) => type === 'started'));
  expect(run.started).toBe(false);
  expect(actions).toEqual([]);
  store();
  await run.settled;
  await run.gone;
  expect(run.started).toBe(true);
  expect(actions).toEqual(['begun', 'released', 'closed']);
  expect(events.map(({ type }) => type)).toEqual(['started', 'finished']);
  expect(events.at(-1)).toMatchObject({ status: 'completed', output: { n: 1 }, usage: USAGE });
});

test('a run with a possibly expired lease does not start and is returned', async () => {
  const {
    run,
    events,
    done: actions,
    store,
  } = start(
    async () => ({ kind: 'returned', json: Buffer.from('1') }),
    {},
    () => false,
  );
  store();
  await run.settled;
  await run.gone;
  expect(actions).toEqual(['closed', 'released']);
  expect(events.at(-1)).toMatchObject({ type: 'finished', status: 'returned' });
});

test('all output of the code is masked, including its error', async () => {
  const { run, events, store } = start(async ({ secrets }, hooks) => {
    hooks.onStream('stdout', Buffer.from(`${secrets.TOKEN}\n`));
    hooks.onProgress(0.5, `at ${secrets.TOKEN}`);
    hooks.onCost(1, secrets.TOKEN ?? null);
    return { kind: 'failed', error: { code: 'exception', message: `bad ${secrets.TOKEN}` } };
  });
  store();
  await run.settled;
  expect(JSON.stringify(events)).not.toContain('hush');
  expect(events).toMatchObject([
    { type: 'started' },
    { type: 'log', text: '***' },
    { type: 'cost', usd: 1, label: '***' },
    { type: 'progress', message: 'at ***' },
    { type: 'finished', status: 'failed', error: { message: 'bad ***' }, usage: { ...USAGE, costUsd: 1 } },
  ]);
});

test('a run that can’t be prepared fails with the error of its runner, and never starts', async () => {
  const {
    run,
    events,
    done: actions,
  } = start(async () => ({ kind: 'out_of_time' }), {
    prepare: async () => {
      throw new NotPreparedError('dependency_install', 'there is no such package');
    },
  });
  await run.settled;
  await run.gone;
  expect(actions).toEqual(['released']);
  expect(events).toMatchObject([
    { type: 'finished', status: 'failed', error: { code: 'dependency_install', message: 'there is no such package' } },
  ]);
});
