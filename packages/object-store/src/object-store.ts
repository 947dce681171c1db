/** Storage for data too large for a row or a message. Keys start with the workspace: `ws_.../uploads/...`. */
import type { Readable } from 'node:stream';
import { AppError, unavailable } from '@gantry/errors';

/** Each method that reaches the store throws AppError 503 while that is down, full, read-only or denies access. */
export interface ObjectStore {
  put(key: string, body: Buffer | Readable, options?: { contentType?: string }): Promise<void>;
  /** @throws ObjectMissingError */
  get(key: string): Promise<Readable>;
  /** @throws ObjectMissingError, ObjectTooLargeError */
  getBuffer(key: string, maxBytes: number): Promise<Buffer>;
  head(key: string): Promise<{ size: number } | null>;
  /** Idempotent: deleting a missing object succeeds. */
  delete(key: string): Promise<void>;
  /** Deletes every object whose key starts with `<folder>/`, such as all of a workspace. */
  deleteFolder(folder: string): Promise<void>;
  presignPut(key: string, options: PresignPut): Promise<string>;
  presignGet(key: string, options: PresignGet): Promise<string>;
  /** Rejects while the store is unavailable or can't be written; S3 is written every 30 s at most. */
  check(): Promise<void>;
}

/** The user of the URL: a browser or client through the gateway, or an executor inside. */
export type Audience = 'public' | 'internal';

export interface PresignPut {
  /**
   * Bytes. The file driver enforces it while streaming; S3 cannot bind a size to a PUT, so the reader of an upload
   * checks `head` first.
   */
  sizeMax: number;
  contentType?: string;
  /** At most EXPIRES_SECONDS_MAX. */
  expiresSeconds: number;
  audience: Audience;
}

export interface PresignGet {
  expiresSeconds: number;
  audience: Audience;
  /** File name for the browser's download. */
  filename?: string;
  contentType?: string;
}

export const EXPIRES_SECONDS_MAX = 600;

/** Reports an object that a row names and the store has lost: 410, unless the reader knows more. */
export class ObjectMissingError extends AppError {
  constructor(readonly key: string) {
    super('gone', 'content_missing', 'the object store has lost this content; other records of it are intact', {
      cause: new Error(`no object ${key}`),
    });
    this.name = 'ObjectMissingError';
  }
}

/** Codes of a disk that is full, read-only, broken, not ours, or whose directory is none. */
const DISK_DOWN = /^(ENOSPC|EDQUOT|EROFS|EACCES|EPERM|EIO|ENOTDIR)$/;

/** Names of S3's errors, and of its client's, for a bucket that can't be used by whatever request. */
const BUCKET_DOWN = /^(NoSuchBucket|CredentialsProviderError|ExpiredToken)$/;

/** 503 for a store that is down, full, read-only or denies access; any other error as it is. */
export function toStoreError(err: unknown): unknown {
  const { code, name, $metadata } = err as { code?: unknown; name?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? 0;
  const isDown =
    (typeof code === 'string' && DISK_DOWN.test(code)) ||
    BUCKET_DOWN.test(name ?? '') ||
    status === 403 ||
    status >= 500;
  return isDown ? unavailable('the object store', err) : err;
}

/** For `catch` of a promise. */
export function throwStoreError(err: unknown): never {
  throw toStoreError(err);
}

export class ObjectTooLargeError extends Error {
  constructor(
    readonly key: string,
    readonly maxBytes: number,
  ) {
    super(`object ${key} is larger than ${maxBytes} bytes`);
    this.name = 'ObjectTooLargeError';
  }
}

const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}(\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}){0,7}$/;

/** No segment starts with a dot, so none is `.` or `..`, and none collides with the file driver's `.partial`. */
export const isKey = (key: string): boolean => KEY.test(key);

/** @throws Error: keys are made by services, never by callers, so an invalid one is a bug. */
export function assertKey(key: string): void {
  if (!isKey(key)) throw new Error(`not an object key: ${JSON.stringify(key.slice(0, 100))}`);
}

export function assertExpiry(expiresSeconds: number): void {
  if (!(expiresSeconds > 0 && expiresSeconds <= EXPIRES_SECONDS_MAX)) {
    throw new Error(`a presigned URL is valid for at most ${EXPIRES_SECONDS_MAX} s, not ${expiresSeconds}`);
  }
}

/** @throws ObjectTooLargeError */
export async function readAll(key: string, stream: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) {
      stream.destroy();
      throw new ObjectTooLargeError(key, maxBytes);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Header value for a download named `filename`: ASCII fallback and UTF-8 form (RFC 6266, RFC 8187). */
export function buildContentDisposition(filename = 'download'): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\/%]/g, '_');
  const utf8 = encodeURIComponent(filename).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${utf8}`;
}
