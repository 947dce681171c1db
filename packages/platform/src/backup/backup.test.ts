/**
 * A platform is backed up, lost and restored elsewhere, which is backed up in turn.
 * @sequential
 */
import fs from 'node:fs';
import path from 'node:path';
import { createApiClient, createTemporaryDir, reserveFreePort, waitUntil } from '@gantry/testing';
import { Client } from 'pg';
import { checkoutDir } from '../dirs/shared-dir';
import { buildPostgresSpec, buildPostgresUrl } from '../postgres/postgres';
import { startAndWait } from '../supervise/process';
import { type LaunchedPlatform, launchPlatform, runProgram, START_MS } from '../test/launched-platform';
import { findTool } from '../tools/find-tool';
import { createBackupFile } from './backup-file';
import type { DatabaseShape } from './database-copy';
import { findRunningPostgres } from './temporary-postgres';

const PASSPHRASE = 'correct horse battery staple';
const main = path.join(checkoutDir, 'packages/platform/dist/backup/backup-main.js');
const dir = createTemporaryDir('backup');
const file = path.join(dir, 'gantry.backup');
const lost = path.join(dir, 'lost');

let running: LaunchedPlatform | undefined;
const runs: Record<string, string> = {};

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;

async function request(method: string, where: string, body?: unknown): Promise<Json> {
  if (!running) throw new Error('the platform does not run');
  const { base_url, token } = running.local;
  const answer = await createApiClient(base_url, token)(method, where, body);
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  throw new Error(`${method} ${where}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

/** A waiting run is queued as well, and says for what it waits. */
async function getRunState(name: string): Promise<{ status: string; error: string | null }> {
  const { status, waiting_for, error } = await request('GET', `/api/runs/${runs[name]}`);
  return { status: waiting_for ? 'waiting' : status, error };
}
const getRunStatus = async (name: string) => (await getRunState(name)).status;

const ENDED = ['completed', 'failed', 'cancelled', 'timed_out'];

async function reaches(name: string, status: string): Promise<void> {
  let state = await getRunState(name);
  const isSettled = async () => {
    state = await getRunState(name);
    return state.status === status || ENDED.includes(state.status);
  };
  await waitUntil(isSettled, { everyMs: 100 }).catch((cause) => {
    throw new Error(`${name} is still ${state.status} instead of ${status}`, { cause });
  });
  expect({ name, ...state }).toMatchObject({ name, status });
}

async function start(name: string, worker: string, inputs: object = {}): Promise<void> {
  runs[name] = (await request('POST', `/api/workers/${worker}/runs`, { inputs })).run_id;
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
  await request('PUT', '/api/secrets/DRILL_KEY', { value: 'open sesame' });
  for (const [id, content] of Object.entries(given)) {
    const rest = id === 'teller' ? { secrets: ['DRILL_KEY'] } : {};
    await request('POST', '/api/workers', { id, name: id, files: [{ path: 'main.py', content }], ...rest });
  }
  await start('ended', 'teller');
  await reaches('ended', 'completed');
  await start('sleeping', 'sleeper');
  await reaches('sleeping', 'waiting');
  await start('running', 'blocker');
  await reaches('running', 'running');
  await start('queued', 'teller');
}, 2 * START_MS);

afterAll(() => running?.stop());

test('a backup of a running platform is a private file, and changes nothing', async () => {
  const { code, output } = await backup(lost, file);
  expect([code, output]).toEqual([0, expect.stringContaining(file)]);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(lost).filter((name) => name.startsWith('backing-up'))).toEqual([]);
  expect(await getRunStatus('queued')).toBe('queued');
  expect(running?.problems()).toEqual([]);
  expect(await backup(lost, file)).toMatchObject({ code: 1, output: expect.stringContaining('already exists') });
});

test('a full disk leaves no file', async () => {
  const name = path.join(dir, 'full.backup');
  const limited = ['sh', '-c', 'ulimit -f 16; exec "$@"', 'sh', process.execPath, main, 'backup', name];
  const { code, output } = await runProgram(lost, limited, { GANTRY_BACKUP_PASSPHRASE: PASSPHRASE });
  expect([code, output]).toEqual([1, expect.stringContaining('EFBIG')]);
  expect(fs.readdirSync(dir).filter((entry) => entry.startsWith('full'))).toEqual([]);
});

const bwrap = findTool('bwrap');
const withBwrap = bwrap ? test : test.skip;

withBwrap.each([
  ['backup', lost, 'read-only.backup'],
  ['restore', path.join(dir, 'none'), 'gantry.backup'],
])('a %s reports that its data directory is read-only, and leaves nothing', async (command, dataDir, name) => {
  const before = fs.readdirSync(dir);
  const mounts = ['--dev-bind', '/', '/', '--ro-bind', dir, dir, '--chdir', dir];
  const program = [bwrap as string, ...mounts, process.execPath, main, command, path.join(dir, name)];
  const { code, output } = await runProgram(dataDir, program, { GANTRY_BACKUP_PASSPHRASE: PASSPHRASE });
  expect([code, output]).toEqual([1, expect.stringContaining(`${dataDir} is on a read-only file system`)]);
  expect(fs.readdirSync(dir)).toEqual(before);
});

test(
  'restored elsewhere, secrets open, the sleeping run wakes, the queued run runs, and ended ones are unchanged',
  async () => {
    await running?.stop();
    running = undefined;
    const restored = path.join(dir, 'restored');
    expect(await restore(restored, file)).toMatchObject({ code: 0 });
    fs.rmSync(lost, { recursive: true });

    running = await launchPlatform(restored);
    expect(await request('GET', `/api/runs/${runs.ended}`)).toMatchObject({
      status: 'completed',
      output: { told: 'emases nepo' },
    });
    await reaches('queued', 'completed');
    expect((await request('GET', `/api/runs/${runs.queued}`)).output).toEqual({ told: 'emases nepo' });
    await reaches('sleeping', 'completed');
    expect((await request('GET', `/api/runs/${runs.sleeping}`)).output).toEqual({ woke: true });
    await reaches('running', 'failed');
    expect((await request('GET', `/api/runs/${runs.running}`)).error_code).toBe('executor_lost');
    await start('new', 'teller');
    await reaches('new', 'completed');
    // About the run that was under way in the backup.
    expect(running.problems()).toEqual([expect.stringMatching(/worker-api: warning: lease expired$/)]);
    expect(await listRoles(restored)).toEqual([{ owners: ['gantry'], restoring: 0 }]);
  },
  3 * START_MS,
);

test('a stopped platform is backed up as well, and its backup is restored', async () => {
  await running?.stop();
  const stopped = path.join(dir, 'stopped.backup');
  const again = path.join(dir, 'again');
  expect(await backup(running?.dataDir as string, stopped)).toMatchObject({ code: 0 });
  expect(await restore(again, stopped)).toMatchObject({ code: 0 });
  expect(await readStoredStatus(again, 'new')).toBe('completed');
});

/** Status of a run in the database of a platform that does not run. */
async function readStoredStatus(dataDir: string, name: string): Promise<string> {
  const options = {
    dataDir: path.join(dataDir, 'postgres'),
    port: await reserveFreePort(),
    password: readPassword(dataDir),
  };
  const server = await startAndWait(await buildPostgresSpec(options));
  const client = new Client({ connectionString: buildPostgresUrl(options, 'worker_api') });
  try {
    await client.connect();
    return (await client.query('SELECT status FROM runs WHERE id = $1', [runs[name]])).rows[0].status;
  } finally {
    await client.end();
    await server.stop();
  }
}

const readPassword = (dataDir: string): string =>
  JSON.parse(fs.readFileSync(path.join(dataDir, 'keys.json'), 'utf8')).postgresPassword;

/** Reads from the database of worker-api the owners of its tables, and the number of roles left by the restore. */
async function listRoles(dataDir: string) {
  const client = new Client({
    connectionString: (await findRunningPostgres(dataDir, readPassword(dataDir)))?.('worker-api'),
  });
  await client.connect();
  const { rows } = await client.query(`SELECT array_agg(DISTINCT tableowner::text) AS owners,
      (SELECT count(*)::int FROM pg_roles WHERE rolname = 'gantry_restore') AS restoring
    FROM pg_tables WHERE schemaname = 'public'`);
  await client.end();
  return rows;
}

describe('a restore is refused, and leaves nothing behind,', () => {
  const target = path.join(dir, 'refused');
  const corruptCopy = (name: string, change: (bytes: Buffer) => Buffer) => {
    const copy = path.join(dir, name);
    fs.writeFileSync(copy, change(fs.readFileSync(file)));
    return copy;
  };
  const flipByte = (at: (length: number) => number) => (bytes: Buffer) => {
    const index = at(bytes.length);
    bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index);
    return bytes;
  };

  test.each<[string, () => string, RegExp]>([
    [
      'with a file that was cut',
      () => corruptCopy('cut', (bytes) => bytes.subarray(0, bytes.length / 2)),
      /damaged or incomplete/,
    ],
    [
      'with a file without its end',
      () => corruptCopy('short', (bytes) => bytes.subarray(0, -100)),
      /damaged or incomplete/,
    ],
    [
      'with a changed byte',
      () =>
        corruptCopy(
          'flipped',
          flipByte((length) => Math.floor(length * 0.7)),
        ),
      /damaged or incomplete/,
    ],
    ['with another file', () => path.join(checkoutDir, 'package.json'), /damaged or incomplete/],
    ['with no file', () => path.join(dir, 'none'), /ENOENT/],
  ])('%s', async (_, from, problem) => {
    const { code, output } = await restore(target, from());
    expect([code, output]).toEqual([1, expect.stringMatching(problem)]);
    expect(output).not.toContain('FATAL');
    expect(fs.readdirSync(dir).filter((name) => name.startsWith('refused'))).toEqual([]);
  });

  test('with another passphrase', async () => {
    expect(await restore(target, file, 'incorrect horse')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/the passphrase for .* is wrong/),
    });
  });

  const empty = { migrations: [], tables: [], partitions: [], sequences: [] };
  const outside = path.join(dir, 'outside');
  const program = `DEFAULT; COPY (SELECT 1) TO PROGRAM 'touch ${outside}'; --`;
  const table = (columns: string[]) => ({ ...empty, tables: [{ name: '_prisma_migrations', columns }] });
  test.each<[string, RegExp, { shape?: object; secrets?: object; entry?: string }]>([
    ['sealed file of another name', /its files differ from those/, { secrets: { '../outside': 'x' } }],
    [
      'bound that is a statement',
      /partitions\.0\.bound: Invalid/,
      { shape: { ...empty, partitions: [{ name: 'p', parent: 'q', bound: program }] } },
    ],
    ['column that is a statement', /columns\.0: Invalid/, { shape: table([`id) FROM STDIN; ${program}`]) }],
    ['column that no migration makes', /do not create: _prisma_migrations\.o" x/, { shape: table(['id', '"o"" x"']) }],
    ['object outside of the store', /outside the store/, { entry: 'objects/../../outside' }],
    ['object among the keys', /outside the store/, { entry: 'keys.json' }],
    ['rows of another service', /outside the store/, { entry: 'databases/other-api/users/1' }],
  ])('with a hostile backup: a %s', async (what, problem, { shape = empty, secrets = {}, entry }) => {
    const hostile = path.join(dir, `hostile ${what}`);
    const databases = { 'worker-api': shape as DatabaseShape, 'automation-api': empty, 'skills-api': empty };
    const writer = await createBackupFile(hostile, { databases, secrets }, PASSPHRASE);
    if (entry) await writer.add(entry, Buffer.from('x'));
    await writer.finish();
    const { code, output } = await restore(target, hostile);
    expect([code, output]).toEqual([1, expect.stringMatching(problem)]);
    expect(output).not.toContain('FATAL');
    expect(fs.readdirSync(dir).filter((name) => /^(refused|outside)/.test(name))).toEqual([]);
  });

  test('with a backup of a newer version', async () => {
    const newer = path.join(dir, 'newer');
    const shape = { migrations: ['29990101000000_jets'], tables: [], partitions: [], sequences: [] };
    const databases = { 'worker-api': shape, 'automation-api': shape, 'skills-api': shape };
    const writer = await createBackupFile(newer, { databases, secrets: {} }, PASSPHRASE);
    await writer.finish();
    expect(await restore(target, newer)).toMatchObject({
      code: 1,
      output: expect.stringMatching(/newer version of Gantry: worker-api has .*29990101000000_jets/),
    });
  });

  test('over existing data', async () => {
    const there = path.join(dir, 'again');
    const before = fs.readdirSync(there);
    expect(await restore(there, file)).toMatchObject({ code: 1, output: expect.stringContaining('move it elsewhere') });
    expect(fs.readdirSync(there)).toEqual(before);
  });
});
