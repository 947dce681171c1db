/**
 * Migrates the database of every service whose DATABASE_URL_WORKER, DATABASE_URL_AUTOMATION or DATABASE_URL_SKILLS is
 * set, side by side. With --create a database that is missing is created first. Ends with 1 if one of them fails.
 *
 * `migrate-main.js status` only lists them, and ends with 1 if one is pending, with 2 if one was changed.
 */
import { createDatabaseIfMissing } from './create-database';
import { describeMigration, migrate } from './migrate';
import { listServiceMigrationFolders } from './migrate-folders';
import { reportMigrations } from './migrate-status';
import { databases, type ServiceName, serviceNames } from './service-names';

const CONNECT_DEADLINE_MS = 60_000;
const RETRY_MS = 500;
/** Error codes of a server that is starting or restarting: cannot_connect_now, and the socket's own errors. */
const RETRYABLE_CODES = new Set(['57P03', 'ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT']);

async function migrateService(service: ServiceName, url: string): Promise<string> {
  if (process.argv.includes('--create')) await retryUntilReachable(() => createDatabaseIfMissing(url));
  const result = await retryUntilReachable(() => migrate(url, ...listServiceMigrationFolders(service)));
  return describeMigration(service, result);
}

async function getMigrationStatus(service: ServiceName, url: string): Promise<string> {
  const { lines, exitCode } = await reportMigrations(url, ...listServiceMigrationFolders(service));
  process.exitCode = Math.max(Number(process.exitCode ?? 0), exitCode);
  return lines.map((line) => `${service}: ${line}`).join('\n');
}

async function retryUntilReachable<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + CONNECT_DEADLINE_MS;
  for (;;) {
    try {
      return await work();
    } catch (err) {
      const { code = '' } = err as { code?: string };
      if (!RETRYABLE_CODES.has(code) || Date.now() > deadline) throw err;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

async function main() {
  const wanted = serviceNames.flatMap((service) => {
    const url = process.env[databases[service].variable];
    return url ? [{ service, url }] : [];
  });
  const work = process.argv.includes('status') ? getMigrationStatus : migrateService;
  const outcomes = await Promise.allSettled(wanted.map(({ service, url }) => work(service, url)));
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') process.stdout.write(`${outcome.value}\n`);
    else {
      process.exitCode = 1;
      process.stderr.write(`${wanted[index]?.service}: ${outcome.reason?.message ?? outcome.reason}\n`);
    }
  }
}

void main();
