import fs from 'node:fs';
import path from 'node:path';
import { apiCaller, temporaryDir, until } from '@gantry/testing';
import { checkoutDir } from '../dirs/shared-dir';
import { type LaunchedPlatform, launchPlatform, runProgram, START_MS } from '../test/launched-platform';
import { createBackupFile } from './backup-file';

const PASSPHRASE = 'correct horse battery staple';
const main = path.join(checkoutDir, 'packages/platform/dist/backup/backup-main.js');
const dir = temporaryDir('backup');
const file = path.join(dir, 'gantry.backup');
const lost = path.join(dir, 'lost');

let running: LaunchedPlatform | undefined;
const runs: Record<string, string> = {};

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;

async function ask(method: string, where: string, body?: unknown): Promise<Json> {
  if (!running) throw new Error('the platform does not run');
  const { base_url, token } = running.local;
  const answer = await apiCaller(base_url, token)(method, where, body);
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  throw new Error(`${method} ${where}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

/** A waiting run is queued as well, and says for what it waits. */
async function statusOf(name: string): Promise<string> {
  const { status, waiting_for } = await ask('GET', `/api/runs/${runs[name]}`);
  return waiting_for ? 'waiting' : status;
}
const reaches = (name: string, status: string) =>
  until(async () => (await statusOf(name)) === status, {
    everyMs: 100,
    what: `${name} is ${status}`,
  });

async function start(name: string, worker: string, inputs: object = {}): Promise<void> {
  runs[name] = (await ask('POST', `/api/workers/${worker}/runs`, { inputs })).run_id;
}

const backup = (dataDir: string, to: string, env: NodeJS.ProcessEnv = {}) =>
  runProgram(dataDir, [process.execPath, main, 'backup', to], { GANTRY_BACKUP_PASSPHRASE: PASSPHRASE, ...env });
const restore = (dataDir: string, from: string, passphrase = PASSPHRASE) =>
  runProgram(dataDir, [process.execPath, main, 'restore', from], { GANTRY_BACKUP_PASSPHRASE: passphrase });

const given: Record<string, string> = {
  teller: 'import os\n\ndef run():\n    return {"told": os.environ["DRILL_KEY"][::-1]}\n',
  sleeper: 'def run(context):\n    context.sleep(20)\n    return {"woke": True}\n',
  blocker: 'import time\n\ndef run():\n    time.sleep(600)\n',
};

beforeAll(async () => {
  running = await launchPlatform(lost, { EXECUTOR_SLOTS: '1' });
  await ask('PUT', '/api/secrets/DRILL_KEY', { value: 'open sesame' });
  for (const [id, content] of Object.entries(given)) {
    const rest = id === 'teller' ? { secrets: ['DRILL_KEY'] } : {};
    await ask('POST', '/api/workers', { id, name: id, files: [{ path: 'main.py', content }], ...rest });
  }
  await start('ended', 'teller');
  await reaches('ended', 'completed');
  await start('sleeping', 'sleeper');
  await reaches('sleeping', 'waiting');
  await start('running', 'blocker');
  await reaches('running', 'running');
  await start('queued', 'teller');
}, 2 * START_MS);

afterAll(() => running?.stop(), START_MS);

test(
  'a backup of a running platform is a private file, and takes nothing away',
  async () => {
    const { code, output } = await backup(lost, file);
    expect([code, output]).toEqual([0, expect.stringContaining(file)]);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(lost).filter((name) => name.startsWith('backing-up'))).toEqual([]);
    expect(await statusOf('queued')).toBe('queued');
    expect(await backup(lost, file)).toMatchObject({ code: 1, output: expect.stringContaining('exists already') });
  },
  START_MS,
);

test('a disk that is full leaves no file', async () => {
  const name = path.join(dir, 'full.backup');
  const limited = ['sh', '-c', 'ulimit -f 16; exec "$@"', 'sh', process.execPath, main, 'backup', name];
  const { code, output } = await runProgram(lost, limited, { GANTRY_BACKUP_PASSPHRASE: PASSPHRASE });
  expect([code, output]).toEqual([1, expect.stringContaining('EFBIG')]);
  expect(fs.readdirSync(dir).filter((entry) => entry.startsWith('full'))).toEqual([]);
});

test(
  'restored elsewhere, secrets open, the sleeping run wakes, the queued run runs, and what had ended is as it was',
  async () => {
    await running?.stop();
    running = undefined;
    const restored = path.join(dir, 'restored');
    expect(await restore(restored, file)).toMatchObject({ code: 0 });
    fs.rmSync(lost, { recursive: true });

    running = await launchPlatform(restored);
    expect(await ask('GET', `/api/runs/${runs.ended}`)).toMatchObject({
      status: 'completed',
      output: { told: 'emases nepo' },
    });
    await reaches('queued', 'completed');
    expect((await ask('GET', `/api/runs/${runs.queued}`)).output).toEqual({ told: 'emases nepo' });
    await reaches('sleeping', 'completed');
    expect((await ask('GET', `/api/runs/${runs.sleeping}`)).output).toEqual({ woke: true });
    await reaches('running', 'failed');
    expect((await ask('GET', `/api/runs/${runs.running}`)).error_code).toBe('executor_lost');
    await start('new', 'teller');
    await reaches('new', 'completed');
  },
  3 * START_MS,
);

test(
  'a stopped platform is backed up as well, and its backup is restored',
  async () => {
    await running?.stop();
    const stopped = path.join(dir, 'stopped.backup');
    expect(await backup(running?.dataDir as string, stopped)).toMatchObject({ code: 0 });
    expect(await restore(path.join(dir, 'again'), stopped)).toMatchObject({ code: 0 });
    running = await launchPlatform(path.join(dir, 'again'));
    expect(await statusOf('new')).toBe('completed');
  },
  2 * START_MS,
);

describe('a restore is refused, and leaves nothing behind,', () => {
  const target = path.join(dir, 'refused');
  const changed = (name: string, change: (bytes: Buffer) => Buffer) => {
    const copy = path.join(dir, name);
    fs.writeFileSync(copy, change(fs.readFileSync(file)));
    return copy;
  };
  const flipped = (at: (length: number) => number) => (bytes: Buffer) => {
    const index = at(bytes.length);
    bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index);
    return bytes;
  };

  test.each<[string, () => string, RegExp]>([
    [
      'with a file that was cut',
      () => changed('cut', (bytes) => bytes.subarray(0, bytes.length / 2)),
      /damaged or incomplete/,
    ],
    [
      'with a file without its end',
      () => changed('short', (bytes) => bytes.subarray(0, -100)),
      /damaged or incomplete/,
    ],
    [
      'with a changed byte',
      () =>
        changed(
          'flipped',
          flipped((length) => Math.floor(length * 0.7)),
        ),
      /damaged or incomplete/,
    ],
    ['with another file', () => path.join(checkoutDir, 'package.json'), /damaged or incomplete/],
    ['with no file', () => path.join(dir, 'none'), /ENOENT/],
  ])('%s', async (_, from, problem) => {
    const { code, output } = await restore(target, from());
    expect([code, output]).toEqual([1, expect.stringMatching(problem)]);
    expect(fs.readdirSync(dir).filter((name) => name.startsWith('refused'))).toEqual([]);
  });

  test('with another passphrase', async () => {
    expect(await restore(target, file, 'incorrect horse')).toMatchObject({
      code: 1,
      output: expect.stringContaining('not the passphrase'),
    });
  });

  test('with a backup of a newer version', async () => {
    const newer = path.join(dir, 'newer');
    const shape = { migrations: ['29990101000000_jets'], tables: [], partitions: [], sequences: [] };
    const databases = { 'worker-api': shape, 'automation-api': shape, 'skills-api': shape };
    const writer = await createBackupFile(newer, { databases, secrets: {} }, PASSPHRASE);
    await writer.finish();
    expect(await restore(target, newer)).toMatchObject({
      code: 1,
      output: expect.stringMatching(/newer Gantry: worker-api has 29990101000000_jets/),
    });
  });

  test('over data that is there', async () => {
    const there = path.join(dir, 'again');
    const before = fs.readdirSync(there);
    expect(await restore(there, file)).toMatchObject({ code: 1, output: expect.stringContaining('move it away') });
    expect(fs.readdirSync(there)).toEqual(before);
  });
});
