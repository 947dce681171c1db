import { Pool, type PoolClient, type QueryConfig } from 'pg';
import type { Logger } from 'pino';
import { limitResponseTime } from './response-limit';

const CONNECTIONS_MAX = 10;
const CONNECT_TIMEOUT_MS = 2_000;
/** Longer than the pauses of a service's loops, so that they reuse their connections. */
const IDLE_MS = 15_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** A server that has not answered by then is frozen: it would have cancelled the statement. */
const RESPONSE_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000;

export interface PoolSettings {
  /** Connections; default 10. */
  max?: number | undefined;
  /**
   * PgBouncer in transaction mode refuses parameters at start-up, so that the time limit of statements has to be its
   * own, and before 1.21 loses prepared statements. Default: off.
   */
  pgbouncer?: 'off' | 'transaction' | 'transaction-prepared' | undefined;
  /** Callers get 503 after this long if PostgreSQL does not connect or every connection is busy; default 2 s. */
  connectTimeoutMs?: number | undefined;
  /** Callers get 503 after this long without a response to a statement; default 12 s. */
  responseTimeoutMs?: number | undefined;
}

/** The one pool of a service, shared by Prisma's adapter and plain SQL. */
export function createPool(url: string, options: PoolSettings & { service: string; log: Logger }): Pool {
  const { max = CONNECTIONS_MAX, pgbouncer = 'off' } = options;
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, responseTimeoutMs = RESPONSE_TIMEOUT_MS } = options;
  const pool = new Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: IDLE_MS,
    ...buildStartupParameters(options),
  });
  // When PostgreSQL goes down, idle connections emit `error` on the pool and busy ones on themselves; an unhandled
  // `error` would end the process. The user of a busy connection gets the failure of its query.
  pool.on('error', (err) => options.log.warn({ err }, 'lost an idle connection to PostgreSQL'));
  pool.on('connect', (client) => {
    client.on('error', (err) => options.log.warn({ err }, 'lost a connection to PostgreSQL'));
    if (pgbouncer === 'transaction') disableNamedStatements(client);
  });
  limitResponseTime(pool, responseTimeoutMs);
  return pool;
}

export const buildStartupParameters = ({ service, pgbouncer = 'off' }: { service: string } & PoolSettings) => ({
  application_name: service,
  ...(pgbouncer === 'off' && { statement_timeout: STATEMENT_TIMEOUT_MS }),
});

/** Sends statements without their names: the next one may run on another server connection, which has none of them. */
function disableNamedStatements(client: PoolClient): void {
  const query: (...args: unknown[]) => unknown = client.query.bind(client);
  client.query = ((statement: string | QueryConfig, ...rest: unknown[]) =>
    query(
      typeof statement === 'object' && statement.name ? { ...statement, name: undefined } : statement,
      ...rest,
    )) as PoolClient['query'];
}
