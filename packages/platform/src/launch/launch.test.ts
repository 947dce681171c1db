/**
 * One installation from its first start to Ctrl-C.
 * @sequential
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { createTemporaryDir, waitUntil } from '@gantry/testing';
import { checkoutDir } from '../dirs/shared-dir';
import type { Sample } from '../first-run/first-run';
import { isAlive } from '../supervise/process';
import { freeRange, isFree, listProblems, START_MS } from '../test/launched-platform';
import type { LocalAccess } from './local-state';

const launcher = path.join(checkoutDir, 'packages/platform/dist/main.js');

/** The unprivileged account that every Linux has, where the tests run as root and it can read the checkout. */
const user = process.getuid?.() === 0 && isReachableByAll(checkoutDir) ? { uid: 65_534, gid: 65_534 } : {};

/** PostgreSQL, NATS, the gateway, three services, and the executor. */
const PROCESS_COUNT = 7;

let dataDir: string;
let port: number;
let started: ChildProcess;
let output = '';

beforeAll(async () => {
  dataDir = path.join(createOwnDir(), `Größe 7 – it's "my" $HOME`, 'data');
  port = await freeRange();
});
afterAll(() => stop('SIGKILL'));

function isReachableByAll(dir: string): boolean {
  const parent = path.dirname(dir);
  return (fs.statSync(dir).mode & 0o005) === 0o005 && (parent === dir || isReachableByAll(parent));
}

function createOwnDir(): string {
  const dir = createTemporaryDir('launch');
  if (user.uid !== undefined) fs.chownSync(dir, user.uid, user.gid);
  return dir;
}

/** As an ordinary user, under the strictest umask, and with a home directory that is not writable. */
function spawnLauncher(): void {
  output = '';
  const env = { PATH: process.env.PATH, HOME: '/dev/null', GANTRY_DATA_DIR: dataDir, GANTRY_PORT: String(port) };
  const command = ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, launcher];
  started = spawn('sh', command, { ...user, env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [started.stdout, started.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
}

const isSetUp = async () =>
  (await (await fetch(`http://127.0.0.1:${port}/api/system/platform-config`)).json()).setup_required === false;

async function start(): Promise<void> {
  spawnLauncher();
  const isSettled = () => started.exitCode !== null || output.includes('Gantry is running');
  await waitUntil(isSettled, { deadlineMs: START_MS, everyMs: 50, what: 'the platform runs' });
  if (started.exitCode !== null) throw new Error(output);
}

async function stop(signal: NodeJS.Signals): Promise<number | null> {
  if (started.exitCode === null && started.signalCode === null) {
    const ended = new Promise((resolve) => started.once('exit', resolve));
    started.kill(signal);
    await ended;
  }
  return started.exitCode;
}

async function startAndFail(env: NodeJS.ProcessEnv): Promise<{ code: unknown; problem: string }> {
  const second = spawn(process.execPath, [launcher], { ...user, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let problem = '';
  second.stderr.on('data', (chunk) => {
    problem += chunk;
  });
  const code = await new Promise((resolve) => second.once('close', resolve));
  return { code, problem };
}

const readDataFile = <T>(name: string): T => JSON.parse(fs.readFileSync(path.join(dataDir, name), 'utf8'));
const children = () =>
  Object.entries(readDataFile<Record<string, { pid: number }>>('processes.json')).flatMap(([name, { pid }]) =>
    name === 'launcher' ? [] : [pid],
  );
const getFileMode = (name: string) => (fs.statSync(path.join(dataDir, name)).mode & 0o777).toString(8);

async function sampleRun(): Promise<Record<string, unknown>> {
  const { dashboard_url, token } = readDataFile<LocalAccess>('local.json');
  const { automation_id } = readDataFile<Sample>('sample.json');
  const response = await fetch(`${dashboard_url}/api/automations/${automation_id}/run`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ inputs: {} }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

test('a first start creates an owner who can sign in and an automation that has run, also after a killed start', async () => {
  spawnLauncher();
  await waitUntil(isSetUp, { deadlineMs: START_MS, everyMs: 5, what: 'there is an owner' });
  await stop('SIGKILL');
  const outputUntilKilled = output;
  await start();
  const local = readDataFile<LocalAccess>('local.json');
  expect(local).toEqual({
    base_url: `http://localhost:${port}`,
    dashboard_url: `http://localhost:${port + 1}`,
    skills_url: `http://localhost:${port + 2}`,
    email: expect.stringContaining('@'),
    password: expect.any(String),
    token: expect.stringMatching(/^svc_/),
    workspace_id: expect.stringMatching(/^ws_/),
  });
  expect([getFileMode('.'), getFileMode('local.json'), getFileMode('keys.json')]).toEqual(['700', '600', '600']);
  const sample = readDataFile<Sample>('sample.json');
  expect([sample.status, sample.worker?.status]).toEqual(['success', 'completed']);
  expect(listProblems(outputUntilKilled + output)).toEqual([]);
  expect(output).not.toContain(local.token);
  const printed = /Try it:\n(.*?)\n\n/s.exec(`${output}\n\n`)?.[1] as string;
  const { stdout } = await promisify(execFile)('bash', ['-c', printed]);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'success' });

  const { email, password } = local;
  const signedIn = await fetch(`${local.skills_url}/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  expect(signedIn.status).toBe(200);
  for (const url of [local.base_url, local.dashboard_url, local.skills_url]) {
    expect((await fetch(`${url}/health`)).status).toBe(200);
  }
});

test('after kill -9 of the launcher the next start works, with all data', async () => {
  const left = children();
  await stop('SIGKILL');
  expect(left.some(isAlive)).toBe(true);
  // As if it had been killed just after the first owner was committed.
  const { email, password } = readDataFile<LocalAccess>('local.json');
  fs.writeFileSync(path.join(dataDir, 'first-owner.json'), JSON.stringify({ email, password }));
  fs.rmSync(path.join(dataDir, 'local.json'));
  await start();
  expect(readDataFile<LocalAccess>('local.json')).toMatchObject({ email, password });
  expect(fs.existsSync(path.join(dataDir, 'first-owner.json'))).toBe(false);
  expect(left.filter(isAlive)).toEqual([]);
  expect(await sampleRun()).toMatchObject({ status: 'success' });
});

test('a service that is killed is back by itself', async () => {
  const { pid } = readDataFile<Record<string, { pid: number }>>('processes.json')['automation-api'] as {
    pid: number;
  };
  process.kill(pid, 'SIGKILL');
  await waitUntil(() => sampleRun().then(({ status }) => status === 'success'), { everyMs: 100 });
});

test(
  'services, executor, NATS and nginx that are frozen are replaced, and serve again',
  async () => {
    const frozen = ['worker-api', 'skills-api', 'executor', 'nats', 'gateway'];
    const before = readDataFile<Record<string, { pid: number }>>('processes.json');
    // Whole groups: nginx answers as long as its worker does.
    for (const name of frozen) process.kill(-(before[name]?.pid as number), 'SIGSTOP');
    const isReplaced = (name: string) => {
      const now = readDataFile<Record<string, { pid: number }>>('processes.json')[name];
      return now !== undefined && now.pid !== before[name]?.pid;
    };
    await waitUntil(() => frozen.every(isReplaced), { deadlineMs: 180_000, everyMs: 250 });
    await waitUntil(() => sampleRun().then(({ status }) => status === 'success'), { everyMs: 250 });
    for (const name of frozen) expect(output).toMatch(new RegExp(`${name} has not responded for \\d+ s; replacing it`));
    expect(output).not.toMatch(/automation-api has not responded/);
  },
  2 * START_MS,
);

test('a second launcher on the same data is refused and disturbs nothing', async () => {
  const env = { PATH: process.env.PATH, GANTRY_DATA_DIR: dataDir, GANTRY_PORT: String(port) };
  const { code, problem } = await startAndFail(env);
  expect(code).toBe(1);
  expect(problem).toContain(`already running here as process ${started.pid}`);
  expect(await sampleRun()).toMatchObject({ status: 'success' });
});

test('ports that another program uses are named before anything is started', async () => {
  const other = path.join(createOwnDir(), 'data');
  const env = { PATH: process.env.PATH, GANTRY_DATA_DIR: other, GANTRY_PORT: String(port) };
  const { code, problem } = await startAndFail(env);
  expect(code).toBe(1);
  expect(problem).toContain(`${port} (gateway): held by nginx (process `);
  expect(fs.existsSync(path.join(other, 'postgres'))).toBe(false);
});

test('Ctrl-C stops everything and leaves nothing behind', async () => {
  // Those that found no NATS a moment ago may be starting again.
  const running = await waitUntil(() => children().length === PROCESS_COUNT && children(), { what: 'all are running' });
  expect(await stop('SIGINT')).toBe(0);
  expect(running.filter(isAlive)).toEqual([]);
  expect(children()).toEqual([]);
  expect(await isFree(port)).toBe(true);
});
