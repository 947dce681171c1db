/**
 * One interface for transactions of plain SQL and of Prisma.
 *
 * Functions that write events, audit entries and idempotency keys take the transaction itself, of either kind.
 * `afterCommit` defers work until the transaction has committed: cache invalidation, waking the outbox relay.
 */
import type { Pool, PoolClient } from 'pg';
import { pollSoon } from './poll-for-work';

/** Plain SQL: the pool, or a client inside a transaction. */
export type Sql = Pick<PoolClient, 'query'>;

/** Prisma's client inside a transaction, of any schema. */
interface PrismaTx {
  $executeRawUnsafe(sql: string, ...values: unknown[]): Promise<number>;
}

/** A transaction; or a pool, for a single statement. */
export type Tx = Sql | PrismaTx;

/** A Prisma client. The last of its overloads is the one that takes a function. */
interface Prisma<T extends PrismaTx> {
  $transaction<R>(work: (tx: T) => Promise<R>, options?: PrismaOptions): Promise<R>;
}

/** Prisma waits this much longer for a connection than its pool, whose error then says what is wrong. */
const WAIT_MARGIN_MS = 3_000;

/** Milliseconds to wait for a connection (default: see WAIT_MARGIN_MS), and for the whole transaction. */
interface PrismaOptions {
  maxWait?: number;
  timeout?: number;
}

interface OpenTransaction {
  db: object;
  afterCommit: Set<() => void>;
}

const open = new WeakMap<object, OpenTransaction>();
/** By Prisma client. */
const pools = new WeakMap<object, Pool>();

export interface Database<Client> {
  /** For hot and locking SQL; Prisma uses the same connections. */
  pool: Pool;
  prisma: Client;
  close(): Promise<void>;
}

/** Declares that a Prisma client uses a pool, so that `getPool` and deferred work apply to both. */
export function registerPrismaPool<Client extends { $disconnect(): Promise<void> }>(
  prisma: Client,
  pool: Pool,
): Database<Client> {
  pools.set(prisma, pool);
  return {
    pool,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/**
 * Runs `work` in a transaction, and the functions passed to `afterCommit` once it has committed. Throws the errors of
 * `work`.
 */
export function transaction<T>(pool: Pool, work: (tx: PoolClient) => Promise<T>): Promise<T>;
export function transaction<P extends PrismaTx, T>(
  prisma: Prisma<P>,
  work: (tx: P) => Promise<T>,
  options?: PrismaOptions,
): Promise<T>;
export async function transaction<P extends PrismaTx, T>(
  db: Pool | Prisma<P>,
  work: ((tx: PoolClient) => Promise<T>) | ((tx: P) => Promise<T>),
  options?: PrismaOptions,
): Promise<T> {
  const afterCommit = new Set<() => void>();
  const trackTransaction = async <Client extends object>(tx: Client, each: (tx: Client) => Promise<T>): Promise<T> => {
    open.set(tx, { db, afterCommit });
    try {
      return await each(tx);
    } finally {
      open.delete(tx);
    }
  };
  const result =
    '$transaction' in db
      ? await db.$transaction((tx) => trackTransaction(tx, work as (tx: P) => Promise<T>), {
          maxWait: (pools.get(db)?.options.connectionTimeoutMillis ?? 0) + WAIT_MARGIN_MS,
          ...options,
        })
      : await runInPoolClient(db, (tx) => trackTransaction(tx, work as (tx: PoolClient) => Promise<T>));
  for (const callback of afterCommit) callback();
  pollSoon(getPool(db as Tx));
  return result;
}

/** A connection that failed in a transaction is not reused. */
async function runInPoolClient<T>(pool: Pool, work: (tx: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failed: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
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

/**
 * Runs `callback` after the transaction has committed, once however often it was passed, and never if it rolls back;
 * outside a transaction, at once. Rolling back to a savepoint does not remove it: `callback` must be harmless in that
 * case.
 */
export function afterCommit(tx: Tx, callback: () => void): void {
  const transaction = open.get(tx);
  if (transaction) transaction.afterCommit.add(callback);
  else callback();
}

/** Returns the pool behind a transaction or a Prisma client. */
export function getPool(tx: Tx): Pool {
  const db = open.get(tx)?.db ?? tx;
  return pools.get(db) ?? (db as Pool);
}

/** @returns the number of affected rows */
export async function execute(tx: Tx, sql: string, values: unknown[]): Promise<number> {
  if ('query' in tx) return (await tx.query(sql, values)).rowCount ?? 0;
  return tx.$executeRawUnsafe(sql, ...values);
}
