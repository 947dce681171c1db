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

/** A burst of runs keeps more connections busy than the other surfaces ever do. */
const CONNECTIONS_MAX = 16;

export function openDatabase(url: string, log: Logger): Database {
  const pool = createPool(url, { service: 'automation-api', log, max: CONNECTIONS_MAX });
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
