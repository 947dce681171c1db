/** The invitee's side: needs the link, and the address that it was issued for. */

import type { TokenHasher } from '@gantry/auth';
import { conflict, forbidden } from '@gantry/errors';
import { newId } from '@gantry/events';
import { type Actor, toApiFields } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import type { Db } from '../../database';
import type { Invitation, User, Workspace } from '../../generated/prisma/client';
import type { AccountDeps } from '../account-deps';
import { hashNewPassword } from '../auth/password-reset';
import type { ClientInfo, OpenSession } from '../auth/session';
import { isSignedIn } from '../identity/caller-user';
import { insertMembership, isMemberByEmail, lockWorkspace } from '../members/member-repository';
import { recordMemberChange } from '../members/member-service';
import { markEmailVerified } from '../users/mark-email-verified';
import { insertUser } from '../users/user-repository';
import { requireOpenInvitation } from './invitation';
import { getInvitationByToken, markInvitationAccepted } from './invitation-repository';

/** The same whether or not the address has an account: the holder of the link may be the inviter. */
export async function getInvitationPreview({ prisma, hasher }: AccountDeps, token: string) {
  const invitation = await getInvitationByToken(prisma, hasher, token);
  requireOpenInvitation(invitation);
  const inviter = await prisma.user.findUnique({ where: { id: invitation.invitedBy } });
  return {
    ...toApiFields(invitation, 'email', 'role', 'expiresAt'),
    workspace_name: invitation.workspace.name,
    invited_by: inviter && (inviter.name ?? inviter.email),
  };
}

/** Checks again under the lock that serialises membership changes: the inviter cannot lose the role meanwhile. */
async function lockOpenInvitation(tx: Db, hasher: TokenHasher, token: string) {
  await lockWorkspace(tx, (await getInvitationByToken(tx, hasher, token)).workspaceId);
  const { workspace, ...invitation } = await getInvitationByToken(tx, hasher, token);
  requireOpenInvitation(invitation);
  return { workspace, invitation };
}

/**
 * A signed-in person with a mailed link has verified the address; a token of theirs verifies nothing.
 * @returns also the sessions ended by the verification
 * @throws AppError 403 for another address than the invited one, 404, 409 accepted or a member already, 410
 */
export async function acceptInvitation(
  { prisma, hasher, sessions }: AccountDeps,
  { userId, caller }: { userId: string; caller: Principal },
  actor: Actor,
  token: string,
): Promise<{ workspace: Workspace; invitation: Invitation; ended: string[] }> {
  return transaction(prisma, async (tx) => {
    const { workspace, invitation } = await lockOpenInvitation(tx, hasher, token);
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    if (user.email !== invitation.email) {
      throw forbidden(
        'wrong_account',
        `this invitation is for ${invitation.email}; you are signed in as ${user.email}`,
      );
    }
    await joinWorkspace(tx, actor, invitation, userId);
    const proves = invitation.mailed && !user.emailVerifiedAt && isSignedIn(caller);
    if (!proves) return { workspace, invitation, ended: [] };
    await markEmailVerified(tx, actor, userId, 'mailed_invitation');
    return { workspace, invitation, ended: await sessions.closeAllOf(tx, userId, caller.tokenId ?? undefined) };
  });
}

/**
 * Creates the account, with the invited address. It is verified if the link was mailed: a link handed over was seen by
 * its inviter, who may be the one that opens it. The password is checked first, so that an attacker cannot probe
 * whether an account exists without creating one.
 * @throws AppError 400 poor password, 404, 409 taken or accepted, 410
 */
export async function registerWithInvitation(
  { prisma, hasher, sessions }: AccountDeps,
  input: { token: string; password: string; name?: string },
  client: ClientInfo,
  actor: Actor,
): Promise<{ user: User; workspace: Workspace; invitation: Invitation; session: OpenSession }> {
  const offered = await getInvitationByToken(prisma, hasher, input.token);
  requireOpenInvitation(offered);
  const passwordHash = await hashNewPassword(input.password, offered.email, 'password');
  return transaction(prisma, async (tx) => {
    // Serialises two registrations with one link; the second finds it accepted.
    const { workspace, invitation } = await lockOpenInvitation(tx, hasher, input.token);
    const { email, mailed } = invitation;
    await requireAvailableEmail(tx, email);
    const user = await insertUser(tx, {
      id: newId('usr_'),
      email,
      emailVerifiedAt: mailed ? new Date() : null,
      name: input.name?.trim() ?? null,
      passwordHash,
      defaultWorkspaceId: workspace.id,
    });
    await joinWorkspace(tx, { ...actor, id: user.id, label: email }, invitation, user.id);
    return { user, workspace, invitation, session: await sessions.open(tx, user.id, client) };
  });
}

/** Inserts the membership, its event and its audit entry. @throws AppError 409 */
export async function joinWorkspace(tx: Db, actor: Actor, invitation: Invitation, userId: string): Promise<void> {
  const { id, workspaceId, email, role } = invitation;
  await lockWorkspace(tx, workspaceId);
  if (await isMemberByEmail(tx, workspaceId, email)) {
    throw conflict('already_member', 'you are already a member of this workspace');
  }
  if (!(await markInvitationAccepted(tx, id)))
    throw conflict('invitation_accepted', 'this invitation is no longer open');
  await insertMembership(tx, workspaceId, userId, role);
  await recordMemberChange(tx, actor, workspaceId, userId, 'member.joined', { email, role, invitation: id });
}

async function requireAvailableEmail(db: Db, email: string): Promise<void> {
  if (await db.user.findUnique({ where: { email } })) {
    throw conflict('email_taken', `an account for ${email} already exists; sign in to accept the invitation`);
  }
}
