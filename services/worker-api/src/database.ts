import { createPool, sharePool } from '@gantry/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';
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

export function openDatabase(url: string, log: Logger): Database {
  const pool = createPool(url, { service: 'worker-api', log });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  sharePool(prisma, pool);
  return {
    pool,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}
