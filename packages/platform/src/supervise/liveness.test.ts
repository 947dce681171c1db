/** Real processes that live without answering. */
import fs from 'node:fs';
import path from 'node:path';
import { freePort, temporaryDir, until } from '@gantry/testing';
import type { LivenessTiming } from './liveness';
import { isAlive, type ProcessSpec } from './process';
import { type Supervisor, startSupervisor } from './supervise';

const supervisors: Supervisor[] = [];
afterEach(async () => {
  for (const supervisor of supervisors.splice(0)) await supervisor.stop();
});

/** The platform's, forty times as fast. */
const timing: LivenessTiming = {
  ...{ everyMs: 125, timeoutMs: 100, silenceMs: 500 },
  ...{ startMs: 700, startMsMax: 5_600, graceMs: 50 },
};

/** `/healthz` answers, `/block` holds the event loop for good, `/silent` lets every later question wait. */
const ANSWERING = `
  let silent = false;
  require('http').createServer((req, res) => {
    if (req.url === '/block') for (;;);
    if (req.url === '/silent') silent = true;
    if (!silent) res.end('ok');
  }).listen(PORT, '127.0.0.1');
`;

async function supervised(script: string) {
  const dir = temporaryDir('liveness');
  const port = await freePort();
  const pidFile = path.join(dir, 'pids');
  const pids = () => fs.readFileSync(pidFile, 'utf8').trim().split('\n').map(Number);
  const note = `require('fs').appendFileSync(${JSON.stringify(pidFile)}, process.pid + '\\n');`;
  const spec: ProcessSpec = {
    name: 'service',
    command: process.execPath,
    args: ['-e', note + script.replaceAll('PORT', String(port))],
    env: {},
    isReady: async () => pids().length > 0,
    liveness: { port, path: '/healthz' },
  };
  const shown: string[] = [];
  const supervisor = await startSupervisor({ dir, show: (line) => shown.push(line), liveness: timing });
  supervisors.push(supervisor);
  await supervisor.start(spec);
  const ask = (url: string) => fetch(`http://127.0.0.1:${port}${url}`, { signal: AbortSignal.timeout(1_000) });
  const isAnswering = () =>
    ask('/healthz').then(
      (answer) => answer.ok,
      () => false,
    );
  return { supervisor, dir, pids, shown, ask, isAnswering };
}

/** A launcher that does not run: suspended with its machine, or out of its turn for long. */
function standStill(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test.each([
  ['blocks its event loop', (ask: (url: string) => Promise<unknown>) => void ask('/block').catch(() => {})],
  ['accepts and never answers', (ask: (url: string) => Promise<unknown>) => void ask('/silent').catch(() => {})],
  ['is frozen', (_: unknown, pid: number) => void process.kill(pid, 'SIGSTOP')],
] as const)('a process that %s is replaced, and the log says why', async (_, hold) => {
  const { dir, pids, shown, ask, isAnswering } = await supervised(ANSWERING);
  await until(isAnswering);
  const [first = 0] = pids();
  hold(ask, first);
  await until(() => pids().length === 2 && isAnswering(), { deadlineMs: 10_000 });
  expect(isAlive(first)).toBe(false);
  expect(shown[0]).toMatch(/^service has not answered for \d+ s; replacing it/);
  expect(shown[1]).toMatch(/^service ended with SIG(TERM|KILL); starting it again/);
  const log = fs.readFileSync(path.join(dir, 'logs/service.log'), 'utf8');
  expect(JSON.parse(log.trim().split('\n')[0] as string)).toMatchObject({ level: 50, service: 'launcher', pid: first });
});

test('what the launcher sleeps through is nobody else’s silence', async () => {
  const { pids, shown, isAnswering } = await supervised(ANSWERING);
  await until(isAnswering);
  for (let i = 0; i < 3; i++) {
    standStill(2 * timing.silenceMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(isAnswering);
  expect(pids()).toHaveLength(1);
  expect(shown).toEqual([]);
});

test('a process that answers slowly but in time stays', async () => {
  const slow = `
    let asked = 0;
    require('http').createServer((req, res) => {
      if (req.url === '/asked') res.end(String(asked));
      else setTimeout(() => res.end('ok'), 60, asked++);
    }).listen(PORT, '127.0.0.1');`;
  const { pids, ask } = await supervised(slow);
  const asked = async () => Number(await (await ask('/asked')).text());
  const often = (4 * timing.silenceMs) / timing.everyMs;
  await until(async () => (await asked()) > often, { deadlineMs: 10_000 });
  expect(pids()).toHaveLength(1);
});

test('one that never answers gets more time at each start', async () => {
  const { pids, shown, dir } = await supervised('setInterval(() => {}, 1000);');
  const silences = () => shown.flatMap((line) => /not answered for (\d+) s/.exec(line)?.[1] ?? []).map(Number);
  await until(() => silences().length === 2, { deadlineMs: 15_000 });
  const lines = fs.readFileSync(path.join(dir, 'logs/service.log'), 'utf8').trim().split('\n');
  const [first = 0, second = 0] = lines.map((line) => JSON.parse(line).time);
  // Twice the first patience, and the pause before the second start.
  expect(second - first).toBeGreaterThan(2 * timing.startMs);
  expect(pids()).toHaveLength(2);
});

test('one that is being stopped is not started again by its silence', async () => {
  const deaf = `${ANSWERING} process.on('SIGTERM', () => { silent = true; setTimeout(() => process.exit(0), 1200); });`;
  const { supervisor, pids, shown, isAnswering } = await supervised(deaf);
  await until(isAnswering);
  await supervisor.stop();
  expect(pids()).toHaveLength(1);
  expect(shown).toEqual([]);
});
