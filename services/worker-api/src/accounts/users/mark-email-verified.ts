/**
 * Verifies that an address belongs to its user.
 *
 * Only two things verify it: a link that the platform's mailer sent to the address and showed to no other person, or an
 * identity provider that marks it as verified. Signing in with a password, or holding a link that was handed over,
 * verifies nothing: the inviter could have opened that link.
 */

import { enqueue, memberChanged } from '@gantry/events';
import type { Actor, AuditAction } from '@gantry/http';
import { recordChange } from '../../audit/audit-entry';
import type { Db } from '../../database';
import type { User } from '../../generated/prisma/client';

/** The kind of verification, for the audit log. */
export type EmailVerificationMethod = 'mailed_link' | 'mailed_invitation' | 'mailed_reset' | 'identity_provider';

/**
 * Marks the address as verified in the caller's transaction; evict the user from the identity cache after the commit.
 * Idempotent for a verified address.
 */
export async function markEmailVerified(
  tx: Db,
  actor: Actor,
  userId: string,
  method: EmailVerificationMethod,
): Promise<User> {
  const { count } = await tx.user.updateMany({
    where: { id: userId, emailVerifiedAt: null },
    data: { emailVerifiedAt: new Date() },
  });
  const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
  if (count) await recordVerificationChange(tx, actor, user, 'user.email_verified', { email: user.email, by: method });
  return user;
}

/** Revokes the verification: the holder got the account through a link that an admin saw and may have opened. */
export async function markEmailUnverified(tx: Db, actor: Actor, user: User): Promise<void> {
  await tx.user.update({ where: { id: user.id }, data: { emailVerifiedAt: null, holderSince: new Date() } });
  if (user.emailVerifiedAt)
    await recordVerificationChange(tx, actor, user, 'user.email_unverified', { email: user.email });
  else await enqueueIdentityEviction(tx, user);
}

async function recordVerificationChange(
  tx: Db,
  actor: Actor,
  user: User,
  action: AuditAction,
  details: Record<string, unknown>,
) {
  const { id, defaultWorkspaceId } = user;
  await enqueueIdentityEviction(tx, user);
  await recordChange(tx, actor, action, { workspaceId: defaultWorkspaceId, id }, details);
}

/** Invalidates the user's cached identities. */
const enqueueIdentityEviction = (tx: Db, { id, defaultWorkspaceId }: User): Promise<void> =>
  enqueue(tx, memberChanged, defaultWorkspaceId ?? '', { userId: id });
