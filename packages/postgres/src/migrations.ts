/** Reads the migrations of a service from its code and its database. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { ClientBase } from 'pg';

export interface Migration {
  name: string;
  file: string;
  sql: string;
  checksum: string;
}

/** Names of migrations, each list in order. */
export type MigrationStatus = Awaited<ReturnType<typeof getMigrationStatus>>;

/**
 * Folders whose migrations make a service's database: its own, and `migrations/` of every package that it depends on.
 * So the tables of a package are changed by one file, for each service that uses it.
 */
export function listMigrationFolders(serviceDir: string): string[] {
  const manifest = path.join(serviceDir, 'package.json');
  const { dependencies } = JSON.parse(fs.readFileSync(manifest, 'utf8'));
  const { resolve } = createRequire(manifest);
  const packages = Object.keys(dependencies)
    .filter((name) => name.startsWith('@gantry/'))
    .map((name) => path.join(path.dirname(resolve(`${name}/package.json`)), 'migrations'));
  return [path.join(serviceDir, 'prisma/migrations'), ...packages].filter(fs.existsSync);
}

/** In order. @throws Error if two folders have the same */
export function readMigrations(folders: string[]): Migration[] {
  const sorted = folders.flatMap(readMigrationFolder).sort((a, b) => (a.name < b.name ? -1 : 1));
  const duplicate = sorted.find(({ name }, index) => sorted[index + 1]?.name === name);
  if (duplicate) throw new Error(`two folders contain migration ${duplicate.name}: one copy is ${duplicate.file}`);
  return sorted;
}

function readMigrationFolder(dir: string): Migration[] {
  if (!fs.existsSync(dir)) return [];
  const entries = fs.readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  // git leaves the empty directory of a file that another branch has.
  const names = entries.map((entry) => entry.name).filter((name) => fs.readdirSync(path.join(dir, name)).length > 0);
  return names.map((name) => {
    const file = path.join(dir, name, 'migration.sql');
    const sql = fs.readFileSync(file);
    return { name, file, sql: sql.toString(), checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

/** Checksum by name. @throws Error if Prisma left one half-way */
export async function loadAppliedMigrations(client: ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY 1',
  );
  const failed = rows.find((row) => row.finished_at === null);
  if (failed) {
    throw new Error(
      `migration ${failed.migration_name} failed partway through an earlier attempt by Prisma: resolve it with "prisma migrate resolve"`,
    );
  }
  return new Map(rows.map((row) => [row.migration_name, row.checksum]));
}

/** Reads only: a database without any is one where all are pending. */
export async function getMigrationStatus(client: ClientBase, migrations: Migration[]) {
  const { rows } = await client.query("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found");
  const applied = rows[0].found ? await loadAppliedMigrations(client) : new Map<string, string>();
  const names = new Set(migrations.map(({ name }) => name));
  const toNames = (some: Migration[]) => some.map(({ name }) => name);
  return {
    applied: [...applied.keys()],
    /** The database does not have them yet. */
    pending: toNames(migrations.filter(({ name }) => !applied.has(name))),
    /** Their files are not what was applied. */
    changed: toNames(migrations.filter(({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum)),
    /** This code does not have them: it is older than the database, which a roll-back makes normal. */
    unknown: [...applied.keys()].filter((name) => !names.has(name)),
  };
}
