import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { waitUntil } from '@gantry/testing';
import { type DirectoryStore, openDirectoryStore } from './directory-store';

let directory: string;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? os.tmpdir(), 'store-'));
});

const KB = 1024;
const createWriter = (bytes: number) => async (staging: string) =>
  fs.writeFileSync(path.join(staging, 'file'), Buffer.alloc(bytes));
async function useDirectory(store: DirectoryStore, digest: string, bytes = 100 * KB) {
  await store.pin(digest, createWriter(bytes));
  store.unpin(digest);
}
const listNames = (store: DirectoryStore) => fs.readdirSync(store.directory).sort();

test('a directory is created once, even for concurrent callers', async () => {
  const store = openDirectoryStore(directory, 1_000 * KB);
  let createdCount = 0;
  const create = async (staging: string) => {
    createdCount++;
    await createWriter(10)(staging);
  };
  await Promise.all([store.pin('a', create), store.pin('a', create), store.pin('a', create)]);
  expect(store.pin('a', create)).toBeUndefined();
  expect(createdCount).toBe(1);
});

test('a failed creation leaves nothing behind, and can be retried', async () => {
  const store = openDirectoryStore(directory, 1_000 * KB);
  const failing = async (staging: string) => {
    await createWriter(10)(staging);
    throw new Error('half-made');
  };
  await expect(store.pin('a', failing)).rejects.toThrow('half-made');
  expect(listNames(store)).toEqual([]);
  expect(fs.readdirSync(path.join(directory, 'staging'))).toEqual([]);
  await useDirectory(store, 'a');
  expect(listNames(store)).toEqual(['a']);
});

test('beyond its size limit the least recently used is evicted, and nothing that is pinned', async () => {
  const store = openDirectoryStore(directory, 250 * KB);
  await store.pin('pinned', createWriter(100 * KB));
  await useDirectory(store, 'old');
  await useDirectory(store, 'new');
  expect(listNames(store)).toEqual(['new', 'pinned']);
  expect(store.bytes()).toBe(200 * KB);
  await waitUntil(() => fs.readdirSync(path.join(directory, 'staging')).length === 0);
});

test('directories are found after a restart; staging directories of a killed process are removed', async () => {
  await useDirectory(openDirectoryStore(directory, 1_000 * KB), 'kept');
  fs.mkdirSync(path.join(directory, 'staging', '999999999-1-abandoned'));
  const again = openDirectoryStore(directory, 1_000 * KB);
  expect(again.has('kept')).toBe(true);
  expect(again.bytes()).toBe(100 * KB);
  expect(fs.readdirSync(path.join(directory, 'staging'))).toEqual([]);
});
