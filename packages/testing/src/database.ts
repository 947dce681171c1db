/** A database of its own for each test file: a clone of a template that holds the migrated, empty tables. */
import { randomBytes } from 'node:crypto';
import { listServiceMigrationFolders, migrate, type ServiceName } from '@gantry/platform';
import { Client, Pool } from 'pg';
import { setupResource } from './setup-resource';

export type Template = ServiceName | 'empty';

const POOL_TIMEOUT_SECONDS = 60;

/**
 * Settings of a pool that waits for a connection as long as a busy machine needs, where the product would answer 503;
 * the second as the environment of a service.
 */
export const slowPoolOptions = { connectTimeoutMs: POOL_TIMEOUT_SECONDS * 1_000 };
export const slowPoolEnv = { DATABASE_POOL_TIMEOUT_SECONDS: String(POOL_TIMEOUT_SECONDS) };

export interface TestDatabase {
  url: string;
  /** Ends whatever is still connected. Optional: the whole server goes with the run. */
  drop(): Promise<void>;
}

export const POSTGRES_VARIABLE = 'GANTRY_TEST_POSTGRES';

/** Serialises the making of templates among jest's workers. */
const TEMPLATE_LOCK = 5_417;

export async function createDatabase(template: Template): Promise<TestDatabase> {
  const name = `test_${template.replaceAll('-', '_')}_${randomBytes(6).toString('hex')}`;
  const source = template === 'empty' ? 'template0' : `template_${template.replaceAll('-', '_')}`;
  await withAdminClient(async (admin) => {
    if (template !== 'empty') await ensureTemplate(admin, template, source);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY wal_log`);
  });
  return {
    url: getDatabaseUrl(name),
    drop: () =>
      withAdminClient(async (admin) => void (await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  };
}

/** A database of the tests' own, and a pool of connections to it: before the tests and until after them. */
export const setupPool = (template: Template, ...statements: string[]): Pool =>
  setupResource(
    async () => {
      const pool = new Pool({ connectionString: (await createDatabase(template)).url });
      for (const statement of statements) await pool.query(statement);
      return pool;
    },
    (pool) => pool.end(),
  );

/** Templates are made when first wanted: a broken migration fails the tests of its own service only. */
async function ensureTemplate(admin: Client, service: ServiceName, name: string): Promise<void> {
  await admin.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate', [name]);
    if (rowCount) return;
    await admin.query(`DROP DATABASE IF EXISTS ${name}`);
    await admin.query(`CREATE DATABASE ${name}`);
    await migrate(getDatabaseUrl(name), ...listServiceMigrationFolders(service));
    await admin.query(`ALTER DATABASE ${name} IS_TEMPLATE true`);
  } finally {
    await admin.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
}

function getDatabaseUrl(database: string): string {
  const base = process.env[POSTGRES_VARIABLE];
  if (!base) throw new Error(`${POSTGRES_VARIABLE} is not set: run tests through the jest.config.js at the root`);
  const url = new URL(base);
  url.pathname = `/${database}`;
  return url.toString();
}

async function withAdminClient<T>(work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: getDatabaseUrl('postgres') });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

/** Ends every connection to the database but its own: what a restart of PostgreSQL looks like to a service. */
export async function terminateConnections(database: TestDatabase): Promise<void> {
  await withAdminClient((admin) =>
    admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
      [new URL(database.url).pathname.slice(1)],
    ),
  );
}
