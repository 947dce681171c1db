import { Pool } from 'pg';
import type { Logger } from 'pino';

const CONNECTIONS_MAX = 10;
/** A caller hears 503 after this long when PostgreSQL is away or every connection is busy. */
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;

export function openPool(url: string, log: Logger): Pool {
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'skills-api',
  });
  // An idle connection that dies (PostgreSQL restarts) is replaced by the pool; unheard, the event would end the process.
  pool.on('error', (err) => log.warn({ err }, 'lost an idle connection to PostgreSQL'));
  return pool;
}
