import { createPool, type Database as SharedDatabase, sharePool } from '@gantry/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Logger } from 'pino';
import { type Prisma, PrismaClient } from './generated/prisma/client';

/** The client, or a transaction of it. */
export type Db = PrismaClient | Prisma.TransactionClient;

export type Database = SharedDatabase<PrismaClient>;

/** How alike a misspelt word must be to be found: pg_trgm's own 0.6 misses two letters changed over. */
const WORD_SIMILARITY = '-c pg_trgm.word_similarity_threshold=0.4';

/** Longer than the pool waits for a connection, whose 503 then says what is wrong. */
const TRANSACTION = { maxWait: 5_000, timeout: 15_000 };

export function openDatabase(url: string, log: Logger): Database {
  const pool = createPool(url, { service: 'skills-api', log, settings: WORD_SIMILARITY });
  return sharePool(new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions: TRANSACTION }), pool);
}
