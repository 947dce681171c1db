import type { Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Deps } from '../deps';
import { ownerIdOf } from '../ownership';
import { later, nextNumber, requireNotArchived } from './edit-worker';
import { requireExposure } from './exposure';
import { recordWorkerChange } from './record-worker-change';
import { getCurrentVersion, getVersionBySha, insertVersion } from './version-repository';
import { lockVisibleWorker } from './worker-repository';

/**
 * Appends a version that is equal to an earlier one and makes it the current one; nothing is lost by it.
 * @throws AppError 403 where what it exposes may no longer be; 404; 409 `archived`
 */
export async function rollBack(
  deps: Deps,
  { caller, actor, made }: Requester,
  id: string,
  { sha, message }: { sha: string; message: string | null },
): Promise<void> {
  await transaction(deps.prisma, async (tx) => {
    const worker = await lockVisibleWorker(tx, caller, id);
    requireNotArchived(worker);
    const target = await getVersionBySha(tx, worker, sha);
    const current = await getCurrentVersion(tx, worker);
    await made(tx, sha);
    if (target.sha === current.sha) return;
    const { definition, files, code } = target;
    await requireExposure(tx, worker.workspaceId, definition);
    const number = await nextNumber(tx, worker);
    await insertVersion(tx, worker.workspaceId, {
      ...{ workerUid: worker.uid, number, sha: target.sha, definition, files, code },
      message: message ?? `Back to version ${target.number}`,
      authorId: ownerIdOf(caller),
      authorLabel: actor.label,
      changeSource: 'rollback',
    });
    const data = { currentVersion: number, runner: definition.runner, updatedAt: later(worker, deps.now()) };
    await tx.worker.update({ where: { uid: worker.uid }, data });
    const back = { version: number, back_to: target.number };
    const details = { change_source: 'rollback', from: current.sha, to: target.sha, ...back };
    await recordWorkerChange(tx, actor, worker, 'updated', details);
  });
}
