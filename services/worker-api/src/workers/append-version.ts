import type { Actor } from '@gantry/http';
import type { Prisma } from '../generated/prisma/client';
import { computeUpdatedAt, getNextVersionNumber } from './edit-worker';
import { recordWorkerChange } from './record-worker-change';
import { insertVersion, type NewVersion, type Version } from './version-repository';
import type { WorkerWithTriggers } from './worker-repository';

type AppendedVersion = Pick<Version, 'sha' | 'definition' | 'files' | 'code' | 'needsApproval'> &
  Pick<NewVersion, 'message' | 'authorId' | 'authorLabel' | 'changeSource' | 'onlyWorkers'>;

/**
 * Version, worker, audit entry and event, in a transaction that holds the worker's row.
 * @param details beside those of every new version
 * @returns its number
 */
export async function appendVersion(
  tx: Prisma.TransactionClient,
  worker: WorkerWithTriggers,
  {
    version,
    from,
    actor,
    now,
    details,
  }: {
    version: AppendedVersion;
    /** sha of the version that ran until now. */
    from: string;
    actor: Actor;
    now: Date;
    details?: Record<string, unknown>;
  },
): Promise<number> {
  const number = await getNextVersionNumber(tx, worker);
  await insertVersion(tx, worker.workspaceId, { ...version, workerUid: worker.uid, number });
  const data = { currentVersion: number, runner: version.definition.runner, updatedAt: computeUpdatedAt(worker, now) };
  await tx.worker.update({ where: { uid: worker.uid }, data });
  const said = { version: number, change_source: version.changeSource, from, to: version.sha };
  await recordWorkerChange(tx, actor, worker, 'updated', { ...said, ...details });
  return number;
}
