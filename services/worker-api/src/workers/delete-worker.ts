/**
 * A deleted worker is gone for everybody at once, and its id is free again. What it leaves behind (runs, their events
 * and files, versions and their code) is taken away by housekeeping, a batch at a time, when none of its runs goes on
 * any more.
 */

import type { Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { deleteDependencyRecords, deleteRunsOfSubject, requestCancelOfIdleRuns } from '@gantry/run-engine';
import { assertCanManage } from '../access/ownership';
import { replaceTriggers } from '../triggers/trigger-repository';
import { recordWorkerChange } from './record-worker-change';
import { enqueueSkillRemovedEvent } from './version-repository';
import { buildCodePrefix } from './worker-code';
import type { WorkerDeps } from './worker-deps';
import { lockVisibleWorker } from './worker-repository';

/** @throws AppError 403, 404 */
export async function deleteWorker(deps: WorkerDeps, { caller, actor }: Requester, id: string): Promise<void> {
  const uid = await transaction(deps.prisma, async (tx) => {
    const worker = await lockVisibleWorker(tx, caller, id);
    assertCanManage(caller, worker, 'worker');
    const now = deps.now();
    await replaceTriggers(tx, worker, [], now);
    await tx.worker.update({ where: { uid: worker.uid }, data: { id: worker.uid, deletedAt: now } });
    await requestCancelOfIdleRuns(tx, caller.workspaceId, worker.uid);
    await enqueueSkillRemovedEvent(tx, worker);
    await recordWorkerChange(tx, actor, worker, 'deleted', { name: worker.name });
    return worker.uid;
  });
  // The caller does not wait for a long queue: housekeeping deletes the rest.
  void deps.engine.cancelAll(caller.workspaceId, uid).catch((err) => {
    deps.log.warn({ err }, 'worker deleted, but its runs continue until housekeeping cancels them');
  });
}

const PURGE_BATCH_SIZE = 200;

type PurgeDeps = Pick<WorkerDeps, 'pool' | 'engine' | 'objects'>;

/** Every replica may do it at any moment, and begin again where another left off. @returns how many workers are gone */
export async function purgeDeletedWorkers(deps: PurgeDeps): Promise<number> {
  const { pool } = deps;
  const { rows } = await pool.query<{ uid: string; workspace_id: string }>(
    'SELECT uid, workspace_id FROM workers WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT $1',
    [PURGE_BATCH_SIZE],
  );
  let purged = 0;
  for (const { uid, workspace_id: workspaceId } of rows) {
    await deps.engine.cancelAll(workspaceId, uid);
    if (await purgeWorker(deps, workspaceId, uid)) purged++;
  }
  return purged;
}

/** False while one of its runs has not ended. */
async function purgeWorker({ pool, objects }: PurgeDeps, workspaceId: string, uid: string): Promise<boolean> {
  if (!(await deleteRunsOfSubject(pool, objects, { workspaceId, subjectId: uid }))) return false;
  await objects.deleteFolder(buildCodePrefix(workspaceId, uid));
  await deleteDependencyRecords(pool, workspaceId, uid);
  await pool.query('DELETE FROM workers WHERE workspace_id = $1 AND uid = $2', [workspaceId, uid]);
  return true;
}
