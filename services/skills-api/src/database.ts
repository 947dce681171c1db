import { createPool, type PoolSettings, registerPrismaPool, type Database as SharedDatabase } from '@gantry/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Logger } from 'pino';
import { type Prisma, PrismaClient } from './generated/prisma/client';

/** The client, or a transaction of it. */
export type Db = PrismaClient | Prisma.TransactionClient;

export type Database = SharedDatabase<PrismaClient>;

const TRANSACTION = { timeout: 15_000 };

export function openDatabase(url: string, log: Logger, settings: PoolSettings = {}): Database {
  const pool = createPool(url, { ...settings, service: 'skills-api', log });
  return registerPrismaPool(new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions: TRANSACTION }), pool);
}
