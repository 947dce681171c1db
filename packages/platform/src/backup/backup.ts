/**
 * `npm run backup`. The three snapshots are taken within milliseconds of each other and objects are collected both
 * before and after, so that no row of the backup names an object that is missing from it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { loadOrCreateLocalState } from '../launch/local-state';
import type { Progress } from '../launch/progress';
import { serviceNames } from '../service-names';
import { isAlive } from '../supervise/process';
import { startSupervisor } from '../supervise/supervise';
import { type BackupContent, type BackupWriter, createBackupFile, SECRET_FILES } from './backup-file';
import { type Snapshot, takeSnapshots } from './database-copy';
import { linkObjects, listObjects } from './object-links';
import { createPartProgress, formatSize, type PartProgress } from './part-progress';
import { findRunningPostgres, type GetDatabaseUrl, startTemporaryPostgres } from './temporary-postgres';

const LINKS = 'backing-up-';

export interface BackupOptions {
  dataDir: string;
  file: string;
  passphrase: () => Promise<string>;
  progress: Progress;
}

export async function backUp(options: BackupOptions): Promise<void> {
  const { dataDir, file, progress } = options;
  if (!fs.existsSync(path.join(dataDir, 'postgres'))) {
    throw new Error(`${dataDir} contains no Gantry data: set GANTRY_DATA_DIR to the directory that contains it`);
  }
  if (fs.existsSync(file)) throw new Error(`${file} already exists: choose another name`);
  const passphrase = await options.passphrase();

  const { postgresPassword } = loadOrCreateLocalState(dataDir).keys;
  const running = await findRunningPostgres(dataDir, postgresPassword);
  if (running) return writeBackup(options, passphrase, running);
  progress.step('Gantry is not running: starting its PostgreSQL server');
  const supervisor = await startSupervisor({ dir: dataDir, show: progress.warn });
  try {
    await writeBackup(options, passphrase, await startTemporaryPostgres(supervisor, dataDir, postgresPassword));
  } finally {
    await supervisor.stop();
  }
}

async function writeBackup(
  { dataDir, file, progress }: BackupOptions,
  passphrase: string,
  resolveAddress: GetDatabaseUrl,
) {
  sweepLinks(dataDir);
  const links = path.join(dataDir, `${LINKS}${process.pid}`);
  process.once('exit', () => fs.rmSync(links, { recursive: true, force: true }));
  progress.step('taking snapshots');
  const objects = path.join(dataDir, 'objects');
  await linkObjects(objects, links);
  const snapshots = await takeSnapshots(serviceNames.map((service) => ({ service, url: resolveAddress(service) })));
  await linkObjects(objects, links);

  const databases = Object.fromEntries(
    snapshots.map(({ service, shape }) => [service, shape]),
  ) as BackupContent['databases'];
  const writer = await createBackupFile(file, { databases, secrets: readSecrets(dataDir) }, passphrase);
  const parts = createPartProgress(progress);
  for (const snapshot of snapshots) await writeDatabase(writer, parts, snapshot);
  for await (const key of listObjects(links)) {
    parts.count('objects', await writer.addFile(`objects/${key}`, path.join(links, key)));
  }
  const size = await writer.finish();
  parts.end();
  progress.step(`${file}: ${formatSize(size)}`);
}

function readSecrets(dataDir: string): BackupContent['secrets'] {
  const there = SECRET_FILES.filter((name) => fs.existsSync(path.join(dataDir, name)));
  return Object.fromEntries(there.map((name) => [name, fs.readFileSync(path.join(dataDir, name), 'utf8')]));
}

async function writeDatabase(writer: BackupWriter, parts: PartProgress, { service, shape, rows, end }: Snapshot) {
  for (const table of shape.tables) {
    let pieces = 0;
    for await (const piece of rows(table)) {
      await writer.add(`databases/${service}/${table.name}/${++pieces}`, piece);
      parts.count(service, piece.length);
    }
  }
  await end();
}

/** Removes the links that killed backups left behind. */
function sweepLinks(dataDir: string): void {
  for (const name of fs.readdirSync(dataDir)) {
    if (name.startsWith(LINKS) && !isAlive(Number(name.slice(LINKS.length)))) {
      fs.rmSync(path.join(dataDir, name), { recursive: true });
    }
  }
}
