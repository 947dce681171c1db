import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { waitUntil } from '@gantry/testing';
import { pack } from 'tar-stream';
import { createBackupFile, openBackupFile } from './backup-file';
import type { DatabaseShape } from './database-copy';

const PASSPHRASE = 'correct horse battery staple';
const shape: DatabaseShape = { migrations: [], tables: [], partitions: [], sequences: [] };
const databases = { 'worker-api': shape, 'automation-api': shape, 'skills-api': shape };
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-backup-file-'));
afterAll(() => fs.rmSync(dir, { recursive: true }));

async function readWhole(file: string): Promise<void> {
  const { readEntries } = await openBackupFile(file, async () => PASSPHRASE);
  for await (const { content } of readEntries())
    for await (const chunk of content) expect(chunk.length).toBeGreaterThan(0);
}

test.each([0.2, 0.5, 0.8])(
  'one changed byte inside a large entry is reported as damage, at %d of the file',
  async (place) => {
    const file = path.join(dir, `changed-${place}`);
    const backup = await createBackupFile(file, { databases, secrets: {} }, PASSPHRASE);
    await backup.add('objects/large', Buffer.from(randomBytes(1 << 20).toString('hex')));
    await backup.finish();
    await readWhole(file);
    const bytes = fs.readFileSync(file);
    const index = Math.floor(bytes.length * place);
    fs.writeFileSync(file, bytes.fill((bytes[index] ?? 0) ^ 1, index, index + 1));
    await expect(readWhole(file)).rejects.toThrow(/damaged or incomplete/);
  },
);

test('an entry whose name would fill the memory is refused', async () => {
  const file = path.join(dir, 'long-name');
  const tar = pack();
  const written = pipeline(tar, createGzip(), fs.createWriteStream(file));
  tar.entry({ name: 'a'.repeat(64 << 20) }, 'content');
  tar.finalize();
  await written;
  expect(fs.statSync(file).size).toBeLessThan(1 << 20);
  await expect(readWhole(file)).rejects.toThrow(/the name of an entry is too long/);
});

const BACKUP_WITHOUT_END = `
  const [built, file] = process.argv.slice(1);
  const { createBackupFile } = require(built);
  (async () => {
    const backup = await createBackupFile(file, { databases: JSON.parse(process.env.DATABASES), secrets: {} }, 'a passphrase');
    for (;;) {
      await backup.add('objects/endless', require('node:crypto').randomBytes(1 << 20));
      process.stdout.write('.');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
`;

/** @returns the file that it writes, and how to kill it */
async function startBackup(file: string): Promise<{ partial: string; kill(): Promise<void> }> {
  const built = path.join(__dirname, '../../dist/backup/backup-file.js');
  const env = { ...process.env, DATABASES: JSON.stringify(databases) };
  const child = spawn(process.execPath, ['-e', BACKUP_WITHOUT_END, built, file], { env, stdio: ['ignore', 'pipe', 2] });
  const ended = once(child, 'exit');
  const partial = `${file}.${child.pid}.partial`;
  await waitUntil(() => fs.statSync(partial).size > 1 << 20, { what: 'it writes' });
  return {
    partial,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const age = (file: string) => fs.utimesSync(file, 0, 0);

test('a backup removes the leftovers of killed ones, and nothing of a running one, here or elsewhere', async () => {
  const beside = fs.mkdtempSync(path.join(dir, 'beside-'));
  const file = (name: string) => path.join(beside, name);
  const [same, old, recent, running] = await Promise.all(
    ['today', 'old', 'recent', 'running'].map((name) => startBackup(file(name))),
  );
  for (const killed of [same, old, recent]) await killed?.kill();
  age(old?.partial as string);
  const pidOfKilled = /(\d+)\.partial$/.exec(old?.partial as string)?.[1];
  const foreign = file(`download.${pidOfKilled}.partial`);
  fs.writeFileSync(foreign, 'of another program');
  age(foreign);

  const backup = await createBackupFile(file('today'), { databases, secrets: {} }, PASSPHRASE);
  await backup.finish();
  const left = fs.readdirSync(beside);
  await running?.kill();
  const expected = [recent?.partial, running?.partial, foreign, file('today')];
  expect(left.sort()).toEqual(expected.map((one) => path.basename(one as string)).sort());
});

test('a device, which cannot be read twice, is refused', async () => {
  await expect(readWhole('/dev/null')).rejects.toThrow('not a regular file');
});
