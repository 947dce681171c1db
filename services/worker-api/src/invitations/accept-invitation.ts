/** The invited side: whoever holds the link, and owns the address that it was made for. */
import type { TokenHasher } from '@gantry/auth';
import { newId } from '@gantry/events';
import { AppError, conflict } from '@gantry/http';
import type { Actor } from '../audit/actor';
import { newPasswordHash } from '../auth/password-reset';
import type { Client, OpenSession, Sessions } from '../auth/session';
import type { Db } from '../database';
import type { Invitation, PrismaClient, User, Workspace } from '../generated/prisma/client';
import { isMember } from '../members/member-repository';
import { announceMember } from '../members/member-service';
import { insertUser } from '../users/user-repository';
import { insertMembership, lockWorkspace } from '../workspaces/workspace-repository';
import { requireOpen } from './invitation';
import { getInvitationByToken, markAccepted } from './invitation-repository';

export interface AcceptDeps {
  prisma: PrismaClient;
  hasher: TokenHasher;
  sessions: Sessions;
}

export async function lookUpInvitation({ prisma, hasher }: AcceptDeps, token: string) {
  const invitation = await getInvitationByToken(prisma, hasher, token);
  requireOpen(invitation);
  const { email, role, invitedBy, expiresAt, workspace } = invitation;
  const inviter = await prisma.user.findUnique({ where: { id: invitedBy } });
  const account = await prisma.user.findUnique({ where: { email } });
  return {
    email,
    role,
    workspace_name: workspace.name,
    invited_by: inviter && (inviter.name ?? inviter.email),
    expires_at: expiresAt.toISOString(),
    account_exists: account !== null,
  };
}

/** @throws AppError 403 for another address than the invited one, 404, 409 accepted or a member already, 410 */
export async function acceptInvitation(
  { prisma, hasher }: AcceptDeps,
  userId: string,
  actor: Actor,
  token: string,
): Promise<{ workspace: Workspace; invitation: Invitation }> {
  return prisma.$transaction(async (tx) => {
    const { workspace, ...invitation } = await getInvitationByToken(tx, hasher, token);
    requireOpen(invitation);
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    if (user.email !== invitation.email) {
      throw new AppError(
        'forbidden',
        'wrong_account',
        `this invitation is for ${invitation.email}; you are signed in as ${user.email}`,
      );
    }
    await join(tx, actor, invitation, userId);
    return { workspace, invitation };
  });
}

/** Makes the account, with the invited address. @throws AppError 400 poor password, 404, 409 taken or accepted, 410 */
export async function registerByInvitation(
  { prisma, hasher, sessions }: AcceptDeps,
  input: { token: string; password: string; name?: string },
  client: Client,
  actor: Actor,
): Promise<{ user: User; workspace: Workspace; invitation: Invitation; session: OpenSession }> {
  const { workspace, ...invitation } = await getInvitationByToken(prisma, hasher, input.token);
  requireOpen(invitation);
  const { email } = invitation;
  await requireFreeEmail(prisma, email);
  const passwordHash = await newPasswordHash(input.password, email, 'password');
  return prisma.$transaction(async (tx) => {
    // Two registrations with one link take turns here; the second finds the address taken.
    await lockWorkspace(tx, workspace.id);
    await requireFreeEmail(tx, email);
    const user = await insertUser(tx, {
      id: newId('usr_'),
      email,
      name: input.name?.trim() ?? null,
      passwordHash,
      defaultWorkspaceId: workspace.id,
    });
    await join(tx, { ...actor, id: user.id, label: email }, invitation, user.id);
    return { user, workspace, invitation, session: await sessions.open(tx, user.id, client) };
  });
}

/** Membership, event and audit entry. @throws AppError 409 */
export async function join(tx: Db, actor: Actor, invitation: Invitation, userId: string): Promise<void> {
  const { id, workspaceId, email, role } = invitation;
  await lockWorkspace(tx, workspaceId);
  if (await isMember(tx, workspaceId, email)) {
    throw conflict('already_member', 'you are a member of this workspace already');
  }
  if (!(await markAccepted(tx, id))) throw conflict('invitation_accepted', 'this invitation is not open any more');
  await insertMembership(tx, workspaceId, userId, role);
  await announceMember(tx, actor, workspaceId, userId, 'member.joined', { email, role, invitation: id });
}

async function requireFreeEmail(db: Db, email: string): Promise<void> {
  if (await db.user.findUnique({ where: { email } })) {
    throw conflict('email_taken', `there is an account for ${email} already; sign in and accept the invitation`);
  }
}
