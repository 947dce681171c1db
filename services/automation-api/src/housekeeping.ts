/** What has had its time, removed now and then. Every replica may do it at any moment. */
import { sweepClosures } from '@gantry/events';
import { sweepIdempotencyKeys } from '@gantry/http';
import type { ObjectStore } from '@gantry/object-store';
import type { Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { sweepUploads } from './artifacts/upload-repository';
import type { PrismaClient } from './generated/prisma/client';

const EVERY_MS = 3_600_000;

export function startHousekeeping(options: {
  pool: Pool;
  prisma: PrismaClient;
  objects: ObjectStore;
  vault: Vault;
  now: () => Date;
  log: Logger;
}): { stop(): void } {
  const { pool, prisma, objects, vault, now, log } = options;
  let stopped = false;
  const sweep = async () => {
    await vault.rewrap();
    await sweepIdempotencyKeys(pool);
    while (!stopped && (await sweepUploads(prisma, objects, now()))) {}
    await sweepClosures(pool);
    // JetStream keeps events for three days: an older one can't come again.
    await pool.query("DELETE FROM inbox WHERE received_at < now() - interval '7 days'");
  };
  const attempt = () => sweep().catch((err) => !stopped && log.warn({ err }, 'housekeeping: will try again'));
  const timer = setInterval(attempt, EVERY_MS).unref();
  const first = setTimeout(attempt, 10_000).unref();
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
      clearTimeout(first);
    },
  };
}
