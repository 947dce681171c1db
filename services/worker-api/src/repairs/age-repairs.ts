import { SYSTEM } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { findCandidate } from '../candidates/candidate-repository';
import { dropIn } from '../candidates/decide-candidate';
import { findWorkerHead } from '../workers/worker-queries';
import type { RepairDeps } from './repair-deps';
import { deleteOldRepairs, endForgotten } from './repair-repository';

/** An approval goes with the run that was to be repaired: then no approver can decide any more. */
export async function ageRepairs({ pool, prisma, now }: RepairDeps): Promise<void> {
  for (const candidateId of await endForgotten(pool)) {
    const candidate = await findCandidate(pool, candidateId);
    const worker = candidate && (await findWorkerHead(pool, candidate.workspaceId, { uid: candidate.workerUid }));
    if (!worker) continue;
    const nobody = { id: null, label: null, actor: SYSTEM };
    await transaction(prisma, (tx) => dropIn(tx, candidate, worker.id, nobody, now()));
  }
  await deleteOldRepairs(pool);
}
