import { SYSTEM } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { findCandidate } from '../candidates/candidate-repository';
import { dropInTransaction } from '../candidates/decide-candidate';
import { findWorkerHead } from '../workers/worker-queries';
import type { RepairDeps } from './repair-deps';
import { deleteOldRepairs, rejectOrphanedRepairs } from './repair-repository';

/** An approval goes with the run that was to be repaired: then no approver can decide any more. */
export async function expireRepairs({ pool, prisma, now }: RepairDeps): Promise<void> {
  for (const candidateId of await rejectOrphanedRepairs(pool)) {
    const candidate = await findCandidate(pool, candidateId);
    const worker = candidate && (await findWorkerHead(pool, candidate.workspaceId, { uid: candidate.workerUid }));
    if (!worker) continue;
    const systemActor = { id: null, label: null, actor: SYSTEM };
    await transaction(prisma, (tx) => dropInTransaction(tx, candidate, worker.id, systemActor, now()));
  }
  await deleteOldRepairs(pool);
}
