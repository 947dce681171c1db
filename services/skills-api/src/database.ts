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
  // A connection that dies (PostgreSQL restarts) is replaced by the pool. Unheard, its event would end the process: the
  // pool hears it of idle connections only, so each is listened to for its whole life.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', (err) => log.warn({ err }, 'lost a connection to PostgreSQL'));
  });
  return pool;
}
