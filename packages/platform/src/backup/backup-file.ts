/**
 * The file of a backup: a gzipped tar of
 *
 *     backup.json                      its contents; readable without the passphrase
 *     keys                             keys and sign-in of the installation, sealed together with backup.json
 *     databases/<service>/<table>/<n>  rows as COPY writes them, in pieces
 *     objects/<key>
 *     authentication                   HMAC over name, size and content of the entries between `keys` and this one
 */
import { createHmac } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  createWriteStream,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
} from 'node:fs';
import { open as openFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip, gunzipSync } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { z } from 'zod';
import type { ServiceName } from '../service-names';
import { isAlive } from '../supervise/process';
import { type DatabaseShape, databaseShape } from './database-copy';
import { derivePassphraseKeys, newSalt, openSealed, seal } from './sealed-keys';

const FORMAT = 1;
const [MANIFEST, KEYS, AUTHENTICATION] = ['backup.json', 'keys', 'authentication'] as const;
/** Bounds the bytes in memory before anything is authenticated. */
const HEAD_BYTES_MAX = 16 << 20;
const NAME_CHARS_SHOWN = 300;

/** Longer than a backup that runs goes without writing. */
const ABANDONED_MS = 3_600_000;
/** Bytes that identify a file: enough for the first block of gzip. */
const BEGIN_BYTES = 64 << 10;

/** The files of a data directory that hold keys and ways to sign in. */
export const SECRET_FILES = ['keys.json', 'local.json', 'sample.json'] as const;

const secretFiles = z.partialRecord(z.enum(SECRET_FILES), z.string());

export interface BackupContent {
  databases: Record<ServiceName, DatabaseShape>;
  /** Text of files, by name. */
  secrets: z.infer<typeof secretFiles>;
}

const manifest = z.strictObject({
  format: z.literal(FORMAT),
  createdAt: z.string(),
  databases: z.strictObject({
    'worker-api': databaseShape,
    'automation-api': databaseShape,
    'skills-api': databaseShape,
  } satisfies Record<ServiceName, unknown>),
  /** With which keys are derived from the passphrase. */
  salt: z.string(),
});
type Manifest = z.infer<typeof manifest>;

export type BackupWriter = Awaited<ReturnType<typeof createBackupFile>>;

export async function createBackupFile(file: string, content: BackupContent, passphrase: string) {
  sweepPartials(file);
  const partial = `${file}.${process.pid}.partial`;
  const removePartial = () => rmSync(partial, { force: true });
  process.once('exit', removePartial);
  const tar = pack();
  const written = pipeline(
    tar,
    createGzip({ level: constants.Z_BEST_SPEED }),
    createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true }),
  );
  // Each entry looks at it.
  written.catch(() => {});

  async function write(name: string, size: number, chunks: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
    try {
      const entry = tar.entry({ name, size, mode: 0o600 });
      await Promise.race([pipeline(Readable.from(chunks), entry), written]);
    } catch (err) {
      tar.destroy(err as Error);
      // Fails as well, with the reason: an entry hears of a full disk only that the file has ended.
      await written;
    }
  }

  const { databases, secrets } = content;
  const head: Manifest = { format: FORMAT, createdAt: new Date().toISOString(), databases, salt: newSalt() };
  const context = Buffer.from(`${JSON.stringify(head, null, 2)}\n`);
  const keys = await derivePassphraseKeys(passphrase, head.salt);
  const sealed = seal(Buffer.from(JSON.stringify(secrets)), keys.sealing, context);
  await write(MANIFEST, context.length, [context]);
  await write(KEYS, sealed.length, [sealed]);
  const mac = createAuthenticator(keys.mac);

  return {
    add: (name: string, bytes: Buffer) => write(name, bytes.length, mac.over(name, bytes.length, [bytes])),
    /** @returns its size */
    addFile: async (name: string, from: string) => {
      const handle = await openFile(from);
      try {
        const { size } = await handle.stat();
        await write(name, size, mac.over(name, size, handle.createReadStream({ autoClose: false })));
        return size;
      } finally {
        await handle.close();
      }
    },
    /** Gives the file its final name. @returns its size */
    finish: async () => {
      const digest = mac.digest();
      await write(AUTHENTICATION, digest.length, [digest]);
      tar.finalize();
      await written;
      await rename(partial, file);
      process.off('exit', removePartial);
      return (await stat(file)).size;
    },
  };
}

/**
 * Removes what killed backups have left: to the same file at once, and to others beside it once it is surely
 * abandoned.
 */
function sweepPartials(file: string): void {
  const dir = path.dirname(file);
  for (const name of readdirSync(dir)) {
    const [, target, pid] = /^(.+)\.(\d+)\.partial$/.exec(name) ?? [];
    if (!pid || isAlive(Number(pid))) continue;
    const partial = path.join(dir, name);
    if (target === path.basename(file)) rmSync(partial, { force: true });
    else removeAbandoned(partial);
  }
}

/**
 * The process may live on another machine that shares the directory, but then it writes; the file may be no backup's.
 */
function removeAbandoned(partial: string): void {
  try {
    const { mtimeMs } = lstatSync(partial);
    if (Date.now() - mtimeMs > ABANDONED_MS && hasBackupHeader(partial)) rmSync(partial, { force: true });
  } catch {
    // Another user's, or removed just now.
  }
}

function hasBackupHeader(file: string): boolean {
  const begin = Buffer.alloc(BEGIN_BYTES);
  const opened = openSync(file, 'r');
  try {
    const size = readSync(opened, begin);
    const tar = gunzipSync(begin.subarray(0, size), { finishFlush: constants.Z_SYNC_FLUSH });
    return tar.subarray(0, MANIFEST.length + 1).equals(Buffer.from(`${MANIFEST}\0`));
  } catch {
    return false;
  } finally {
    closeSync(opened);
  }
}

export interface BackupEntry {
  name: string;
  size: number;
  content: AsyncIterable<Buffer>;
}

export type OpenBackup = Awaited<ReturnType<typeof openBackupFile>>;

/** @throws Error that says what is wrong: no backup, of a newer format, damaged, or another passphrase */
export async function openBackupFile(file: string, passphrase: () => Promise<string>) {
  // It is read more than once.
  if (!(await stat(file)).isFile())
    throw new Error(`${file} is not a regular file: save the backup to a regular file first`);
  const head = readTar(file);
  const context = await readContent(head, MANIFEST);
  const { databases, salt } = parseManifest(file, context);
  const sealed = await readContent(head, KEYS);
  await head.return(undefined);
  const keys = await derivePassphraseKeys(await passphrase(), salt);
  let opened: Buffer;
  try {
    opened = openSealed(sealed, keys.sealing, context);
  } catch (cause) {
    throw new Error(`the passphrase for ${file} is wrong, or the beginning of the file is damaged`, { cause });
  }
  const secrets = secretFiles.safeParse(JSON.parse(opened.toString()));
  if (!secrets.success) throw damagedBackupError(file, 'its files differ from those of an installation', secrets.error);

  /**
   * Reads databases and objects from the file, in order. Nothing of them may be used before the last one was read.
   * @throws Error at the end, if the file is not as it was written
   */
  async function* readEntries(): AsyncGenerator<BackupEntry> {
    const mac = createAuthenticator(keys.mac);
    const tar = readTar(file);
    for (const name of [MANIFEST, KEYS]) await readContent(tar, name);
    for await (const { name, size, content } of tar) {
      if (name === AUTHENTICATION && size <= HEAD_BYTES_MAX) {
        const digest = await buffer(content);
        if (digest.equals(mac.digest())) return;
        break;
      }
      yield { name, size, content: mac.over(name, size, content) };
    }
    throw damagedBackupError(file, 'it has changed since it was written');
  }
  return { databases, secrets: secrets.data, readEntries };
}

function parseManifest(file: string, text: Buffer): Manifest {
  let json: { format?: unknown } | null;
  try {
    json = JSON.parse(text.toString());
  } catch {
    throw new Error(`${file} is not a Gantry backup, or is damaged`);
  }
  if (typeof json?.format === 'number' && json.format > FORMAT) {
    throw new Error(
      `${file} was written by a newer version of Gantry in a format unknown to this version: update Gantry`,
    );
  }
  const { data, error } = manifest.safeParse(json);
  if (data) return data;
  const [issue] = error.issues;
  throw damagedBackupError(file, `${issue?.path.join('.')}: ${issue?.message}`, error);
}

async function readContent(tar: AsyncGenerator<BackupEntry>, name: string): Promise<Buffer> {
  const { value } = await tar.next();
  return value?.name === name && value.size <= HEAD_BYTES_MAX ? buffer(value.content) : Buffer.alloc(0);
}

async function* readTar(file: string): AsyncGenerator<BackupEntry> {
  const entries = extract();
  let headerBytes = 0;
  /** The extractor holds a header in memory, however long it is: a few megabytes of gzip can be gigabytes of name. */
  async function* limitHeaders(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      headerBytes += chunk.length;
      if (headerBytes > HEAD_BYTES_MAX) throw new Error('the name of an entry is too long');
      yield chunk;
    }
  }
  /** Damage further on in the file reaches the reader of an entry before it reaches the loop below. */
  async function* readEntry(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of content) {
        headerBytes = 0;
        yield chunk;
      }
    } catch (err) {
      throw toUnreadableError(file, err);
    }
  }

  const reading = pipeline(createReadStream(file), createGunzip(), limitHeaders, entries);
  reading.catch(() => {});
  try {
    for await (const entry of entries) {
      headerBytes = 0;
      const { name, type } = entry.header;
      // Types are not authenticated, and a backup holds nothing but files.
      if (type !== 'file') throw new Error(`it contains a ${type}, ${quoteName(name)}`);
      yield { name, size: entry.header.size ?? 0, content: readEntry(entry) };
    }
    await reading;
  } catch (err) {
    throw toUnreadableError(file, err);
  }
}

function toUnreadableError(file: string, err: unknown): unknown {
  const { syscall, message } = err as NodeJS.ErrnoException;
  return syscall ? err : damagedBackupError(file, message, err);
}

/** For a terminal: a name of an entry may be long, and hold control characters. */
export const quoteName = (name: string): string => JSON.stringify(name.slice(0, NAME_CHARS_SHOWN));

export const damagedBackupError = (file: string, reason: string, cause?: unknown): Error =>
  new Error(`${file} is damaged or incomplete (${reason}): nothing was restored`, { cause });

function createAuthenticator(key: Buffer) {
  const hmac = createHmac('sha256', key);
  return {
    /** Passes the content of an entry on. */
    async *over(name: string, size: number, content: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      hmac.update(JSON.stringify([name, size]));
      for await (const chunk of content) {
        hmac.update(chunk);
        yield chunk;
      }
    },
    digest: () => hmac.digest(),
  };
}
