/** Lists the sweeps of this service. The last ones may take long. */
import { sweepClosures, sweepInbox } from '@gantry/events';
import { sweepIdempotencyKeys } from '@gantry/limits';
import type { ObjectStore } from '@gantry/object-store';
import { deleteExpiredEvents, deleteExpiredRuns, type RetentionBounds } from '@gantry/run-engine';
import type { Sweep } from '@gantry/service';
import type { Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import { sweepUploads } from './artifacts/upload-repository';
import type { PrismaClient } from './generated/prisma/client';

export function listSweeps(options: {
  pool: Pool;
  prisma: PrismaClient;
  objects: ObjectStore;
  vault: Vault;
  retention: RetentionBounds;
  now: () => Date;
}): Sweep[] {
  const { pool, prisma, objects, vault, retention: bounds, now } = options;
  return [
    { what: 'data keys', run: vault.rewrap },
    { what: 'idempotency keys', run: () => sweepIdempotencyKeys(pool) },
    { what: 'uploads', run: () => sweepUploads(prisma, objects, now()) },
    { what: 'closures', run: () => sweepClosures(pool) },
    { what: 'inbox', run: () => sweepInbox(pool) },
    { what: 'run events', run: () => deleteExpiredEvents({ pool, bounds, now }) },
    { what: 'runs', run: () => deleteExpiredRuns({ pool, objects, bounds, now }) },
  ];
}
