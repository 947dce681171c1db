import { Pool } from 'pg';
import type { Logger } from 'pino';

const CONNECTIONS_MAX = 10;
/** Callers get 503 after this long if PostgreSQL is down or every connection is busy. */
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * The one pool of a service, shared by Prisma's adapter and plain SQL.
 * @param options.max connections; default 10
 * @param options.settings PostgreSQL settings for every connection: `-c name=value`
 */
export function createPool(
  url: string,
  options: { service: string; log: Logger; max?: number; settings?: string },
): Pool {
  const pool = new Pool({
    connectionString: url,
    max: options.max ?? CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: options.service,
    ...(options.settings && { options: options.settings }),
  });
  // When PostgreSQL goes down, idle connections emit `error` on the pool and busy ones on themselves; an unhandled `error`
  // would end the process. The user of a busy connection gets the failure of its query.
  pool.on('error', (err) => options.log.warn({ err }, 'lost an idle connection to PostgreSQL'));
  pool.on('connect', (client) => {
    client.on('error', (err) => options.log.warn({ err }, 'lost a connection to PostgreSQL'));
  });
  return pool;
}
