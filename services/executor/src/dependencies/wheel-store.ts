/**
 * Stores installed wheels, one directory for each, from which sets are assembled by hard links.
 *
 * A wheel is installed in a sandbox that sees that wheel alone, and is named by the digest that this process computed:
 * an installation that is exploited by one wheel corrupts that wheel only, for runs that require it. Each file is
 * compared with the digest that it had then before it becomes part of a set.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { DirectoryStore } from '../store/directory-store';

const FILES = 'files';
const MANIFEST = 'manifest.json';
/** Most files are small: read as streams, thousands of them take two to three times the processor time. */
const READ_WHOLE_BYTES_MAX = 256 * 1024;
const BLOCKING_MS_MAX = 5;
/** Changes with the format of the stored files. */
const FORMAT_VERSION = 'wheel 1';

/** SHA-256 by path. */
const manifestSchema = z.record(z.string(), z.string());
type Manifest = z.infer<typeof manifestSchema>;

export function createWheelStore({ store, pythonVersion }: { store: DirectoryStore; pythonVersion: string }) {
  const toStoreKey = (digest: string) =>
    createHash('sha256')
      .update(JSON.stringify([FORMAT_VERSION, pythonVersion, digest]))
      .digest('hex');

  return {
    has: (digest: string): boolean => store.has(toStoreKey(digest)),

    /** Installs the wheel if it is not stored. */
    async prepare(digest: string, install: (directory: string) => Promise<void>): Promise<void> {
      const key = toStoreKey(digest);
      await store.pin(key, createInstaller(install));
      store.unpin(key);
    },

    /**
     * Links the files of a wheel into a set, and installs the wheel if it is not stored or was altered.
     * @param install into the directory, which is empty
     * @throws Error if it left anything but files and directories
     */
    async linkInto(set: string, digest: string, install: (directory: string) => Promise<void>): Promise<void> {
      const key = toStoreKey(digest);
      const createFiles = createInstaller(install);
      const isUsable = await linkWheel(key, set, createFiles);
      if (isUsable) return;
      store.remove(key);
      if (!(await linkWheel(key, set, createFiles))) throw new Error('an installed wheel changed while it was in use');
    },
  };

  async function linkWheel(
    key: string,
    set: string,
    createFiles: (staging: string) => Promise<void>,
  ): Promise<boolean> {
    await store.pin(key, createFiles);
    try {
      return await linkIfUnchanged(path.join(store.directory, key), set);
    } finally {
      store.unpin(key);
    }
  }
}

const createInstaller = (install: (directory: string) => Promise<void>) => async (staging: string) => {
  const files = path.join(staging, FILES);
  fs.mkdirSync(files, { mode: 0o755 });
  await install(files);
  fs.writeFileSync(path.join(staging, MANIFEST), JSON.stringify(await computeDigests(files)));
};

/** @returns false if a file is missing, was added, or differs from what it was */
async function linkIfUnchanged(storedWheel: string, set: string): Promise<boolean> {
  const files = path.join(storedWheel, FILES);
  const expected = await findManifest(storedWheel);
  if (!expected) return false;
  const actual = await computeDigests(files).catch(() => null);
  if (!actual || !isSameManifest(actual, expected)) return false;
  const directories = new Set(Object.keys(expected).map((name) => path.dirname(path.join(set, name))));
  for (const directory of directories) {
    createUnlessExists(() => fs.mkdirSync(directory, { recursive: true, mode: 0o755 }));
  }
  const yieldThread = createEventLoopYield();
  for (const name of Object.keys(expected)) {
    createUnlessExists(() => fs.linkSync(path.join(files, name), path.join(set, name)));
    await yieldThread();
  }
  return true;
}

async function findManifest(wheelDirectory: string): Promise<Manifest | null> {
  try {
    return manifestSchema.parse(JSON.parse(await fs.promises.readFile(path.join(wheelDirectory, MANIFEST), 'utf8')));
  } catch {
    return null;
  }
}

/** Ignores existing paths: if two packages share a path, as a file or as a directory, the first wins. */
function createUnlessExists(create: () => void): void {
  try {
    create();
  } catch (err) {
    const { code = '' } = err as NodeJS.ErrnoException;
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw err;
  }
}

const isSameManifest = (a: Manifest, b: Manifest): boolean => {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
};

async function computeDigests(directory: string): Promise<Manifest> {
  const names = fs.readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return [];
    const name = path.relative(directory, path.join(entry.parentPath, entry.name));
    if (!entry.isFile()) throw new Error(`${name} is neither a file nor a directory`);
    return [name];
  });
  const digests: Manifest = Object.create(null);
  const yieldThread = createEventLoopYield();
  for (const name of names) {
    const file = path.join(directory, name);
    const { size } = fs.lstatSync(file);
    digests[name] = size > READ_WHOLE_BYTES_MAX ? await computeFileDigest(file) : computeSha256(fs.readFileSync(file));
    await yieldThread();
  }
  return digests;
}

/** @returns a function that yields this thread once blocking calls have held it for BLOCKING_MS_MAX */
function createEventLoopYield(): () => Promise<void> | void {
  let startedAt = performance.now();
  return () => {
    if (performance.now() - startedAt < BLOCKING_MS_MAX) return;
    return nextTurn().then(() => {
      startedAt = performance.now();
    });
  };
}

const computeSha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Computes the SHA-256 of a file, hex. */
export async function computeFileDigest(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of fs.createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(piece);
  return hash.digest('hex');
}

/** Handles items, `concurrency` at a time. Rejects with the first failure, once none is under way. */
export async function forEachConcurrently<T>(
  items: T[],
  concurrency: number,
  handle: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const failures: unknown[] = [];
  const worker = async () => {
    for (const item of left) {
      if (failures.length) return;
      await handle(item).catch((err) => failures.push(err));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failures.length) throw failures[0];
}
