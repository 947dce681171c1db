/** Consequences of every change of a membership or its role. */
import { enqueue, memberChanged } from '@gantry/events';
import type { Db } from '../../database';

/**
 * Inside the transaction of the change. Everybody asks again who this is, and password links that an admin made for this
 * person, or this person as an admin, end: they were made for what both were then. A link that is being used at this moment
 * is waited for, or finds itself gone.
 */
export async function membershipChanged(tx: Db, workspaceId: string, userId: string): Promise<void> {
  await enqueue(tx, memberChanged, workspaceId, { userId });
  await tx.passwordReset.deleteMany({
    where: { usedAt: null, OR: [{ userId, issuedBy: { not: null } }, { issuedBy: userId }] },
  });
}
