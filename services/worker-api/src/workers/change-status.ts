import { conflict } from '@gantry/errors';
import type { Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { WorkerStatus } from '../generated/prisma/client';
import { rescheduleTriggers } from '../triggers/trigger-repository';
import { computeUpdatedAt } from './edit-worker';
import { recordWorkerChange } from './record-worker-change';
import type { WorkerDeps } from './worker-deps';
import { lockVisibleWorker } from './worker-repository';

interface Transition {
  from: WorkerStatus[];
  to: WorkerStatus;
  change: 'paused' | 'resumed' | 'archived' | 'restored';
  /** Said where the worker is in neither of them. */
  refusal: string;
}

/** Runs that have begun or wait go on; none is started until the worker is active again. */
export const transitions = {
  pause: { from: ['active'], to: 'paused', change: 'paused', refusal: 'it is archived; restore it first' },
  resume: { from: ['paused'], to: 'active', change: 'resumed', refusal: 'it is archived; restore it instead' },
  archive: { from: ['active', 'paused'], to: 'archived', change: 'archived', refusal: '' },
  restore: { from: ['archived'], to: 'active', change: 'restored', refusal: 'it is not archived' },
} satisfies Record<string, Transition>;

/**
 * Where the worker is there already, nothing happens; restoring is only for archived ones.
 * @throws AppError 404; 409 `wrong_status`
 */
export async function changeWorkerStatus(
  deps: WorkerDeps,
  { caller, actor }: Requester,
  id: string,
  { from, to, change, refusal }: Transition,
): Promise<void> {
  await transaction(deps.prisma, async (tx) => {
    const worker = await lockVisibleWorker(tx, caller, id);
    if (worker.status === to && change !== 'restored') return;
    if (!from.includes(worker.status)) throw conflict('wrong_status', `this worker can't be ${change}: ${refusal}`);
    const now = deps.now();
    await tx.worker.update({
      where: { uid: worker.uid },
      data: { status: to, updatedAt: computeUpdatedAt(worker, now) },
    });
    await rescheduleTriggers(tx, { ...worker, status: to }, now);
    await recordWorkerChange(tx, actor, worker, change, { from: worker.status });
  });
}
