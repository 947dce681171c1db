/** Checks whether a service can use its database, and otherwise names the reason and the remedy. */
import { describeCertificateProblem, describeClockProblem } from '@gantry/env';
import { Client, type ClientBase } from 'pg';
import type { Logger } from 'pino';
import { getMigrationStatus, type Migration } from './migrations';
import { buildStartupParameters, type PoolSettings } from './pool';

const CONNECT_TIMEOUT_MS = 2_000;

interface DatabaseExpectations extends Pick<PoolSettings, 'pgbouncer'> {
  url: string;
  service: string;
  migrations: Migration[];
  /** Logs problems that do not prevent the service from working. */
  log: Logger;
}

/** @returns a sentence for each; none if the service can work */
export async function checkDatabase(expected: DatabaseExpectations): Promise<string[]> {
  try {
    const client = new Client({
      connectionString: expected.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ...buildStartupParameters(expected),
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return await listProblems(client, expected);
    } finally {
      void client.end().catch(() => {});
    }
  } catch (err) {
    return [`PostgreSQL: ${describeFailure(err as Error & { code?: string })}`];
  }
}

async function listProblems(
  client: ClientBase,
  { migrations, log, pgbouncer = 'off' }: DatabaseExpectations,
): Promise<string[]> {
  const askedAt = Date.now();
  const { rows } = await client.query(
    "SELECT clock_timestamp() AS now, current_setting('statement_timeout') = '0' AS endless",
  );
  const clock = describeClockProblem('PostgreSQL', rows[0].now, askedAt);
  if (rows[0].endless && pgbouncer !== 'off') {
    log.warn("statements have no time limit: set PgBouncer's connect_query to 'SET statement_timeout = 10000'");
  }
  const { pending, changed, unknown } = await getMigrationStatus(client, migrations);
  if (unknown.length) {
    log.warn(
      { unknown },
      'this code is older than its database: this is expected after a rollback; otherwise, deploy the newer version',
    );
  }
  return [
    ...(clock ? [clock] : []),
    ...changed.map(
      (name) => `migration ${name} differs from the one applied to the database: deploy the applied version, unchanged`,
    ),
    ...(pending.length
      ? [
          pending.length === 1
            ? `the database lacks the migration ${pending[0]}: run "migrate"`
            : `the database lacks ${pending.length} migrations, starting with ${pending[0]}: run "migrate"`,
        ]
      : []),
  ];
}

const REASONS: Record<string, string> = {
  '28P01': 'the password was rejected: correct it in DATABASE_URL',
  '28000': 'the user was rejected: correct the user in DATABASE_URL, or the rules in pg_hba.conf',
  '3D000': 'the database does not exist: correct its name in DATABASE_URL, or create it',
  '42501': 'the user in DATABASE_URL is not allowed to read the tables: make this user the owner of the database',
  ENOTFOUND: 'host not found: correct the host in DATABASE_URL',
  ECONNREFUSED: 'nothing is listening at the address in DATABASE_URL: start PostgreSQL, or correct the address',
};

/** Addresses and names are left out: readiness is public. */
function describeFailure(err: Error & { code?: string }): string {
  if (/unsupported startup parameter/.test(err.message)) return 'the server is PgBouncer: set PGBOUNCER=transaction';
  if (/does not support SSL/.test(err.message)) {
    return 'the server does not offer TLS: turn on ssl there, or remove sslmode from DATABASE_URL';
  }
  if (err.code === 'ENOENT') return 'the sslrootcert file in DATABASE_URL cannot be read: correct its path';
  return (
    describeCertificateProblem(err, 'sslrootcert in DATABASE_URL') ??
    REASONS[err.code ?? ''] ??
    `the server is not responding (${err.code ?? err.message})`
  );
}
