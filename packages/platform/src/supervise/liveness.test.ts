/** Real processes that live without answering. */
import fs from 'node:fs';
import path from 'node:path';
import { createTemporaryDir, reserveFreePort, waitUntil } from '@gantry/testing';
import type { LivenessTiming } from './liveness';
import { isAlive, type ProcessSpec } from './process';
import { type Supervisor, startSupervisor } from './supervise';

const supervisors: Supervisor[] = [];
afterEach(async () => {
  for (const supervisor of supervisors.splice(0)) await supervisor.stop();
});

/** The platform's, forty times as fast. */
const timing: LivenessTiming = {
  everyMs: 125,
  timeoutMs: 100,
  silenceMs: 500,
  startMs: 700,
  startMsMax: 5_600,
  graceMs: 50,
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

interface LogLine {
  level: number;
  time: number;
  service: string;
  pid: number;
  msg: string;
}

async function superviseScript(script: string) {
  const dir = createTemporaryDir('liveness');
  const port = await reserveFreePort();
  const pidFile = path.join(dir, 'pids');
  const pids = () => fs.readFileSync(pidFile, 'utf8').trim().split('\n').map(Number);
  const note = `require('fs').appendFileSync(${JSON.stringify(pidFile)}, process.pid + '\\n');`;
  const spec: ProcessSpec = {
    name: 'service',
    command: process.execPath,
    args: ['-e', note + script.replaceAll('PORT', String(port))],
    env: {},
    isReady: async () => pids().length > 0,
    liveness: { port, paths: ['/healthz'] },
  };
  const shown: string[] = [];
  const supervisor = await startSupervisor({ dir, show: (line) => shown.push(line), liveness: timing });
  supervisors.push(supervisor);
  await supervisor.start(spec);
  const fetchPath = (url: string) => fetch(`http://127.0.0.1:${port}${url}`, { signal: AbortSignal.timeout(1_000) });
  const isAnswering = () =>
    fetchPath('/healthz').then(
      (answer) => answer.ok,
      () => false,
    );
  const logFile = path.join(dir, 'logs/service.log');
  /** The whole lines of the log, which is written a little after `shown`. */
  const readLog = (): LogLine[] =>
    fs
      .readFileSync(logFile, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return { supervisor, pids, logged: readLog, shown, ask: fetchPath, isAnswering };
}

/** A launcher that does not run: suspended with its machine, or out of its turn for long. */
function blockEventLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test.each([
  ['blocks its event loop', (fetchPath: (url: string) => Promise<unknown>) => void fetchPath('/block').catch(() => {})],
  [
    'accepts and never answers',
    (fetchPath: (url: string) => Promise<unknown>) => void fetchPath('/silent').catch(() => {}),
  ],
  ['is frozen', (_: unknown, pid: number) => void process.kill(pid, 'SIGSTOP')],
] as const)('a process that %s is replaced, and the log says why', async (_, hold) => {
  const { pids, logged: readLog, shown, ask: fetchPath, isAnswering } = await superviseScript(ANSWERING);
  await waitUntil(isAnswering);
  const [first = 0] = pids();
  hold(fetchPath, first);
  await waitUntil(() => pids().length === 2 && isAnswering());
  expect(isAlive(first)).toBe(false);
  expect(shown[0]).toMatch(/^service has not responded for \d+ s; replacing it/);
  expect(shown[1]).toMatch(/^service exited with SIG(TERM|KILL); restarting it/);
  await waitUntil(() => readLog().length > 0);
  expect(readLog()[0]).toMatchObject({ level: 50, service: 'launcher', pid: first });
});

test('silence while the launcher itself was suspended is not counted against a process', async () => {
  const { pids, shown, isAnswering } = await superviseScript(ANSWERING);
  await waitUntil(isAnswering);
  for (let i = 0; i < 3; i++) {
    blockEventLoop(2 * timing.silenceMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await waitUntil(isAnswering);
  expect(pids()).toHaveLength(1);
  expect(shown).toEqual([]);
});

test('a process that responds slowly but in time is kept', async () => {
  const slow = `
    let asked = 0;
    require('http').createServer((req, res) => {
      if (req.url === '/asked') res.end(String(asked));
      else setTimeout(() => res.end('ok'), 60, asked++);
    }).listen(PORT, '127.0.0.1');`;
  const { pids, ask: fetchPath } = await superviseScript(slow);
  const countProbes = async () => Number(await (await fetchPath('/asked')).text());
  const often = (4 * timing.silenceMs) / timing.everyMs;
  await waitUntil(async () => (await countProbes()) > often);
  expect(pids()).toHaveLength(1);
});

test('a process that never responds gets more time at each start', async () => {
  const { pids, logged: readLog } = await superviseScript('setInterval(() => {}, 1000);');
  const silences = () => readLog().filter((line) => line.msg.includes('has not responded'));
  await waitUntil(() => silences().length >= 2);
  const [first, second] = silences() as [LogLine, LogLine];
  // Twice the first patience, and the pause before the second start.
  expect(second.time - first.time).toBeGreaterThan(2 * timing.startMs);
  expect(pids()).toContain(second.pid);
  expect(second.pid).not.toBe(first.pid);
});

test('a process that is being stopped is not restarted for its silence', async () => {
  const deaf = `${ANSWERING} process.on('SIGTERM', () => { silent = true; setTimeout(() => process.exit(0), 1200); });`;
  const { supervisor, pids, shown, isAnswering } = await superviseScript(deaf);
  await waitUntil(isAnswering);
  await supervisor.stop();
  expect(pids()).toHaveLength(1);
  expect(shown).toEqual([]);
});
