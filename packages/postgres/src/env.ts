import { z } from 'zod';
import type { PoolSettings } from './pool';

/** Below this a sweep that holds a lock could wait for a connection that never comes. */
const POOL_MIN = 4;
const POOL_TIMEOUT_SECONDS_MAX = 60;

export const databaseEnv = {
  DATABASE_URL: z.url(),
  /** Connections of one replica; default: what the service asks for. */
  DATABASE_POOL_MAX: z.coerce.number().int().min(POOL_MIN).max(1_000).optional(),
  /** Time limit of a request that waits for a connection; default 2. */
  DATABASE_POOL_TIMEOUT_SECONDS: z.coerce.number().min(1).max(POOL_TIMEOUT_SECONDS_MAX).optional(),
  /**
   * `transaction`: DATABASE_URL leads to a PgBouncer in that mode; `transaction-prepared`: to one that keeps prepared
   * statements.
   */
  PGBOUNCER: z.enum(['off', 'transaction', 'transaction-prepared']).default('off'),
};

type DatabaseEnv = Omit<z.infer<z.ZodObject<typeof databaseEnv>>, 'DATABASE_URL'>;

export const toPoolSettings = (env: DatabaseEnv): PoolSettings => ({
  max: env.DATABASE_POOL_MAX,
  connectTimeoutMs: env.DATABASE_POOL_TIMEOUT_SECONDS && env.DATABASE_POOL_TIMEOUT_SECONDS * 1_000,
  pgbouncer: env.PGBOUNCER,
});
