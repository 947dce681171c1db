import { withClient } from './postgres/with-client';

/** Creates the database that an address names, if its server has none of that name. */
export async function createDatabaseIfMissing(url: string): Promise<void> {
  const admin = new URL(url);
  const name = decodeURIComponent(admin.pathname.slice(1));
  admin.pathname = '/postgres';
  await withClient({ connectionString: admin.toString() }, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (!rowCount) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  });
}
