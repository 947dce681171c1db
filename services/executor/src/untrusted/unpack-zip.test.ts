import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BadArchiveError } from '@gantry/archive';
import { buildRawZip, createZip } from '@gantry/testing';
import { checkZip, unpackZip } from './unpack-zip';

let outside: string;
let target: string;
beforeEach(() => {
  outside = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? os.tmpdir(), 'zip-'));
  target = path.join(outside, 'deep', 'target');
  fs.mkdirSync(target, { recursive: true });
});
afterEach(() => fs.rmSync(outside, { recursive: true, force: true }));

test('an ordinary zip is unpacked with its folders into read-only files', async () => {
  const zip = await createZip({
    'main.py': 'a',
    'pkg/sub/__init__.py': 'bc',
    'ä ö.txt': '',
    large: Buffer.alloc(3 << 20, 'x'),
  });
  await checkZip(zip);
  await unpackZip(zip, target);
  expect(fs.readFileSync(path.join(target, 'pkg/sub/__init__.py'), 'utf8')).toBe('bc');
  expect(fs.readFileSync(path.join(target, 'large')).equals(Buffer.alloc(3 << 20, 'x'))).toBe(true);
  expect(fs.readdirSync(target).sort()).toEqual(['large', 'main.py', 'pkg', 'ä ö.txt']);
  expect(fs.statSync(path.join(target, 'main.py')).mode & 0o777).toBe(0o444);
});

test('a directory without files is created', async () => {
  await unpackZip(buildRawZip([{ name: 'empty/', content: Buffer.alloc(0), mode: 0o40755 }]), target);
  expect(fs.readdirSync(target)).toEqual(['empty']);
});

const buildBomb = () => [1, 2, 3, 4].map((n) => ({ name: `bomb${n}`, content: Buffer.alloc(30 << 20) }));
const buildManyEntries = () => Array.from({ length: 2_001 }, (_, n) => ({ name: `f${n}`, content: Buffer.alloc(0) }));

test.each<[string, () => Buffer, RegExp]>([
  ['a parent folder', () => buildRawZip([{ name: 'a' }, { name: '../evil' }]), /plain relative path/],
  ['an absolute name', () => buildRawZip([{ name: '/tmp/evil' }]), /is absolute/],
  ['a symbolic link', () => buildRawZip([{ name: 'link', mode: 0o120777 }, { name: 'link/evil' }]), /a link/],
  [
    'a file that is also a folder',
    () => buildRawZip([{ name: 'a' }, { name: 'a/b' }]),
    /inside a directory that is also a file/,
  ],
  ['two names that are one file elsewhere', () => buildRawZip([{ name: 'a' }, { name: 'A' }]), /appears twice/],
  ['a wrong checksum', () => buildRawZip([{ name: 'main.py', crc: 1 }]), /checksum/],
  ['a bomb of 120 MB', () => buildRawZip(buildBomb()), /more than 100 MB/],
  ['more than 2,000 entries', () => buildRawZip(buildManyEntries()), /more than 2000 entries/],
  ['something else', () => Buffer.from('#!/bin/sh\n'.repeat(10)), /not a readable zip/],
])('%s is rejected, by the check and while unpacking, and nothing is written outside', async (_, build, says) => {
  const zip = build();
  for (const err of [await checkZip(zip).catch((err) => err), await unpackZip(zip, target).catch((err) => err)]) {
    expect(err).toBeInstanceOf(BadArchiveError);
    expect(err.message).toMatch(says);
  }
  expect(fs.readdirSync(outside)).toEqual(['deep']);
  expect(fs.readdirSync(path.join(outside, 'deep'))).toEqual(['target']);
});

test('a file system error is not reported as a bad zip', async () => {
  fs.writeFileSync(path.join(target, 'a'), '');
  await expect(unpackZip(await createZip({ 'a/b': 'x' }), target)).rejects.not.toBeInstanceOf(BadArchiveError);
});
