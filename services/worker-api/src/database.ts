import type { Execute } from '@gantry/events';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type QueryResult } from 'pg';
import type { Logger } from 'pino';
import { type Prisma, PrismaClient } from './generated/prisma/client';

/** The client, or a transaction of it. */
export type Db = PrismaClient | Prisma.TransactionClient;

export interface Database {
  /** For hot and locking SQL; Prisma uses the same connections. */
  pool: Pool;
  prisma: PrismaClient;
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 10;
/** A caller hears 503 after this long when PostgreSQL is away or every connection is busy. */
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;

export function openDatabase(url: string, log: Logger): Database {
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'worker-api',
  });
  // A connection that dies (PostgreSQL restarts) is replaced by the pool. Unheard, its event would end the process: the
  // pool hears it of idle connections only, so each is listened to for its whole life.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', (err) => log.warn({ err }, 'lost a connection to PostgreSQL'));
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  return {
    pool,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** How packages/events writes into a Prisma transaction. */
export const executeIn =
  (tx: Db): Execute =>
  (sql, values) =>
    tx.$executeRawUnsafe(sql, ...values);

/** A transaction of plain SQL, for what needs locks or a row count. */
export async function inTransaction<T>(pool: Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failed: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work((sql, values) => client.query(sql, values));
    await client.query('COMMIT');
    return result;
  } catch (err) {
    failed = err as Error;
    await client.query('ROLLBACK').catch(() => {});
    throw err;
  } finally {
    client.release(failed);
  }
}

export type Query = (sql: string, values: unknown[]) => Promise<QueryResult>;
