import { buildRawZip, createZip, type RawEntry } from '@gantry/testing';
import { type BadArchiveCode, BadArchiveError } from './bad-archive-error';
import { readZip, type ZipEntry } from './read-zip';

const MB = 1024 * 1024;
const LIMITS = { entries: 10, bytes: 3 * MB };

/** Reads every entry. */
async function readAll(zip: Buffer, limits = LIMITS): Promise<Record<string, Buffer>> {
  const files: Record<string, Buffer> = {};
  for (const entry of await readZip(zip, limits)) {
    if (!entry.isDirectory) files[entry.path] = await entry.content();
  }
  return files;
}

async function collectChunks(entry: ZipEntry | undefined): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const piece of entry?.chunks() ?? []) all.push(piece);
  return all;
}

test('files come back in the order of the archive, with their content and size', async () => {
  const zip = await createZip({ 'src/b.py': 'two', 'a.py': 'one', 'ä ö.txt': '' });
  const entries = await readZip(zip, LIMITS);
  expect(entries.map(({ path, isDirectory, size }) => [path, isDirectory, size])).toEqual([
    ['src/b.py', false, 3],
    ['a.py', false, 3],
    ['ä ö.txt', false, 0],
  ]);
  expect(await readAll(zip)).toEqual({
    'src/b.py': Buffer.from('two'),
    'a.py': Buffer.from('one'),
    'ä ö.txt': Buffer.alloc(0),
  });
});

test('directories, however often they are named, stored files and files without a mode are fine', async () => {
  const directory = { name: 'src/', content: Buffer.alloc(0), method: 0, mode: 0o40755 };
  const zip = buildRawZip([
    directory,
    { name: 'src/main.py', method: 0 },
    directory,
    { name: 'src/more/unmarked.py', mode: 0 },
  ]);
  const entries = await readZip(zip, LIMITS);
  expect(entries.map(({ path, isDirectory }) => [path, isDirectory])).toEqual([
    ['src', true],
    ['src/main.py', false],
    ['src', true],
    ['src/more/unmarked.py', false],
  ]);
  expect(Object.keys(await readAll(zip))).toEqual(['src/main.py', 'src/more/unmarked.py']);
});

test('a large file comes in pieces of at most 1 MB', async () => {
  const content = Buffer.alloc(3 * MB, 'abc');
  const [entry] = await readZip(await createZip({ a: content }), LIMITS);
  const all = await collectChunks(entry);
  expect(Math.max(...all.map(({ length }) => length))).toBeLessThanOrEqual(MB);
  expect(Buffer.concat(all).equals(content)).toBe(true);
});

test('only bytes that are read count toward the limit', async () => {
  const zip = await createZip({ large: Buffer.alloc(4 * MB), small: 'x' });
  const [large, small] = await readZip(zip, LIMITS);
  await expect(large?.content()).rejects.toMatchObject({ code: 'too_large' });
  expect(await small?.content()).toEqual(Buffer.from('x'));
});

const buildDeepPath = (parts: number) => Array.from({ length: parts }, () => 'a').join('/');
const buildZeros = (name: string, bytes: number): RawEntry => ({ name, content: Buffer.alloc(bytes) });
const ENCRYPTED = 1;
const STRONGLY_ENCRYPTED = 0x40;

/** For each rule at least one archive that breaks it and no other. */
const attacks: [what: string, zip: Buffer, code: BadArchiveCode, says: RegExp][] = [
  ['nothing at all', Buffer.alloc(0), 'unreadable', /not a readable zip/],
  ['something else', Buffer.from('#!/usr/bin/env python3\n'.repeat(100)), 'unreadable', /not a readable zip/],
  ['a cut-off end', buildRawZip([{ name: 'a' }]).subarray(0, -10), 'unreadable', /not a readable zip/],
  ['a cut-off beginning', buildRawZip([{ name: 'a' }]).subarray(20), 'unreadable', /not a readable zip/],
  ['fewer entries than it says', buildRawZip([{ name: 'a' }], { entryCount: 5 }), 'unreadable', /not a readable zip/],
  ['a stored size of its own', buildRawZip([{ name: 'a', method: 0, size: 9 }]), 'unreadable', /size mismatch/],

  ['a path that climbs', buildRawZip([{ name: '../evil' }]), 'path', /plain relative path/],
  ['a path that climbs further in', buildRawZip([{ name: 'a/../../evil' }]), 'path', /plain relative path/],
  ['a path that climbs, encoded once', buildRawZip([{ name: '%2e%2e/evil' }]), 'path', /plain relative path/],
  ['a path that climbs, encoded twice', buildRawZip([{ name: '%252e%252e%252fevil' }]), 'path', /plain relative path/],
  [
    'a path that climbs after a broken escape',
    buildRawZip([{ name: '%zz/%2e%2e/evil' }]),
    'path',
    /plain relative path/,
  ],
  ['a dot', buildRawZip([{ name: './main.py' }]), 'path', /plain relative path/],
  ['an empty part', buildRawZip([{ name: 'a//b' }]), 'path', /plain relative path/],
  ['an absolute path', buildRawZip([{ name: '/etc/passwd' }]), 'path', /is absolute/],
  ['an absolute path, encoded', buildRawZip([{ name: '%2fetc/passwd' }]), 'path', /is absolute/],
  ['a drive letter', buildRawZip([{ name: 'C:evil' }]), 'path', /is absolute/],
  ['a backslash', buildRawZip([{ name: 'a\\b' }]), 'path', /backslash/],
  ['a backslash, encoded', buildRawZip([{ name: 'a%5cb' }]), 'path', /backslash/],
  ['a NUL', buildRawZip([{ name: 'main.py\0.txt' }]), 'path', /control character/],
  ['a NUL, encoded', buildRawZip([{ name: 'main.py%00.txt' }]), 'path', /control character/],
  ['a line feed', buildRawZip([{ name: 'main\n.py' }]), 'path', /control character/],
  ['no name', buildRawZip([{ name: '' }]), 'path', /contains no file name/],
  ['a very long name', buildRawZip([{ name: 'a'.repeat(256) }]), 'path', /part longer than 255/],
  ['a very long path', buildRawZip([{ name: Array(5).fill('a'.repeat(250)).join('/') }]), 'path', /longer than 1024/],
  ['a very deep path', buildRawZip([{ name: buildDeepPath(33) }]), 'path', /more than 32 parts/],

  ['one path twice', buildRawZip([{ name: 'a.py' }, { name: 'a.py' }]), 'collision', /appears twice/],
  ['one path in two cases', buildRawZip([{ name: 'a.py' }, { name: 'A.PY' }]), 'collision', /appears twice/],
  [
    'one path in two Unicode forms',
    buildRawZip([{ name: '\u00e9' }, { name: 'e\u0301' }]),
    'collision',
    /appears twice/,
  ],
  [
    'a file in a file',
    buildRawZip([{ name: 'a' }, { name: 'a/b' }]),
    'collision',
    /is inside a directory that is also a file/,
  ],
  ['a file where a directory is', buildRawZip([{ name: 'a/b' }, { name: 'A' }]), 'collision', /appears twice/],
  [
    'a directory where a file is',
    buildRawZip([{ name: 'a' }, { ...buildZeros('a/', 0), mode: 0o40755 }]),
    'collision',
    /appears twice/,
  ],

  ['a symbolic link', buildRawZip([{ name: 'a', mode: 0o120777 }]), 'special_file', /link or a special file/],
  ['a device', buildRawZip([{ name: 'a', mode: 0o60644 }]), 'special_file', /link or a special file/],
  ['a FIFO', buildRawZip([{ name: 'a', mode: 0o10644 }]), 'special_file', /link or a special file/],
  [
    'a link named as a directory',
    buildRawZip([{ name: 'a/', mode: 0o120777 }]),
    'special_file',
    /link or a special file/,
  ],
  [
    'a directory named as a file',
    buildRawZip([{ name: 'a', mode: 0o40755 }]),
    'special_file',
    /link or a special file/,
  ],
  ['a directory with content', buildRawZip([{ name: 'a/', mode: 0o40755 }]), 'special_file', /has content/],

  ['an encrypted file', buildRawZip([{ name: 'a', flags: ENCRYPTED }]), 'encrypted', /is encrypted/],
  ['a strongly encrypted file', buildRawZip([{ name: 'a', flags: STRONGLY_ENCRYPTED }]), 'unreadable', /encryption/],
  ['an unusual compression', buildRawZip([{ name: 'a', method: 12 }]), 'compression', /compression method \(12\)/],
  ['a ratio that no content has', buildRawZip([{ name: 'a', size: 2 * MB }]), 'compression', /impossible/],

  ['a wrong checksum', buildRawZip([{ name: 'a', crc: 1 }]), 'damaged', /checksum/],
  ['a wrong checksum of a large file', buildRawZip([{ ...buildZeros('a', 2 * MB), crc: 1 }]), 'damaged', /checksum/],
  ['a wrong checksum of a stored file', buildRawZip([{ name: 'a', method: 0, crc: 1 }]), 'damaged', /checksum/],
  ['a size that is too small', buildRawZip([{ ...buildZeros('a', 2 * MB), size: 10 }]), 'damaged', /declared 10 bytes/],
  [
    'a large size that is too small',
    buildRawZip([{ ...buildZeros('a', 3 * MB), size: 2 * MB }]),
    'damaged',
    /2097152 bytes/,
  ],
  ['a size that is too large', buildRawZip([{ name: 'a', size: 99 }]), 'damaged', /declared 99 bytes/],
  ['content that is no DEFLATE', corruptContent(buildRawZip([{ name: 'a' }])), 'damaged', /declared 1 bytes/],

  ['a bomb', buildRawZip([buildZeros('a', 4 * MB)]), 'too_large', /unpacks to more than 3 MB/],
  ['a bomb in pieces', buildRawZip([buildZeros('a', 2 * MB), buildZeros('b', 2 * MB)]), 'too_large', /more than 3 MB/],
  ['entries that share one bomb', addSecondName(buildRawZip([buildZeros('a', 2 * MB)])), 'too_large', /more than 3 MB/],
  [
    'too many entries',
    buildRawZip(Array.from({ length: 11 }, (_, n) => buildZeros(`${n}/`, 0))),
    'too_many_entries',
    /more than 10 entries/,
  ],
];

test.each(attacks)('%s is refused', async (_what, zip, code, says) => {
  const err = await readAll(zip).catch((err) => err);
  expect(err).toBeInstanceOf(BadArchiveError);
  expect(err).toMatchObject({ code, message: expect.stringMatching(says) });
});

test.each([
  ['a path', buildRawZip([{ name: 'a' }, { name: '../evil' }]), '../evil'],
  ['a collision', buildRawZip([{ name: 'a' }, { name: 'A' }]), 'A'],
  ['damage', buildRawZip([{ name: 'a' }, { name: 'b', crc: 1 }]), 'b'],
  ['the end of the archive', buildRawZip([{ name: 'a' }]).subarray(0, -10), undefined],
])('the error of %s names the entry at fault', async (_what, zip, entry) => {
  await expect(readAll(zip)).rejects.toMatchObject({ entry });
});

test('an archive whose last entry breaks a rule is not unpacked at all', async () => {
  await expect(readZip(buildRawZip([{ name: 'a' }, { name: '../evil' }]), LIMITS)).rejects.toMatchObject({
    code: 'path',
  });
});

test('a file yields no more bytes than it declares', async () => {
  const [entry] = await readZip(buildRawZip([{ ...buildZeros('a', 8 * MB), size: 2 * MB }]), LIMITS);
  let passedOn = 0;
  const reading = async () => {
    for await (const piece of entry?.chunks() ?? []) passedOn += piece.length;
  };
  await expect(reading()).rejects.toMatchObject({ code: 'damaged' });
  expect(passedOn).toBeLessThanOrEqual(2 * MB);
});

test('inflating a file that exceeds its declared small size stops at that size', async () => {
  const [entry] = await readZip(buildRawZip([{ ...buildZeros('a', 8 * MB), size: 10 }]), LIMITS);
  await expect(entry?.content()).rejects.toMatchObject({ code: 'damaged', cause: { code: 'ERR_BUFFER_TOO_LARGE' } });
});

test('a path of 32 parts is fine, and so is content that could hardly be smaller', async () => {
  expect(Object.keys(await readAll(buildRawZip([{ name: buildDeepPath(32) }, buildZeros('zeros', 2 * MB)])))).toEqual([
    buildDeepPath(32),
    'zeros',
  ]);
});

/** Turns the first file's content, one byte, into a block of a type that DEFLATE does not have. */
function corruptContent(zip: Buffer): Buffer {
  const content = 30 + zip.readUInt16LE(26);
  zip[content] = 0xff;
  return zip;
}

/** Adds a second name, `b`, for the content of the only entry. */
function addSecondName(zip: Buffer): Buffer {
  const central = zip.indexOf('PK\x01\x02');
  const entry = zip.subarray(central, zip.length - 22);
  const second = Buffer.from(entry);
  second.write('b', second.length - 1);
  const end = Buffer.from(zip.subarray(-22));
  end.writeUInt16LE(2, 8);
  end.writeUInt16LE(2, 10);
  end.writeUInt32LE(entry.length * 2, 12);
  return Buffer.concat([zip.subarray(0, central), entry, second, end]);
}
