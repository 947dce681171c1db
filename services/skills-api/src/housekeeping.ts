/** What has had its time, removed now and then. Every replica may do it at any moment. */
import { sweepClosures } from '@gantry/events';
import { sweepIdempotencyKeys } from '@gantry/http';
import type { Logger } from 'pino';
import type { Database } from './database';
import { RESTORABLE_DAYS } from './skills/skill';
import { purgeDeleted } from './skills/skill-repository';

const EVERY_MS = 3_600_000;

export function startHousekeeping({ database, log }: { database: Database; log: Logger }): { stop(): void } {
  const { pool, prisma } = database;
  const sweep = async () => {
    await sweepIdempotencyKeys(pool);
    await purgeDeleted(prisma, new Date(Date.now() - RESTORABLE_DAYS * 86_400_000));
    await pool.query("DELETE FROM api_keys WHERE revoked_at < now() - interval '30 days'");
    await sweepClosures(pool);
    // JetStream keeps events for three days: an older one can't come again.
    await pool.query("DELETE FROM inbox WHERE received_at < now() - interval '7 days'");
  };
  const attempt = () => sweep().catch((err) => log.warn({ err }, 'housekeeping: will try again'));
  void attempt();
  const timer = setInterval(attempt, EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}
