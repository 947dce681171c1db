/** State that the platform keeps between starts: `.data/` is for its owner's eyes only. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Owner } from '../first-run/first-run';

/** Generated once. Losing them loses the secrets that are encrypted under them and every token. */
export interface Keys {
  postgresPassword: string;
  /** `v1:<base64 of 32 bytes>`; append `,v2:...` to rotate. */
  encryptionKeys: { workerApi: string; automationApi: string };
  tokenPeppers: string;
  objectStoreSigningKey: string;
}

/** Addresses and credentials for programs on this machine: `.data/local.json`. */
export interface LocalAccess extends Owner {
  base_url: string;
  dashboard_url: string;
  skills_url: string;
}

/** The sign-in of an owner who is being created. */
export type FirstOwner = Pick<LocalAccess, 'email' | 'password'>;

export type LocalState = ReturnType<typeof loadOrCreateLocalState>;

export function loadOrCreateLocalState(dir: string) {
  ensurePrivateDir(dir);
  const keysFile = path.join(dir, 'keys.json');
  const localFile = path.join(dir, 'local.json');
  const firstOwnerFile = path.join(dir, 'first-owner.json');
  const kept = readJson<Keys>(keysFile);
  const keys = kept ?? generateKeys();
  if (!kept) writePrivateFile(keysFile, keys);
  return {
    dir,
    keys,
    /** Undefined until the first owner was created. */
    readLocal: () => readJson<LocalAccess>(localFile),
    writeLocal: (local: LocalAccess) => writePrivateFile(localFile, local),
    /** Written before the owner exists, so that a start which is interrupted loses no password. */
    readFirstOwner: () => readJson<FirstOwner>(firstOwnerFile),
    writeFirstOwner: (owner: FirstOwner) => writePrivateFile(firstOwnerFile, owner),
    deleteFirstOwner: () => fs.rmSync(firstOwnerFile, { force: true }),
  };
}

function ensurePrivateDir(dir: string): void {
  try {
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
    fs.chmodSync(dir, 0o700);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EROFS') {
      throw new Error(`${dir} is on a read-only file system: make it writable, or set GANTRY_DATA_DIR`, {
        cause,
      });
    }
    throw new Error(
      `this user cannot use ${dir} (${(cause as Error).message}): if another user, such as root, created it, remove it, or set GANTRY_DATA_DIR to another directory`,
      { cause },
    );
  }
}

function generateKeys(): Keys {
  const generatePassword = () => randomBytes(24).toString('base64url');
  const generateKeyRing = () => `v1:${randomBytes(32).toString('base64')}`;
  return {
    postgresPassword: generatePassword(),
    encryptionKeys: { workerApi: generateKeyRing(), automationApi: generateKeyRing() },
    tokenPeppers: generateKeyRing(),
    objectStoreSigningKey: randomBytes(32).toString('base64'),
  };
}

function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read: restore it, or remove the whole directory to start over`, { cause: err });
  }
}

/** Whole or not at all, also when the machine stops in between. */
function writePrivateFile(file: string, value: unknown): void {
  const partial = `${file}.new`;
  fs.writeFileSync(partial, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
  fs.renameSync(partial, file);
}
