/** Archives that were put together by an attacker, or out of backups of two installations. */
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { createTemporaryDir } from '@gantry/testing';
import { extract, type Headers, pack } from 'tar-stream';
import { checkoutDir } from '../dirs/shared-dir';
import { runProgram } from '../test/launched-platform';
import { createBackupFile } from './backup-file';

const PASSPHRASE = 'correct horse battery staple';
const main = path.join(checkoutDir, 'packages/platform/dist/backup/backup-main.js');
const dir = createTemporaryDir('foreign-archives');
const target = path.join(dir, 'refused');

interface Entry {
  header: Headers;
  content: Buffer;
}

/** @returns the entries of a backup with one object, whose sealed keys name its installation */
async function createEntries(installation: string): Promise<Entry[]> {
  const file = path.join(dir, `${installation}.backup`);
  const empty = { migrations: [], tables: [], partitions: [], sequences: [] };
  const databases = { 'worker-api': empty, 'automation-api': empty, 'skills-api': empty };
  const secrets = { 'sample.json': JSON.stringify({ installation }) };
  const writer = await createBackupFile(file, { databases, secrets }, PASSPHRASE);
  await writer.add('objects/object', Buffer.alloc(0));
  await writer.finish();

  const tar = extract();
  const reading = pipeline(fs.createReadStream(file), createGunzip(), tar);
  const entries: Entry[] = [];
  for await (const entry of tar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    entries.push({ header: entry.header, content: Buffer.concat(chunks) });
  }
  await reading;
  fs.rmSync(file);
  return entries;
}

async function writeArchive(name: string, entries: Entry[]): Promise<string> {
  const tar = pack();
  const file = path.join(dir, name);
  const written = pipeline(tar, createGzip(), fs.createWriteStream(file));
  for (const { header, content } of entries)
    tar.entry({ name: header.name, type: header.type, linkname: header.linkname }, content);
  tar.finalize();
  await written;
  return file;
}

/** @param at index of the entry that becomes a link */
async function writeWithLink(type: Headers['type'], at: number): Promise<string> {
  const entries = await createEntries('linked');
  const entry = entries[at] as Entry;
  entries[at] = { header: { ...entry.header, type, linkname: path.join(dir, 'outside') }, content: Buffer.alloc(0) };
  return writeArchive(`${type} at ${at}`, entries);
}

async function expectRefusal(file: string, problem: RegExp): Promise<void> {
  const command = [process.execPath, main, 'restore', file];
  const { code, output } = await runProgram(target, command, { GANTRY_BACKUP_PASSPHRASE: PASSPHRASE });
  expect([code, output]).toEqual([1, expect.stringMatching(problem)]);
  expect(output).not.toMatch(/FATAL|ERROR|error: /);
}

const listLeftovers = () => fs.readdirSync(dir).filter((name) => /^(refused|outside)/.test(name));

test('an archive that is repacked unchanged is restored', async () => {
  const entries = await createEntries('whole');
  const command = [process.execPath, main, 'restore', await writeArchive('whole', entries)];
  const { code, output } = await runProgram(target, command, { GANTRY_BACKUP_PASSPHRASE: PASSPHRASE });
  expect([code, output]).toEqual([0, expect.stringContaining('has been restored')]);
  expect(output).not.toMatch(/FATAL|ERROR|error: /);
  fs.rmSync(target, { recursive: true });
});

test.each(['symlink', 'link', 'character-device', 'fifo', 'directory'] as const)(
  'a %s among the objects is refused, and nothing is restored',
  async (type) => {
    await expectRefusal(
      await writeWithLink(type, 2),
      new RegExp(`contains a ${type}, "objects/object".*nothing was restored`),
    );
    expect(listLeftovers()).toEqual([]);
  },
);

test.each([
  [0, 'backup.json'],
  [1, 'keys'],
])('a link at the start is refused: %s', async (at, name) => {
  await expectRefusal(await writeWithLink('symlink', at), new RegExp(`contains a symlink, "${name}"`));
  expect(listLeftovers()).toEqual([]);
});

test.each<[string, number[], RegExp]>([
  ['the sealed keys', [1], /the passphrase for .* is wrong, or the beginning of the file is damaged/],
  ['the contents and the sealed keys', [0, 1], /changed since it was written.*nothing was restored/],
  ['the objects', [2, 3], /changed since it was written.*nothing was restored/],
])(
  '%s of another installation under the same passphrase are refused, and an empty directory stays empty',
  async (what, indexes, problem) => {
    const [own, other] = [await createEntries('own'), await createEntries('other')];
    const mixed = own.map((entry, at) => (indexes.includes(at) ? (other[at] as Entry) : entry));
    fs.mkdirSync(target);
    await expectRefusal(await writeArchive(`mixed ${what}`, mixed), problem);
    expect(listLeftovers()).toEqual(['refused']);
    expect(fs.readdirSync(target)).toEqual([]);
    fs.rmdirSync(target);
  },
);
