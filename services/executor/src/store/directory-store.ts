/**
 * Stores directories named by a SHA-256: unpacked code and installed dependencies, each created once and then
 * read-only.
 *
 * A complete directory gets its name by a rename, so a crash never leaves a partial one under a digest.
 * Directories in use are pinned; beyond the size limit the least recently used one is evicted first.
 */
import fs from 'node:fs';
import path from 'node:path';
import { isAbandoned, ownerTag } from '../host/owner-tag';

export interface DirectoryStore {
  readonly directory: string;
  /** Pins an existing directory, or creates it under a keyed mutex per digest. @returns the caller must unpin. */
  pin(digest: string, make: (stagingDirectory: string) => Promise<void>): void | Promise<void>;
  unpin(digest: string): void;
  /** Removes a directory with altered content, unless it is pinned. */
  remove(digest: string): void;
  has(digest: string): boolean;
  bytes(): number;
}

interface Kept {
  bytes: number;
  pins: number;
}

export function openDirectoryStore(directory: string, bytesMax: number): DirectoryStore {
  const final = path.join(directory, 'by-digest');
  const staging = path.join(directory, 'staging');
  for (const each of [final, staging]) fs.mkdirSync(each, { recursive: true, mode: 0o755 });
  for (const name of fs.readdirSync(staging)) {
    if (isAbandoned(name)) fs.rmSync(path.join(staging, name), { recursive: true, force: true });
  }
  /** In order of last use, the least recently used first. */
  const kept = new Map<string, Kept>();
  const making = new Map<string, Promise<void>>();
  let total = 0;

  function keep(digest: string) {
    const entry = { bytes: sizeOf(path.join(final, digest)), pins: 0 };
    kept.set(digest, entry);
    total += entry.bytes;
    return entry;
  }

  const byAge = fs
    .readdirSync(final)
    .map((name) => ({ name, at: fs.statSync(path.join(final, name)).mtimeMs }))
    .sort((a, b) => a.at - b.at);
  for (const { name } of byAge) keep(name);

  function use(digest: string): boolean {
    const entry = kept.get(digest);
    if (!entry) return false;
    kept.delete(digest);
    kept.set(digest, entry);
    entry.pins++;
    return true;
  }

  function evict() {
    for (const digest of kept.keys()) {
      if (total <= bytesMax) return;
      remove(digest);
    }
  }

  function remove(digest: string) {
    const entry = kept.get(digest);
    if (!entry || entry.pins > 0) return;
    kept.delete(digest);
    total -= entry.bytes;
    const doomed = fs.mkdtempSync(path.join(staging, `${ownerTag}-evicted-`));
    fs.renameSync(path.join(final, digest), path.join(doomed, digest));
    fs.promises.rm(doomed, { recursive: true, force: true }).catch(() => {});
  }

  async function makeOnce(digest: string, make: (stagingDirectory: string) => Promise<void>) {
    const stagingDirectory = fs.mkdtempSync(path.join(staging, `${ownerTag}-`));
    fs.chmodSync(stagingDirectory, 0o755);
    try {
      await make(stagingDirectory);
      fs.renameSync(stagingDirectory, path.join(final, digest));
      keep(digest);
    } catch (err) {
      await fs.promises.rm(stagingDirectory, { recursive: true, force: true });
      throw err;
    }
  }

  const store: DirectoryStore = {
    directory: final,
    pin(digest, make) {
      if (use(digest)) return;
      let made = making.get(digest);
      if (!made) {
        made = makeOnce(digest, make).finally(() => making.delete(digest));
        making.set(digest, made);
      }
      return made.then(() => {
        // Another caller's eviction may have come first.
        if (!use(digest)) return store.pin(digest, make);
        evict();
      });
    },
    unpin(digest) {
      const entry = kept.get(digest);
      if (entry) entry.pins--;
    },
    remove,
    has: (digest) => kept.has(digest),
    bytes: () => total,
  };
  return store;
}

function sizeOf(directory: string): number {
  let bytes = 0;
  for (const entry of fs.readdirSync(directory, { recursive: true, withFileTypes: true })) {
    // A small file still occupies a whole block.
    if (entry.isFile()) bytes += Math.max(4_096, fs.statSync(path.join(entry.parentPath, entry.name)).size);
  }
  return bytes;
}
