/**
 * Stores this executor's identity for NATS and the services in its directory, so that the next process there has the
 * same identity and may send the reports left by this one. Sandboxes cannot see it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { createExecutorCredentials, decodeClaims, type ExecutorKey, newId, parseSeed } from '@gantry/events';
import { isAbandoned, ownerTag } from './owner-tag';

export interface Identity {
  /** Credentials of the user that enrol.ts created; undefined if there are none. */
  creds: string | undefined;
  /** For servers without users. */
  name: string;
}

const getCredsPath = (directory: string) => path.join(directory, 'nats.creds');

/**
 * Locks the identity in the directory for the life of this process.
 * @throws Error while another process holds it: two with one name would claim each other's runs
 */
export function acquireIdentity(directory: string): Identity {
  acquireLock(path.join(directory, 'identity.lock'));
  return { creds: readIfExists(getCredsPath(directory)), name: loadOrCreateName(path.join(directory, 'name')) };
}

function acquireLock(file: string): void {
  const mine = `${ownerTag}-`;
  for (;;) {
    try {
      fs.writeFileSync(file, mine, { flag: 'wx', mode: 0o600 });
      return;
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code !== 'EEXIST') throw err;
    }
    const holder = readIfExists(file);
    if (holder === mine) return;
    if (holder && !isAbandoned(holder)) {
      throw new Error(`another executor is using ${path.dirname(file)}: give each executor its own EXECUTOR_DIR`);
    }
    fs.rmSync(file, { force: true });
  }
}

function loadOrCreateName(file: string): string {
  const existing = readIfExists(file);
  if (existing) return existing;
  const name = newId('exec_');
  fs.writeFileSync(file, name, { mode: 0o600 });
  return name;
}

/** Creates a NATS user, unless one created with this key exists. @returns true if it is new */
export function enrol(directory: string, key: ExecutorKey): boolean {
  const file = getCredsPath(directory);
  const existing = readIfExists(file);
  if (existing && isIssuedBy(key, existing)) return false;
  const partial = `${file}.new`;
  fs.writeFileSync(partial, createExecutorCredentials(key), { mode: 0o600, flush: true });
  fs.renameSync(partial, file);
  return true;
}

function isIssuedBy({ account, seed }: ExecutorKey, creds: string): boolean {
  const { iss, nats } = decodeClaims(creds);
  return iss === parseSeed(seed).publicKey && nats.issuer_account === account;
}

function readIfExists(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw err;
  }
}
