/** The inviter's side: invite, send again, withdraw. */

import { createOpaqueToken } from '@gantry/auth';
import { conflict, forbidden } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { OperationCall, Requester } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../../audit/audit-entry';
import type { PrismaClient } from '../../generated/prisma/client';
import type { Mailer } from '../../mail/mailer';
import type { AccountDeps } from '../account-deps';
import { isMemberByEmail, lockWorkspace } from '../members/member-repository';
import { findCallingTokenId } from '../tokens/token-service';
import { requireEmail } from '../users/email';
import { getWorkspace } from '../workspaces/workspace-repository';
import { computeInvitationExpiry, requirePendingInvitation } from './invitation';
import {
  getInvitation,
  hasOpenInvitation,
  type InvitationWithValidity,
  insertInvitation,
  markInvitationMailed,
} from './invitation-repository';

export interface SentInvitation {
  invitation: InvitationWithValidity;
  emailSent: boolean;
  /** Null if it was mailed: only a link that the inviter has not seen verifies the address. */
  url: string | null;
}

/**
 * Does not reveal whether the address has an account.
 * @throws AppError 400 for an invalid address, 403 for a token if no email is sent, 409 for a member and for an
 *   address that is invited already
 */
export async function inviteMember(
  deps: AccountDeps,
  { caller, actor, markCreated }: Requester,
  input: OperationCall<'worker', 'inviteMember'>['body'],
): Promise<SentInvitation> {
  const { workspaceId } = caller;
  const email = requireEmail(input.email);
  requireMailerForToken(deps.mailer, caller);
  const token = createOpaqueToken('inv_');
  const invitation = await transaction(deps.prisma, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    if (await isMemberByEmail(tx, workspaceId, email))
      throw conflict('already_member', `email: ${email} is already a member`);
    if (await hasOpenInvitation(tx, workspaceId, email)) {
      throw conflict('already_invited', `email: ${email} already has an open invitation; resend or withdraw it`);
    }
    const created = await insertInvitation(tx, {
      id: newId('inv_'),
      workspaceId,
      email,
      role: input.role ?? 'member',
      ...toInviter(caller),
      hash: deps.hasher.hash(token).hash,
      expiresAt: computeInvitationExpiry(),
    });
    const invited = { workspaceId, resourceType: 'invitation', id: created.id };
    await recordChange(tx, actor, 'member.invited', invited, { email, role: created.role });
    await markCreated(tx, created.id);
    return created;
  });
  return deliverInvitation(deps, caller, invitation, token);
}

/**
 * Issues a new link by the caller, valid for seven more days; the old link ends.
 * @throws AppError 403, 404, 409 accepted, 410 withdrawn
 */
export async function resendInvitation(deps: AccountDeps, { caller, actor, markCreated }: Requester, id: string) {
  const { workspaceId } = caller;
  requireMailerForToken(deps.mailer, caller);
  const token = createOpaqueToken('inv_');
  const invitation = await transaction(deps.prisma, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const before = await getInvitation(tx, workspaceId, id);
    requirePendingInvitation(before);
    await recordChange(tx, actor, 'invitation.resent', { workspaceId, id }, { email: before.email });
    await markCreated(tx, id);
    const link = { hash: deps.hasher.hash(token).hash, mailed: false, expiresAt: computeInvitationExpiry() };
    const renewed = await tx.invitation.update({ where: { id }, data: { ...link, ...toInviter(caller) } });
    return { ...renewed, isValid: true };
  });
  return deliverInvitation(deps, caller, invitation, token);
}

/** Idempotent. @throws AppError 404, 409 accepted */
export async function withdrawInvitation(prisma: PrismaClient, { caller, actor }: Requester, id: string) {
  const { workspaceId } = caller;
  await transaction(prisma, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const invitation = await getInvitation(tx, workspaceId, id);
    if (invitation.withdrawnAt) return;
    requirePendingInvitation(invitation);
    await tx.invitation.update({ where: { id }, data: { withdrawnAt: new Date() } });
    await recordChange(tx, actor, 'invitation.withdrawn', { workspaceId, id }, { email: invitation.email });
  });
}

/** The link opens a session, which a token must not do: a token may have the link mailed, and never sees it. */
function requireMailerForToken(mailer: Mailer, caller: Principal): void {
  if (mailer.isConfigured || findCallingTokenId(caller) === null) return;
  throw forbidden(
    'needs_sign_in',
    'a token cannot invite people on an installation that does not send email, because the inviter would receive the link, which opens a session; sign in instead',
  );
}

const toInviter = (caller: Principal) => ({
  invitedBy: caller.userId ?? caller.tokenId ?? 'unknown',
  tokenId: findCallingTokenId(caller),
});

async function deliverInvitation(
  { prisma, mailer, dashboardUrl }: AccountDeps,
  caller: Principal,
  invitation: InvitationWithValidity,
  token: string,
): Promise<SentInvitation> {
  // In the URL fragment (`#`), which no server and no log sees.
  const url = `${dashboardUrl}/invite#${token}`;
  const { name } = await getWorkspace(prisma, invitation.workspaceId);
  const inviter = caller.name ?? caller.email ?? 'An admin';
  const emailSent = await mailer.send({
    to: invitation.email,
    subject: `Invitation to ${name}`,
    text: `${inviter} has invited you to join the workspace "${name}" with the ${invitation.role} role.\n\nOpen this link within seven days to accept:\n\n${url}\n\nIf you did not expect this invitation, you can ignore this email. Nothing will happen unless you accept.\n`,
  });
  if (emailSent) await markInvitationMailed(prisma, invitation);
  return { invitation, emailSent, url: emailSent || findCallingTokenId(caller) !== null ? null : url };
}
