/**
 * Objects as files of one directory, with the platform's own presigned URLs: see signed-url.ts and storage-routes.ts.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { unavailable } from '@gantry/errors';
import {
  assertExpiry,
  assertKey,
  ObjectMissingError,
  type ObjectStore,
  type PresignGet,
  readAll,
  throwStoreError,
  toStoreError,
} from './object-store';
import { type Grant, signGrant } from './signed-url';

export interface FileStoreOptions {
  directory: string;
  /** HMAC key of presigned URLs; the same on every replica. */
  signingKey: string;
  /** Address of the service that mounts createStorageRoutes, without a trailing slash. */
  publicUrl: string;
  internalUrl: string;
}

export interface FileStore extends ObjectStore {
  readonly driver: 'file';
  readonly signingKey: string;
  getPath(key: string): string;
  /** Stores a sparse object in place of an upload that was refused for its size, which shows the reason. */
  putSparse(key: string, size: number): Promise<void>;
}

export function createFileStore(options: FileStoreOptions): FileStore {
  const root = path.resolve(options.directory);
  const partial = path.join(root, '.partial');

  function getPath(key: string): string {
    assertKey(key);
    return path.join(root, ...key.split('/'));
  }

  /** Atomic for readers: written to a temporary file, synced, and renamed. */
  async function put(key: string, body: Buffer | Readable): Promise<void> {
    const target = getPath(key);
    const aside = path.join(partial, randomBytes(12).toString('hex'));
    try {
      await mkdir(partial, { recursive: true });
      const file = await open(aside, 'wx', 0o600);
      try {
        for await (const chunk of Buffer.isBuffer(body) ? [body] : body) await file.writeFile(chunk);
        await file.datasync();
      } finally {
        await file.close();
      }
      await mkdir(path.dirname(target), { recursive: true });
      await rename(aside, target);
    } catch (err) {
      await rm(aside, { force: true }).catch(() => {});
      throw toStoreError(err);
    }
  }

  async function putSparse(key: string, size: number): Promise<void> {
    const target = getPath(key);
    await mkdir(path.dirname(target), { recursive: true }).catch(throwStoreError);
    const file = await open(target, 'wx', 0o600).catch((err: NodeJS.ErrnoException) => {
      if (err.code !== 'EEXIST') throw toStoreError(err);
    });
    // Sparse: it takes no room on the disk.
    await file?.truncate(size).finally(() => file.close());
  }

  async function head(key: string): Promise<{ size: number } | null> {
    const found = await stat(getPath(key)).catch(nullIfMissing);
    if (!found) await assertDirectory();
    return found?.isFile() ? { size: found.size } : null;
  }

  /** Below a root that is no directory everything seems missing. */
  async function assertDirectory(): Promise<void> {
    const found = await stat(root).catch(nullIfMissing);
    if (found && !found.isDirectory()) throw unavailable('the object store', new Error(`${root} is not a directory`));
  }

  async function get(key: string): Promise<Readable> {
    if (!(await head(key))) throw new ObjectMissingError(key);
    const file = await open(getPath(key)).catch(throwStoreError);
    return file.createReadStream();
  }

  function presign(
    grant: Omit<Grant, 'expires'>,
    { expiresSeconds, audience }: Pick<PresignGet, 'expiresSeconds' | 'audience'>,
  ): string {
    assertKey(grant.key);
    assertExpiry(expiresSeconds);
    const expires = Math.floor(Date.now() / 1000) + expiresSeconds;
    const baseUrl = audience === 'public' ? options.publicUrl : options.internalUrl;
    return `${baseUrl}${signGrant(options.signingKey, { ...grant, expires })}`;
  }

  return {
    driver: 'file',
    signingKey: options.signingKey,
    getPath,
    put,
    putSparse,
    head,
    get,
    getBuffer: async (key, maxBytes) => readAll(key, await get(key), maxBytes),
    delete: (key) => rm(getPath(key), { force: true }).catch(throwStoreError),
    deleteFolder: async (folder) => rm(getPath(folder), { recursive: true, force: true }).catch(throwStoreError),
    check: async () => {
      const probe = path.join(partial, randomBytes(12).toString('hex'));
      await mkdir(partial, { recursive: true });
      // A full disk still takes an empty file.
      await writeFile(probe, 'probe', { mode: 0o600 }).finally(() => rm(probe, { force: true }));
    },
    presignPut: async (key, { sizeMax, contentType, ...rest }) =>
      presign({ method: 'PUT', key, sizeMax, contentType }, rest),
    presignGet: async (key, { filename, contentType, ...rest }) =>
      presign({ method: 'GET', key, filename, contentType }, rest),
  };
}

function nullIfMissing(err: NodeJS.ErrnoException): null {
  if (err.code === 'ENOENT' || err.code === 'ENOTDIR') return null;
  throw toStoreError(err);
}
