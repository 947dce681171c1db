import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

// The bench has no dependencies of its own.
const { Client, Pool } = createRequire(new URL('../../services/worker-api/package.json', import.meta.url))('pg');

/**
 * The database of one service of a platform, as the launcher lays it out: the password beside the data, the port 105 above
 * the first.
 * @param {'worker_api' | 'automation_api' | 'skills_api'} name
 */
export async function connectDatabase(platform, name) {
  const client = new Client(urlOf(platform, name));
  await client.connect();
  return client;
}

/** The same, as the pool that a service has. */
export const openPool = (platform, name) =>
  new Pool({ connectionString: urlOf(platform, name), statement_timeout: 10_000 });

function urlOf({ dir, local }, name) {
  const { postgresPassword } = JSON.parse(readFileSync(path.join(dir, 'data/keys.json'), 'utf8'));
  const port = Number(new URL(local.base_url).port) + 105;
  return `postgresql://gantry:${postgresPassword}@127.0.0.1:${port}/${name}`;
}
