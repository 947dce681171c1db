/** Checks whether a service can use its object store, and otherwise names the reason and the remedy. */
import { randomBytes } from 'node:crypto';
import { describeCertificateProblem } from '@gantry/env';
import { AppError } from '@gantry/errors';
import type { ObjectStore } from './object-store';

const REASONS: Record<string, string> = {
  AccessDenied: 'access is denied: allow GetObject, PutObject, DeleteObject and ListBucket on the bucket',
  Forbidden: 'access is denied: allow GetObject, PutObject, DeleteObject and ListBucket on the bucket',
  NoSuchBucket: 'the bucket does not exist: create it, or correct OBJECT_STORE',
  InvalidAccessKeyId: 'the access key is unknown: correct S3_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'the signature was rejected: correct S3_SECRET_ACCESS_KEY',
  RequestTimeTooSkewed: "the store's clock differs too much from this machine's: synchronise both with NTP",
  CredentialsProviderError:
    'no credentials were found: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, or assign a role to the machine',
  EACCES: 'the directory is not writable: make the user that runs this process its owner',
  ENOTDIR: 'OBJECT_STORE does not name a directory: correct it',
  EROFS: 'the directory is on a read-only file system: mount a volume there',
  ENOSPC: 'the disk is full',
  ENOTFOUND: 'host not found: correct the endpoint in OBJECT_STORE',
  ECONNREFUSED: 'nothing is listening at the endpoint in OBJECT_STORE: start the store, or correct the address',
};

/**
 * Writes, reads and deletes an object.
 * @returns a sentence, without addresses; none if the service can work
 */
export async function checkObjectStore(store: ObjectStore): Promise<string[]> {
  const folder = `start-check/${randomBytes(8).toString('hex')}`;
  try {
    await store.put(`${folder}/object`, Buffer.from('ok'));
    await store.getBuffer(`${folder}/object`, 2);
    await store.deleteFolder(folder);
    return [];
  } catch (err) {
    const failure = (err instanceof AppError && err.cause ? err.cause : err) as Error & { code?: string };
    const { name, code = name, message } = failure;
    const reason = REASONS[code] ?? REASONS[name] ?? `the store check failed (${code}: ${message})`;
    return [`object store: ${describeCertificateProblem(failure, 'S3_CA') ?? reason}`];
  }
}
