import { createHash } from 'node:crypto';
import { type RawEntry, rawZip, zipOf } from '@gantry/testing';
import { readArchive as read } from './read-archive';
import { repack } from './repack';

const MB = 1024 * 1024;
const readArchive = (zip: Buffer) => read(zip, 'upload');
const pathsOf = async (zip: Buffer) => (await readArchive(zip)).map(({ path }) => path);

test('files come back in order, with their content and hashes', async () => {
  const files = await readArchive(await zipOf({ 'src/b.py': 'two', 'a.py': 'one' }));
  expect(files.map(({ path }) => path)).toEqual(['a.py', 'src/b.py']);
  expect(files[0]?.content.toString()).toBe('one');
  expect(files[0]?.hash).toBe(createHash('sha256').update('one').digest('hex'));
});

test('caches, repositories and manifests stay out, wherever they lie', async () => {
  const zip = await zipOf({
    'main.py': 'x',
    'manifest.json': '{}',
    'lib/manifest.json': '{}',
    '__pycache__/main.cpython-312.pyc': 'x',
    'lib/__pycache__/a.pyc': 'x',
    '.git/config': 'x',
    'lib/.gitignore': 'kept',
    'manifest.json.py': 'kept',
  });
  expect(await pathsOf(zip)).toEqual(['lib/.gitignore', 'main.py', 'manifest.json.py']);
});

test('directories and stored files are fine', async () => {
  const zip = rawZip([
    { name: 'src/', content: Buffer.alloc(0), method: 0, mode: 0o40755 },
    { name: 'src/main.py', method: 0 },
    { name: 'src/', content: Buffer.alloc(0), method: 0, mode: 0o40755 },
    { name: 'src/more/unmarked.py', mode: 0 },
  ]);
  expect(await pathsOf(zip)).toEqual(['src/main.py', 'src/more/unmarked.py']);
});

const encrypted = 1;
const lying: RawEntry = { name: 'bomb.py', content: Buffer.alloc(2 * MB), size: 10 };
const attacks: [what: string, zip: Buffer, says: RegExp][] = [
  ['nothing at all', Buffer.alloc(0), /not a zip|signature|end of central/i],
  ['something else', Buffer.from('#!/usr/bin/env python3\nprint("hi")\n'.repeat(100)), /signature|central directory/i],
  ['an empty zip', rawZip([]), /holds no files/],
  ['only excluded files', rawZip([{ name: '.git/config' }]), /holds no files/],
  ['a traversal', rawZip([{ name: '../evil.py' }]), /relative path/],
  ['a traversal in the middle', rawZip([{ name: 'a/../../evil.py' }]), /relative path/],
  ['a traversal, encoded once', rawZip([{ name: '%2e%2e/evil.py' }]), /relative path/],
  ['a traversal, encoded twice', rawZip([{ name: '%252e%252e%252fevil.py' }]), /relative path/],
  ['a traversal beside a broken escape', rawZip([{ name: '%zz/%2e%2e/evil.py' }]), /relative path/],
  ['a dot segment', rawZip([{ name: './main.py' }]), /relative path/],
  ['an empty segment', rawZip([{ name: 'a//b.py' }]), /relative path/],
  ['an absolute path', rawZip([{ name: '/etc/passwd' }]), /absolute/],
  ['an absolute path, encoded', rawZip([{ name: '%2fetc/passwd' }]), /absolute/],
  ['a drive letter', rawZip([{ name: 'C:/evil.py' }]), /absolute/],
  ['a backslash', rawZip([{ name: '..\\evil.py' }]), /invalid characters|backslash/],
  ['a NUL', rawZip([{ name: 'main.py\0.txt' }]), /control character/],
  ['a line feed', rawZip([{ name: 'main\n.py' }]), /control character/],
  ['no name', rawZip([{ name: '' }]), /has no name/],
  ['a very long name', rawZip([{ name: `${'a'.repeat(256)}.py` }]), /longer than 255/],
  ['a symbolic link', rawZip([{ name: 'link.py', mode: 0o120777 }]), /link or special/],
  ['a device', rawZip([{ name: 'dev.py', mode: 0o60644 }]), /link or special/],
  ['a named pipe', rawZip([{ name: 'pipe.py', mode: 0o10644 }]), /link or special/],
  ['a link that calls itself a directory', rawZip([{ name: 'link/', mode: 0o120777 }]), /link or special/],
  ['the same name twice', rawZip([{ name: 'a.py' }, { name: 'a.py' }]), /appears twice/],
  ['the same name in another case', rawZip([{ name: 'a.py' }, { name: 'A.PY' }]), /appears twice/],
  ['the same name in another Unicode form', rawZip([{ name: 'é.py' }, { name: 'é.py' }]), /appears twice/],
  ['a file under a file', rawZip([{ name: 'a' }, { name: 'a/b.py' }]), /inside a file/],
  ['a file where a directory is', rawZip([{ name: 'a/b.py' }, { name: 'A' }]), /appears twice/],
  ['an encrypted file', rawZip([{ name: 'a.py', flags: encrypted }]), /encrypted/],
  ['an unusual compression', rawZip([{ name: 'a.py', method: 12 }]), /unusual way/],
  ['a wrong checksum', rawZip([{ name: 'a.py', crc: 1 }]), /checksum/],
  ['a size that is too small', rawZip([lying]), /bytes/],
  ['a size that is too large', rawZip([{ name: 'a.py', size: 99 }]), /bytes/],
  ['a bomb', rawZip([{ name: 'a.py', content: Buffer.alloc(101 * MB) }]), /unpacks to more than 100 MB/],
  [
    'a bomb in pieces',
    rawZip(['a', 'b', 'c'].map((name) => ({ name, content: Buffer.alloc(40 * MB) }))),
    /unpacks to more than 100 MB/,
  ],
  ['too many files', rawZip(Array.from({ length: 2_001 }, (_, i) => ({ name: `f${i}` }))), /more than 2000 entries/],
  ['fewer files than it says', rawZip([{ name: 'a.py' }], { entryCount: 5 }), /./],
  ['a cut-off end', rawZip([{ name: 'a.py' }]).subarray(0, -10), /./],
];

test.each(attacks)('%s is refused', async (_what, zip, says) => {
  await expect(readArchive(zip)).rejects.toMatchObject({
    status: 400,
    code: 'bad_zip',
    fields: [{ path: 'upload', message: expect.stringMatching(says) }],
  });
});

test('a zip whose entries share one bomb is counted by what it unpacks to', async () => {
  const zip = rawZip([{ name: 'a', content: Buffer.alloc(60 * MB) }]);
  const central = zip.indexOf('PK\x01\x02');
  const entry = zip.subarray(central, zip.length - 22);
  const second = Buffer.from(entry);
  second.write('b', second.length - 1);
  const end = Buffer.from(zip.subarray(-22));
  end.writeUInt16LE(2, 8);
  end.writeUInt16LE(2, 10);
  end.writeUInt32LE(entry.length * 2, 12);
  const overlapping = Buffer.concat([zip.subarray(0, central), entry, second, end]);
  await expect(readArchive(overlapping)).rejects.toMatchObject({ detail: expect.stringMatching(/100 MB/) });
});

test('the same files give the same digest, in whatever order and however packed', async () => {
  const one = await repack(await readArchive(await zipOf({ 'a.py': 'one', 'b.py': 'two' })));
  const other = await repack(
    await readArchive(
      rawZip([
        { name: 'b.py', content: Buffer.from('two'), method: 0 },
        { name: 'a.py', content: Buffer.from('one'), mode: 0o100755 },
      ]),
    ),
  );
  expect(other.digest).toBe(one.digest);
  expect(createHash('sha256').update(one.zip).digest('hex')).toBe(one.digest);
  const changed = await repack(await readArchive(await zipOf({ 'a.py': 'one', 'b.py': 'two!' })));
  expect(changed.digest).not.toBe(one.digest);
});
