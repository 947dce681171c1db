import { dropForPlatform } from '../candidates/decide-candidate';
import type { RepairDeps } from './repair-deps';
import { deleteOldRepairs, rejectOrphanedRepairs } from './repair-repository';

/** An approval goes with the run that was to be repaired: then no approver can decide any more. */
export async function expireRepairs(deps: RepairDeps): Promise<void> {
  const { pool } = deps;
  for (const candidateId of await rejectOrphanedRepairs(pool)) await dropForPlatform(deps, candidateId);
  await deleteOldRepairs(pool);
}
