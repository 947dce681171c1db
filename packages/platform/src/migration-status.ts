import { Client } from 'pg';
import { migrationNames } from './migrate';

/** Names of the migrations that a database lacks, in order. Changes nothing there. */
export async function pendingMigrations(url: string, ...dirs: string[]): Promise<string[]> {
  const client = new Client({ connectionString: url, application_name: 'gantry-migrate' });
  await client.connect();
  try {
    const { rows: tables } = await client.query("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there");
    const { rows } = tables[0].there
      ? await client.query(
          'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
        )
      : { rows: [] };
    const done = new Set(rows.map((row) => row.migration_name));
    return migrationNames(...dirs).filter((name) => !done.has(name));
  } finally {
    await client.end();
  }
}
