/**
 * `npm run restore`: the file is checked to its end before anything is made. Everything is made beside the data
 * directory, and gets its name at once when the file was read to its end again.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { DatabaseError } from 'pg';
import { loadOrCreateLocalState } from '../launch/local-state';
import type { Progress } from '../launch/progress';
import { listMigrationNames } from '../migrate';
import { listServiceMigrationFolders } from '../migrate-folders';
import { serviceNames } from '../service-names';
import { startSupervisor } from '../supervise/supervise';
import type { BackupOptions } from './backup';
import { type BackupEntry, damagedBackupError, type OpenBackup, openBackupFile, quoteName } from './backup-file';
import { type Loader, openLoader } from './database-copy';
import { guardFreeSpace } from './guard-free-space';
import { createPartProgress } from './part-progress';
import { createRestoreRole } from './restore-role';
import { type GetDatabaseUrl, startTemporaryPostgres } from './temporary-postgres';

export async function restore({ dataDir, file, passphrase, progress }: BackupOptions): Promise<void> {
  if (removeEmptyDir(dataDir)) {
    // The operator's empty directory is there again if this fails.
    process.once('exit', () => fs.existsSync(dataDir) || fs.mkdirSync(dataDir, { mode: 0o700 }));
  }
  const backup = await openBackupFile(file, passphrase);
  assertKnownMigrations(file, backup);
  progress.step('checking the file');
  await checkEntries(backup);
  const made = `${dataDir}.restoring`;
  fs.mkdirSync(made, { recursive: true, mode: 0o700 });
  progress.step('starting a new PostgreSQL server');
  // Refuses to work beside another restore, and ends what a killed one left running.
  const supervisor = await startSupervisor({ dir: made, show: progress.warn });
  process.once('exit', () => fs.rmSync(made, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  for (const name of ['postgres', 'objects']) fs.rmSync(path.join(made, name), { recursive: true, force: true });
  for (const [name, text] of Object.entries(backup.secrets)) {
    fs.writeFileSync(path.join(made, name), text, { mode: 0o600 });
  }
  const addressOf = await startTemporaryPostgres(supervisor, made, loadOrCreateLocalState(made).keys.postgresPassword);
  try {
    const role = await createRestoreRole(addressOf);
    await restoreContent(made, backup, role.addressOf, progress);
    await role.remove();
  } catch (err) {
    throw err instanceof DatabaseError ? damagedBackupError(file, err.message, err) : err;
  } finally {
    await supervisor.stop();
  }
  // The rename must not reach the disk before the files do.
  await promisify(execFile)('sync');
  fs.renameSync(made, dataDir);
  progress.step(`${dataDir} has been restored: start Gantry with npm start`);
}

const PROBLEMS: Record<string, string> = {
  ENOTEMPTY: 'contains files: move it elsewhere',
  EROFS: 'is on a read-only file system: make it writable',
};

/** @returns whether there was an empty one. @throws Error unless the directory can be made, or is empty */
function removeEmptyDir(dataDir: string): boolean {
  try {
    fs.rmdirSync(dataDir);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    const problem = PROBLEMS[code ?? ''] ?? `cannot be recreated (${code}): move it elsewhere`;
    throw new Error(`${dataDir} ${problem}, or set GANTRY_DATA_DIR to another directory`, { cause });
  }
}

function assertKnownMigrations(file: string, { databases }: OpenBackup): void {
  for (const service of serviceNames) {
    const known = new Set(listMigrationNames(...listServiceMigrationFolders(service)));
    const unknown = databases[service].migrations.filter((name) => !known.has(name));
    if (unknown.length) {
      const names = unknown.join(', ');
      throw new Error(
        `${file} is from a newer version of Gantry: ${service} has unknown migrations (${names}). Update Gantry`,
      );
    }
  }
}

/** @throws Error if the file is damaged, or names files outside of the store */
async function checkEntries({ databases, readEntries }: OpenBackup): Promise<void> {
  for await (const { name, content } of readEntries()) {
    const [, service = ''] = ROWS.exec(name) ?? [];
    if (!Object.hasOwn(databases, service)) checkObjectName(name);
    for await (const _chunk of content);
  }
}

async function restoreContent(
  targetDir: string,
  backup: OpenBackup,
  resolveAddress: GetDatabaseUrl,
  progress: Progress,
): Promise<void> {
  const loaders = new Map<string, Loader>();
  try {
    for (const service of serviceNames) {
      loaders.set(
        service,
        await openLoader(resolveAddress(service), backup.databases[service], listServiceMigrationFolders(service)),
      );
    }
    const parts = createPartProgress(progress);
    for await (const { name, size, content } of backup.readEntries()) {
      const [, service = '', table = ''] = ROWS.exec(name) ?? [];
      const loader = loaders.get(service);
      const guarded = guardFreeSpace(targetDir, content);
      if (loader) await loader.load(table, guarded);
      else await writeObject(targetDir, name, guarded);
      parts.count(loader ? service : 'objects', size);
    }
    parts.end();
    for (const loader of loaders.values()) await loader.commit();
  } finally {
    // PostgreSQL would report each connection that its end cuts.
    for (const loader of loaders.values()) await loader.close();
  }
}

const ROWS = /^databases\/([a-z-]+)\/([a-z0-9_]+)\/\d+$/;
const OBJECT = /^objects(?:\/(?!\.)[^/\\\0]{1,255})+$/;

function checkObjectName(name: string): void {
  if (!OBJECT.test(name)) throw new Error(`the backup names a file outside the store: ${quoteName(name)}`);
}

async function writeObject(made: string, name: string, content: BackupEntry['content']): Promise<void> {
  checkObjectName(name);
  const file = path.join(made, name);
  await fs.promises.mkdir(path.dirname(file), { recursive: true });
  await pipeline(content, fs.createWriteStream(file, { mode: 0o600, flags: 'wx' }));
}
