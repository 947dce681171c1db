/**
 * Applies SQL migrations and records them exactly as Prisma does, so that `prisma migrate deploy` and
 * `prisma migrate status` agree with what was done here, and the other way round.
 */
import { randomUUID } from 'node:crypto';
import { loadAppliedMigrations, type Migration, readMigrations } from '@gantry/postgres';
import type { Client } from 'pg';
import { withClient } from './postgres/with-client';
import type { ServiceName } from './service-names';

type MigrationResult = Awaited<ReturnType<typeof migrateTo>>;

/** The lock that Prisma's own engine takes: neither can run beside the other. */
export const MIGRATION_LOCK = 72_707_369;

const TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

/**
 * Applies the migrations of all these folders in one order, by name. A migration is known by name and checksum, so it
 * may move from one folder to another.
 * @param dirs may be missing
 * @throws Error if an applied migration was changed, or one fails: nothing of a failed one stays behind.
 */
export async function migrate(url: string, ...dirs: string[]) {
  return migrateTo(url, () => true, ...dirs);
}

export const listMigrationNames = (...dirs: string[]): string[] => readMigrations(dirs).map(({ name }) => name);

/** Like `migrate`, but applies only the wanted migrations: those of a list make the tables of an older version. */
export async function migrateTo(url: string, isIncluded: (name: string) => boolean, ...dirs: string[]) {
  return withClient({ connectionString: url, application_name: 'gantry-migrate' }, async (client) => {
    const migrations = readMigrations(dirs);
    const done = await withMigrationLock(client, async () => {
      await client.query(TABLE);
      return loadAppliedMigrations(client);
    });
    assertUnchanged(migrations, done);
    const applied: string[] = [];
    for (const migration of migrations) {
      if (!isIncluded(migration.name) || done.has(migration.name)) continue;
      if (await apply(client, migration)) applied.push(migration.name);
    }
    const names = new Set(migrations.map((migration) => migration.name));
    return {
      /** Names of the migrations that this call applied, in order. */
      applied,
      /** Names that the database has and this code does not: the code is older, which a roll-back makes normal. */
      unknown: [...done.keys()].filter((name) => !names.has(name)),
    };
  });
}

/** Describes the result in one line. */
export function describeMigration(service: ServiceName, { applied, unknown }: MigrationResult): string {
  const older = unknown.length
    ? `; this code is older than the database, which also has the migrations ${unknown.join(', ')}`
    : '';
  return `${service}: ${applied.length ? `applied ${applied.join(', ')}` : 'up to date'}${older}`;
}

function assertUnchanged(migrations: Migration[], done: Map<string, string>): void {
  const changed = migrations.find(({ name, checksum }) => done.has(name) && done.get(name) !== checksum);
  if (!changed) return;
  const { name, file } = changed;
  throw new Error(
    `migration ${name} was changed after it was applied: restore ${file} and put the change in a new migration`,
  );
}

/** @returns false if another process has applied it since */
async function apply(client: Client, { name, sql, checksum }: Migration): Promise<boolean> {
  const startedAt = new Date();
  try {
    return await withMigrationLock(client, async () => {
      if ((await loadAppliedMigrations(client)).has(name)) return false;
      await client.query(sql);
      await client.query(
        `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
         VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
        [randomUUID(), checksum, name, startedAt],
      );
      return true;
    });
  } catch (cause) {
    throw new Error(`migration ${name} failed and was rolled back: ${(cause as Error).message}`, { cause });
  }
}

/** Runs in a transaction, whose lock works through PgBouncer too: a session's would stay on a pooled connection. */
async function withMigrationLock<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (err) {
    await client.query('ROLLBACK').catch(() => {});
    throw err;
  }
}
