/** Applies the consequences of every change of a membership or its role. */
import { enqueue, memberChanged } from '@gantry/events';
import type { Db } from '../../database';

/**
 * Invalidates the user's cached identities and ends password links that an admin created for this person, or this
 * person created as an admin: they depended on both memberships. Call it inside the transaction of the change. A link
 * in use at this moment either completes first, or is found deleted.
 */
export async function handleMembershipChange(tx: Db, workspaceId: string, userId: string): Promise<void> {
  await enqueue(tx, memberChanged, workspaceId, { userId });
  await tx.passwordReset.deleteMany({
    where: { usedAt: null, OR: [{ userId, issuedBy: { not: null } }, { issuedBy: userId }] },
  });
}
