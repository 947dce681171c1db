/** All sweeps of this service. */
import { sweepClosures, sweepInbox } from '@gantry/events';
import { sweepIdempotencyKeys } from '@gantry/limits';
import type { Sweep } from '@gantry/service';
import { sweepApiKeys } from './api-keys/api-key';
import type { Database } from './database';
import { RESTORABLE_DAYS } from './skills/skill';
import { sweepPins } from './skills/skill-pins';
import { purgeDeletedSkills } from './skills/skill-repository';

export const listSweeps = ({ pool, prisma }: Database): Sweep[] => [
  { what: 'idempotency keys', run: () => sweepIdempotencyKeys(pool) },
  {
    what: 'deleted skills',
    run: () => purgeDeletedSkills(prisma, new Date(Date.now() - RESTORABLE_DAYS * 86_400_000)),
  },
  { what: 'skill pins', run: () => sweepPins(pool) },
  { what: 'API keys', run: () => sweepApiKeys(pool) },
  { what: 'closures', run: () => sweepClosures(pool) },
  { what: 'inbox', run: () => sweepInbox(pool) },
];
