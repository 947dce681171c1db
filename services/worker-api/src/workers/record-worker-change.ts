import { enqueue, workerChanged } from '@gantry/events';
import type { z } from 'zod';
import type { Actor } from '../audit/actor';
import { recordChange } from '../audit/audit-entry';
import { type Db, executeIn } from '../database';
import type { Worker } from '../generated/prisma/client';

type Change = z.input<typeof workerChanged.data>['change'];

/** The entry of the audit log and the event, in the transaction of the change; kick the relay after it. */
export async function recordWorkerChange(
  tx: Db,
  actor: Actor,
  { workspaceId, uid, id }: Pick<Worker, 'workspaceId' | 'uid' | 'id'>,
  change: Change,
  details: Record<string, unknown> = {},
): Promise<void> {
  await enqueue(executeIn(tx), workerChanged, workspaceId, { workerUid: uid, workerId: id, change });
  await recordChange(executeIn(tx), actor, {
    workspaceId,
    action: `worker.${change}`,
    resource: { type: 'worker', id },
    details,
  });
}
