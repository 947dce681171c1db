/**
 * When an address counts as its user's.
 *
 * Only two things show it: a link that our mailer sent to the address and that nobody else saw, or an identity provider
 * that says it has verified it. Whoever signs in with a password, or holds a link that somebody handed over, has shown
 * nothing: the inviter could have opened that link.
 */

import { enqueue, memberChanged } from '@gantry/events';
import type { Actor } from '@gantry/http';
import { recordChange } from '../../audit/audit-entry';
import type { Db } from '../../database';
import type { User } from '../../generated/prisma/client';

/** The kind of proof, for the audit log. */
export type Proof = 'mailed_link' | 'mailed_invitation' | 'mailed_reset' | 'identity_provider';

/** Inside the caller's transaction; evict the user from the identity cache after the commit. Changes nothing for a proven address. */
export async function proveEmail(tx: Db, actor: Actor, userId: string, by: Proof): Promise<User> {
  const { count } = await tx.user.updateMany({
    where: { id: userId, emailVerifiedAt: null },
    data: { emailVerifiedAt: new Date() },
  });
  const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
  if (count) await announce(tx, actor, user, 'user.email_verified', { email: user.email, by });
  return user;
}

/** The holder of the account got it from somebody else, who may be the one that opened the link. */
export async function unproveEmail(tx: Db, actor: Actor, user: User): Promise<void> {
  const { count } = await tx.user.updateMany({
    where: { id: user.id, emailVerifiedAt: { not: null } },
    data: { emailVerifiedAt: null },
  });
  if (count) await announce(tx, actor, user, 'user.email_unverified', { email: user.email });
}

/** Everybody asks again who the user is. */
async function announce(tx: Db, actor: Actor, user: User, action: string, details: Record<string, unknown>) {
  const { id, defaultWorkspaceId } = user;
  await enqueue(tx, memberChanged, defaultWorkspaceId ?? '', { userId: id });
  await recordChange(tx, actor, {
    workspaceId: defaultWorkspaceId,
    action,
    resource: { type: 'user', id },
    details,
  });
}
