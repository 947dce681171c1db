import { createHash } from 'node:crypto';
import { buildRawZip, createZip } from '@gantry/testing';
import { packFiles } from './pack-files';
import { readArchive as read } from './read-archive';

const MB = 1024 * 1024;
const readUpload = (zip: Buffer) => read(zip, 'upload');
const listPaths = async (zip: Buffer) => (await readUpload(zip)).map(({ path }) => path);

test('files come back in order, with their content and hashes', async () => {
  const files = await readUpload(await createZip({ 'src/b.py': 'two', 'a.py': 'one' }));
  expect(files.map(({ path }) => path)).toEqual(['a.py', 'src/b.py']);
  expect(files[0]?.content.toString()).toBe('one');
  expect(files[0]?.hash).toBe(createHash('sha256').update('one').digest('hex'));
});

test('directories, caches and repositories are excluded at any depth, manifests at the root', async () => {
  const zip = buildRawZip(
    [
      { name: 'lib/', content: Buffer.alloc(0), mode: 0o40755 },
      ...['main.py', 'manifest.json', 'lib/manifest.json', '__pycache__/main.cpython-312.pyc', 'lib/__pycache__/a.pyc'],
      ...['.git/config', 'lib/.gitignore', 'manifest.json.py'],
    ].map((entry) => (typeof entry === 'string' ? { name: entry } : entry)),
  );
  expect(await listPaths(zip)).toEqual(['lib/.gitignore', 'lib/manifest.json', 'main.py', 'manifest.json.py']);
});

test.each<[string, Buffer, RegExp]>([
  ['no zip', Buffer.from('no zip'), /not a readable zip/],
  ['an empty zip', buildRawZip([]), /contains no files/],
  ['only excluded files', buildRawZip([{ name: '.git/config' }]), /contains no files/],
  ['a hostile zip', buildRawZip([{ name: '../evil.py' }]), /plain relative path/],
  ['more than 100 MB', buildRawZip([{ name: 'a.py', content: Buffer.alloc(101 * MB) }]), /unpacks to more than 100 MB/],
  [
    'too many files',
    buildRawZip(Array.from({ length: 2_001 }, (_, i) => ({ name: `f${i}` }))),
    /more than 2000 entries/,
  ],
])('%s is rejected with an error on the field', async (_what, zip, says) => {
  await expect(readUpload(zip)).rejects.toMatchObject({
    status: 400,
    code: 'bad_zip',
    fields: [{ path: 'upload', message: expect.stringMatching(says) }],
  });
});

test('the same files give the same digest, whatever their order and compression', async () => {
  const one = await packFiles(await readUpload(await createZip({ 'a.py': 'one', 'b.py': 'two' })));
  const other = await packFiles(
    await readUpload(
      buildRawZip([
        { name: 'b.py', content: Buffer.from('two'), method: 0 },
        { name: 'a.py', content: Buffer.from('one'), mode: 0o100755 },
      ]),
    ),
  );
  expect(other.digest).toBe(one.digest);
  expect(createHash('sha256').update(one.zip).digest('hex')).toBe(one.digest);
  const changed = await packFiles(await readUpload(await createZip({ 'a.py': 'one', 'b.py': 'two!' })));
  expect(changed.digest).not.toBe(one.digest);
});
