import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type CraftedEntry, craftZip, zipOf } from './test/zip-fixture';
import { BadZip, ENTRIES_MAX, unpackZip } from './unpack-zip';

let outside: string;
let target: string;
beforeEach(() => {
  outside = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? os.tmpdir(), 'zip-'));
  target = path.join(outside, 'deep', 'target');
  fs.mkdirSync(target, { recursive: true });
});
afterEach(() => fs.rmSync(outside, { recursive: true, force: true }));

const text = Buffer.from('x');
/** Without it names are read as code page 437, which has printable signs in place of control characters. */
const UTF8_NAMES = 0x800;

test('an ordinary zip is unpacked, folders and all', async () => {
  const bytes = await unpackZip(await zipOf({ 'main.py': 'a', 'pkg/sub/__init__.py': 'bc', 'ä ö.txt': '' }), target);
  expect(bytes).toBe(3);
  expect(fs.readFileSync(path.join(target, 'pkg/sub/__init__.py'), 'utf8')).toBe('bc');
  expect(fs.readdirSync(target).sort()).toEqual(['main.py', 'pkg', 'ä ö.txt']);
});

const attacks: [string, CraftedEntry[]][] = [
  ['a parent folder', [{ name: '../evil', data: text }]],
  ['a parent folder further in', [{ name: 'a/../../evil', data: text }]],
  ['an absolute name', [{ name: '/tmp/evil', data: text }]],
  ['a backslash', [{ name: '..\\evil', data: text }]],
  ['a drive letter', [{ name: 'C:evil', data: text }]],
  ['a control character', [{ name: 'a\nb', data: text, flags: UTF8_NAMES }]],
  ['an empty part', [{ name: 'a//b', data: text }]],
  ['a dot part', [{ name: './main.py', data: text }]],
  ['a symbolic link', [{ name: 'link', data: Buffer.from('/etc/passwd'), unixMode: 0o120777 }]],
  ['a device', [{ name: 'dev', data: text, unixMode: 0o020666 }]],
  ['a FIFO', [{ name: 'fifo', data: text, unixMode: 0o010666 }]],
  [
    'two entries of one name',
    [
      { name: 'main.py', data: text },
      { name: 'main.py', data: Buffer.from('y') },
    ],
  ],
  [
    'a file that is also a folder',
    [
      { name: 'a', data: text },
      { name: 'a/b', data: text },
    ],
  ],
  ['an encrypted entry', [{ name: 'main.py', data: text, flags: 1 }]],
  ['a size that lies', [{ name: 'main.py', data: Buffer.alloc(1 << 20), claimedSize: 10 }]],
  ['a very deep path', [{ name: `${'a/'.repeat(40)}b`, data: text }]],
  ['a very long name', [{ name: 'n'.repeat(300), data: text }]],
];

test.each(attacks)('%s is refused, and nothing appears outside', async (_, entries) => {
  await expect(unpackZip(craftZip(entries), target)).rejects.toThrow(BadZip);
  expect(fs.readdirSync(outside)).toEqual(['deep']);
  expect(fs.readdirSync(path.join(outside, 'deep'))).toEqual(['target']);
});

test('a bomb is refused after 100 MB, whatever it claims', async () => {
  const data = Buffer.alloc(30 << 20);
  const entries = [1, 2, 3, 4].map((n) => ({ name: `bomb${n}`, data }));
  await expect(unpackZip(craftZip(entries), target)).rejects.toThrow(/more than 100 MB/);
});

test('too many entries are refused', async () => {
  const entries = Array.from({ length: ENTRIES_MAX + 1 }, (_, n) => ({ name: `f${n}`, data: Buffer.alloc(0) }));
  await expect(unpackZip(craftZip(entries), target)).rejects.toThrow(/more than 2000 entries/);
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['something else', Buffer.from('#!/bin/sh\n'.repeat(10))],
  ['half a zip', craftZip([{ name: 'main.py', data: Buffer.alloc(100) }]).subarray(20)],
])('%s is refused as no zip', async (_, bytes) => {
  await expect(unpackZip(bytes, target)).rejects.toThrow(BadZip);
});
