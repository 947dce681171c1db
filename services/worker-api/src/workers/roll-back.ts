import type { Requester } from '@gantry/http';
import { getTokenScope, intersectScopes } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { findOwnerId } from '../access/ownership';
import { appendVersion } from './append-version';
import { requireNotArchived } from './edit-worker';
import { requireAllowedExposure } from './exposure';
import { getCurrentVersion, getVersionBySha } from './version-repository';
import type { WorkerDeps } from './worker-deps';
import { lockVisibleWorker } from './worker-repository';

/**
 * Appends a version that is equal to an earlier one and makes it the current one; nothing is lost by it.
 * @throws AppError 403 where what it exposes may no longer be; 404; 409 `archived`
 */
export async function rollBackWorker(
  deps: WorkerDeps,
  { caller, actor, markCreated }: Requester,
  id: string,
  { sha, message }: { sha: string; message: string | null },
): Promise<void> {
  await transaction(deps.prisma, async (tx) => {
    const worker = await lockVisibleWorker(tx, caller, id);
    requireNotArchived(worker);
    const target = await getVersionBySha(tx, worker, sha);
    const current = await getCurrentVersion(tx, worker);
    await markCreated(tx, sha);
    if (target.sha === current.sha) return;
    const { definition, files, code, needsApproval } = target;
    const onlyWorkers = intersectScopes(getTokenScope(caller, 'workers'), target.onlyWorkers);
    await requireAllowedExposure(tx, worker, findOwnerId(caller), definition);
    await appendVersion(tx, worker, {
      version: {
        sha: target.sha,
        definition,
        files,
        code,
        onlyWorkers,
        needsApproval,
        message: message ?? `Rolled back to version ${target.number}`,
        authorId: findOwnerId(caller),
        authorLabel: actor.label,
        changeSource: 'rollback',
      },
      from: current.sha,
      actor,
      now: deps.now(),
      details: { back_to: target.number },
    });
  });
}
