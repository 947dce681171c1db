/** PostgreSQL's files with the migrated, empty databases of all services: made once in a run, which takes a second. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  buildPostgresSpec,
  buildPostgresUrl,
  listServiceMigrationFolders,
  migrate,
  type ServiceName,
  startAndWait,
} from '@gantry/platform';
import { Client } from 'pg';
import { reserveFreePort } from './free-port';
import { createTemporaryDir, getRunDir } from './run-dir';

const SERVICES: ServiceName[] = ['worker-api', 'automation-api', 'skills-api'];
const FILES = 'files';
const PASSWORD = 'password';

/** Returns the name of a service's database in the cluster. */
export const getDatabaseName = (service: string): string => service.replace('-', '_');

/** Copies the files to a directory that does not exist yet. @returns the password of their server */
export async function copyPreparedCluster(dataDir: string): Promise<string> {
  const prepared = path.join(getRunDir(), 'prepared-cluster');
  if (!fs.existsSync(prepared)) await prepareCluster(prepared);
  // Keeps the owner of the files.
  await promisify(execFile)('cp', ['-a', path.join(prepared, FILES), dataDir]);
  return fs.readFileSync(path.join(prepared, PASSWORD), 'utf8');
}

async function prepareCluster(prepared: string): Promise<void> {
  const dir = createTemporaryDir('cluster');
  const password = randomBytes(16).toString('hex');
  fs.writeFileSync(path.join(dir, PASSWORD), password);
  await migrateCluster({ dataDir: path.join(dir, FILES), port: await reserveFreePort(), password });
  try {
    fs.renameSync(dir, prepared);
  } catch (err) {
    // Another Jest worker was faster.
    if (!fs.existsSync(prepared)) throw err;
  }
}

async function migrateCluster(options: { dataDir: string; port: number; password: string }): Promise<void> {
  const server = await startAndWait(await buildPostgresSpec({ ...options, durable: false }));
  try {
    const admin = new Client({ connectionString: buildPostgresUrl(options, 'postgres') });
    await admin.connect();
    for (const service of SERVICES) {
      await admin.query(`CREATE DATABASE ${getDatabaseName(service)}`);
      const url = buildPostgresUrl(options, getDatabaseName(service));
      await migrate(url, ...listServiceMigrationFolders(service));
    }
    await admin.end();
  } finally {
    await server.stop();
  }
}
