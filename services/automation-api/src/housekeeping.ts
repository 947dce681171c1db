/** All sweeps of this service. */
import { sweepClosures, sweepInbox } from '@gantry/events';
import { sweepIdempotencyKeys } from '@gantry/http';
import type { ObjectStore } from '@gantry/object-store';
import type { Sweep } from '@gantry/service';
import type { Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import { sweepUploads } from './artifacts/upload-repository';
import type { PrismaClient } from './generated/prisma/client';

export function sweepsOf(options: {
  pool: Pool;
  prisma: PrismaClient;
  objects: ObjectStore;
  vault: Vault;
  now: () => Date;
}): Sweep[] {
  const { pool, prisma, objects, vault, now } = options;
  return [
    { what: 'data keys', run: vault.rewrap },
    { what: 'idempotency keys', run: () => sweepIdempotencyKeys(pool) },
    { what: 'uploads', run: () => sweepUploads(prisma, objects, now()) },
    { what: 'closures', run: () => sweepClosures(pool) },
    { what: 'inbox', run: () => sweepInbox(pool) },
  ];
}
