import type { TokenHasher } from '@gantry/auth';
import { notFound, unknownLinkError } from '@gantry/errors';
import type { Pool } from 'pg';
import type { Db } from '../../database';
import type { Invitation, Prisma, Workspace } from '../../generated/prisma/client';
import { listAdmins } from '../members/member-repository';
import type { InvitationValidity } from './invitation';

export type InvitationWithValidity = Invitation & InvitationValidity;

/** Inserts an invitation of the present caller, which therefore is valid. */
export async function insertInvitation(
  tx: Db,
  invitation: Prisma.InvitationUncheckedCreateInput,
): Promise<InvitationWithValidity> {
  const created = await tx.invitation.create({ data: invitation });
  return { ...created, isValid: true };
}

/** Newest first; neither accepted nor withdrawn. */
export async function listInvitations(db: Db, workspaceId: string): Promise<InvitationWithValidity[]> {
  const rows = await db.invitation.findMany({
    where: { workspaceId, acceptedAt: null, withdrawnAt: null },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  return attachValidity(db, rows);
}

/** @throws AppError 404, also for another workspace's */
export async function getInvitation(db: Db, workspaceId: string, id: string): Promise<Invitation> {
  const invitation = await db.invitation.findFirst({ where: { id, workspaceId } });
  if (!invitation) throw notFound('invitation', id);
  return invitation;
}

export async function hasOpenInvitation(db: Db, workspaceId: string, email: string): Promise<boolean> {
  return (await listOpenInvitations(db, { workspaceId, email })).length > 0;
}

/** Oldest first, one per workspace. */
export async function listOpenInvitationsForEmail(db: Db, email: string): Promise<Invitation[]> {
  const open = await listOpenInvitations(db, { email });
  const ofWorkspace = new Map(open.toReversed().map((one) => [one.workspaceId, one]));
  return open.filter((one) => ofWorkspace.get(one.workspaceId) === one);
}

async function listOpenInvitations(db: Db, filter: { email: string; workspaceId?: string }): Promise<Invitation[]> {
  const rows = await db.invitation.findMany({
    where: {
      ...filter,
      acceptedAt: null,
      withdrawnAt: null,
      expiresAt: { gt: new Date() },
      workspace: { deletedAt: null },
    },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return (await attachValidity(db, rows)).filter(({ isValid }) => isValid);
}

/** Returns the invitation for the holder of its link. @throws AppError 404, also if the workspace was deleted */
export async function getInvitationByToken(
  db: Db,
  hasher: TokenHasher,
  token: string,
): Promise<InvitationWithValidity & { workspace: Workspace }> {
  const found = await db.invitation.findFirst({
    where: { hash: { in: hasher.candidatesForPrefix('inv_', token) }, workspace: { deletedAt: null } },
    include: { workspace: true },
  });
  if (!found || !hasher.matches(token, found.hash)) throw unknownLinkError('invitation');
  const [invitation] = await attachValidity(db, [found]);
  return invitation as typeof found & InvitationValidity;
}

/** An invitation is valid while its inviter manages people there, and while the token that they used exists. */
async function attachValidity<I extends Invitation>(db: Db, invitations: I[]): Promise<(I & InvitationValidity)[]> {
  const managing = await listAdmins(db, [...new Set(invitations.map(({ workspaceId }) => workspaceId))]);
  const admins = new Set(managing.map(({ workspaceId, userId }) => `${workspaceId} ${userId}`));
  const tokenIds = invitations.flatMap(({ tokenId }) => tokenId ?? []);
  const tokens = await db.token.findMany({
    where: { id: { in: tokenIds }, revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] },
    select: { id: true },
  });
  const aliveTokens = new Set(tokens.map(({ id }) => id));
  return invitations.map((invitation) => {
    const { workspaceId, invitedBy, tokenId } = invitation;
    const byToken = tokenId === null || aliveTokens.has(tokenId);
    const byPerson = invitedBy === tokenId || admins.has(`${workspaceId} ${invitedBy}`);
    return { ...invitation, isValid: byToken && byPerson };
  });
}

/** Marks the current link, identified by its hash, as mailed; a later link replaces it. */
export async function markInvitationMailed(db: Db, { id, hash }: Pick<Invitation, 'id' | 'hash'>): Promise<void> {
  await db.invitation.updateMany({ where: { id, hash }, data: { mailed: true } });
}

/** Only one of two concurrent acceptances gets true. */
export async function markInvitationAccepted(tx: Db, id: string): Promise<boolean> {
  const { count } = await tx.invitation.updateMany({
    where: { id, acceptedAt: null, withdrawnAt: null },
    data: { acceptedAt: new Date() },
  });
  return count > 0;
}

export const sweepInvitations = (pool: Pool): Promise<unknown> =>
  pool.query("DELETE FROM invitations WHERE expires_at < now() - interval '90 days'");
