/** Verification of an email address: a mailed link, opened in a signed-in session of the account. */

import { createOpaqueToken } from '@gantry/auth';
import { conflict, gone, unavailable, unknownLinkError } from '@gantry/errors';
import type { Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import { recordChange } from '../../audit/audit-entry';
import type { User } from '../../generated/prisma/client';
import { NOT_CONFIGURED_MESSAGE } from '../../mail/mailer';
import type { AccountDeps } from '../account-deps';
import { getSignedInUserId } from '../identity/caller-user';
import { markEmailVerified } from '../users/mark-email-verified';

const LINK_TTL_HOURS = 24;

/** Invalidates earlier links. @returns the address it was sent to. @throws AppError 403 for a token, 409, 503 */
export async function sendVerificationEmail(deps: AccountDeps, { caller, actor }: Requester): Promise<string> {
  const { prisma, hasher, mailer, dashboardUrl } = deps;
  const userId = getSignedInUserId(caller);
  const { email, emailVerifiedAt } = await prisma.user.findUniqueOrThrow({ where: { id: userId } });
  if (emailVerifiedAt) throw conflict('already_verified', `${email} is already verified`);
  if (!mailer.isConfigured) throw conflict('email_not_configured', NOT_CONFIGURED_MESSAGE);
  const token = createOpaqueToken('vfy_');
  await transaction(prisma, async (tx) => {
    await tx.emailVerification.deleteMany({ where: { userId, usedAt: null } });
    const expiresAt = new Date(Date.now() + LINK_TTL_HOURS * 3_600_000);
    await tx.emailVerification.create({
      data: { hash: hasher.hash(token).hash, userId, email, expiresAt },
    });
    await recordChange(tx, actor, 'user.email_verification_requested', { workspaceId: caller.workspaceId, id: userId });
  });
  const sent = await mailer.send({
    to: email,
    subject: 'Confirm your email address',
    text: `A user who signed in with this email address has asked to confirm that the address belongs to them.\n\nIf this was you, open this link within a day in a browser where you are signed in:\n\n${dashboardUrl}/verify-email#${token}\n\nIf this was not you, do nothing: that user will not get access to anything shared with you.\n`,
  });
  if (!sent) throw unavailable('the mail server');
  return email;
}

/**
 * Needs both the link and a session of the account. A link alone may have been opened by a person who never had the
 * account; a session alone is what verification must not trust. Every other session ends: it may belong to an earlier
 * holder.
 * @throws AppError 403 for a token, 404 unknown or another account's, 410 spent or expired
 */
export async function verifyEmail(
  { prisma, hasher, sessions }: AccountDeps,
  { caller, actor }: Requester,
  token: string,
): Promise<{ user: User; ended: string[] }> {
  const userId = getSignedInUserId(caller);
  const link = await prisma.emailVerification.findFirst({
    where: { hash: { in: hasher.candidatesForPrefix('vfy_', token) }, userId },
    include: { user: true },
  });
  if (!link || !hasher.matches(token, link.hash)) throw unknownLinkError('email confirmation for this account');
  return transaction(prisma, async (tx) => {
    const { count } = await tx.emailVerification.updateMany({
      where: { hash: link.hash, email: link.user.email, usedAt: null, expiresAt: { gt: new Date() } },
      data: { usedAt: new Date() },
    });
    if (!count) throw gone('link_spent', 'this link has already been used or has expired; request a new one');
    const ended = await sessions.closeAllOf(tx, userId, caller.tokenId ?? undefined);
    return { user: await markEmailVerified(tx, actor, userId, 'mailed_link'), ended };
  });
}

export const sweepEmailVerifications = (pool: Pool): Promise<unknown> =>
  pool.query("DELETE FROM email_verifications WHERE expires_at < now() - interval '7 days'");
