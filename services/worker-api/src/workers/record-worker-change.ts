import { enqueue, workerChanged } from '@gantry/events';
import type { Actor } from '@gantry/http';
import type { z } from 'zod';
import { recordChange } from '../audit/audit-entry';
import type { Db } from '../database';
import type { Worker } from '../generated/prisma/client';

type Change = z.input<typeof workerChanged.data>['change'];

/**
 * The entry of the audit log and the event, in the transaction of the change.
 * @param worker as it is after the change
 * @param details.version of a new version
 */
export async function recordWorkerChange(
  tx: Db,
  actor: Actor,
  {
    workspaceId,
    uid,
    id,
    evaluateOnSave,
  }: Pick<Worker, 'workspaceId' | 'uid' | 'id'> & Partial<Pick<Worker, 'evaluateOnSave'>>,
  change: Change,
  details: { version?: number; [name: string]: unknown } = {},
): Promise<void> {
  const { version } = details;
  await enqueue(tx, workerChanged, workspaceId, { workerUid: uid, workerId: id, change, version, evaluateOnSave });
  await recordChange(tx, actor, `worker.${change}`, { workspaceId, id }, details);
}
