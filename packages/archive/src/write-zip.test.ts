import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { waitUntil } from '@gantry/testing';
import { readZip } from './read-zip';
import { streamZip, writeZip } from './write-zip';

const LIMITS = { entries: 10, bytes: 1024 * 1024 };
const buildFile = (path: string, content: string) => ({ path, content: Buffer.from(content) });
const AT = new Date('2026-01-02T03:04:05Z');

async function readFiles(zip: Buffer): Promise<[path: string, content: string][]> {
  const files: [string, string][] = [];
  for (const entry of await readZip(zip, LIMITS)) files.push([entry.path, (await entry.content()).toString()]);
  return files;
}

test('the same files give the same bytes, whenever they are written', async () => {
  const files = [buildFile('main.py', 'one'), buildFile('deep/ä.txt', '')];
  const zip = await writeZip(files);
  expect(await readFiles(zip)).toEqual([
    ['main.py', 'one'],
    ['deep/ä.txt', ''],
  ]);
  expect((await writeZip(files)).equals(zip)).toBe(true);
  // Stored digests depend on exactly these bytes.
  expect(
    createHash('sha256')
      .update(await writeZip([buildFile('a.py', 'x')]))
      .digest('hex'),
  ).toBe('1b9e3b3402326792d90075cea74e48a82fb56e4f7c79028b1b018aa139d09a26');
});

test('streams are opened one after the other, each when its turn comes', async () => {
  const opened: string[] = [];
  const first = new PassThrough();
  const stream = (path: string, source: Readable) => ({
    path,
    open: async () => {
      opened.push(path);
      return source;
    },
  });
  const zip = buffer(
    streamZip([buildFile('a', 'A'), stream('b', first), { ...stream('c', Readable.from(['C'])), compress: false }], AT),
  );
  await waitUntil(() => opened.length > 0);
  expect(opened).toEqual(['b']);
  first.end('B');
  expect(await readFiles(await zip)).toEqual([
    ['a', 'A'],
    ['b', 'B'],
    ['c', 'C'],
  ]);
  expect(opened).toEqual(['b', 'c']);
});

test('a file that cannot be opened or read to its end fails only its zip', async () => {
  const noOpen = { path: 'b', open: () => Promise.reject(new Error('missing')) };
  await expect(buffer(streamZip([buildFile('a', 'A'), noOpen], AT))).rejects.toThrow('missing');
  const source = new PassThrough();
  const zip = buffer(streamZip([{ path: 'a', open: async () => source }], AT));
  source.write('half');
  source.destroy(new Error('connection lost'));
  await expect(zip).rejects.toThrow('connection lost');
});

test('when the reader disconnects, the open file is closed and no other is opened', async () => {
  const source = new PassThrough();
  const opened: string[] = [];
  const stream = (path: string) => ({
    path,
    open: async () => {
      opened.push(path);
      return source;
    },
  });
  const zip = streamZip([stream('a'), buildFile('b', 'B'), stream('c')], AT);
  zip.resume();
  await waitUntil(() => opened.length > 0);
  zip.destroy();
  await waitUntil(() => source.destroyed);
  expect(opened).toEqual(['a']);
});
