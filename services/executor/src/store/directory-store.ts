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

export type DirectoryStore = ReturnType<typeof openDirectoryStore>;

interface StoredDirectory {
  bytes: number;
  pins: number;
}

export function openDirectoryStore(directory: string, bytesMax: number) {
  const finalDirectory = path.join(directory, 'by-digest');
  const staging = path.join(directory, 'staging');
  for (const each of [finalDirectory, staging]) fs.mkdirSync(each, { recursive: true, mode: 0o755 });
  for (const name of fs.readdirSync(staging)) {
    if (isAbandoned(name)) fs.rmSync(path.join(staging, name), { recursive: true, force: true });
  }
  /** In order of last use, the least recently used first. */
  const stored = new Map<string, StoredDirectory>();
  const creations = new Map<string, Promise<void>>();
  let total = 0;

  function addDirectory(digest: string) {
    const entry = { bytes: computeSize(path.join(finalDirectory, digest)), pins: 0 };
    stored.set(digest, entry);
    total += entry.bytes;
    return entry;
  }

  const byAge = fs
    .readdirSync(finalDirectory)
    .map((name) => ({ name, at: fs.statSync(path.join(finalDirectory, name)).mtimeMs }))
    .sort((a, b) => a.at - b.at);
  for (const { name } of byAge) addDirectory(name);

  function pinExisting(digest: string): boolean {
    const entry = stored.get(digest);
    if (!entry) return false;
    stored.delete(digest);
    stored.set(digest, entry);
    entry.pins++;
    return true;
  }

  function evict() {
    for (const digest of stored.keys()) {
      if (total <= bytesMax) return;
      removeIfUnpinned(digest);
    }
  }

  function removeIfUnpinned(digest: string) {
    const entry = stored.get(digest);
    if (!entry || entry.pins > 0) return;
    stored.delete(digest);
    total -= entry.bytes;
    const evicted = fs.mkdtempSync(path.join(staging, `${ownerTag}-evicted-`));
    fs.renameSync(path.join(finalDirectory, digest), path.join(evicted, digest));
    fs.promises.rm(evicted, { recursive: true, force: true }).catch(() => {});
  }

  async function createDirectory(digest: string, create: (stagingDirectory: string) => Promise<void>) {
    const stagingDirectory = fs.mkdtempSync(path.join(staging, `${ownerTag}-`));
    fs.chmodSync(stagingDirectory, 0o755);
    try {
      await create(stagingDirectory);
      fs.renameSync(stagingDirectory, path.join(finalDirectory, digest));
      addDirectory(digest);
    } catch (err) {
      await fs.promises.rm(stagingDirectory, { recursive: true, force: true });
      throw err;
    }
  }

  /** Pins an existing directory, or creates it under a keyed mutex per digest. @returns the caller must unpin. */
  function pin(digest: string, create: (stagingDirectory: string) => Promise<void>): void | Promise<void> {
    if (pinExisting(digest)) return;
    let creation = creations.get(digest);
    if (!creation) {
      creation = createDirectory(digest, create).finally(() => creations.delete(digest));
      creations.set(digest, creation);
    }
    return creation.then(() => {
      // Another caller's eviction may have come first.
      if (!pinExisting(digest)) return pin(digest, create);
      evict();
    });
  }

  return {
    directory: finalDirectory,
    pin,
    unpin(digest: string) {
      const entry = stored.get(digest);
      if (entry) entry.pins--;
    },
    /** Removes a directory with altered content, unless it is pinned. */
    remove: removeIfUnpinned,
    has: (digest: string) => stored.has(digest),
    bytes: () => total,
  };
}

function computeSize(directory: string): number {
  let bytes = 0;
  for (const entry of fs.readdirSync(directory, { recursive: true, withFileTypes: true })) {
    // A small file still occupies a whole block.
    if (entry.isFile()) bytes += Math.max(4_096, fs.statSync(path.join(entry.parentPath, entry.name)).size);
  }
  return bytes;
}
