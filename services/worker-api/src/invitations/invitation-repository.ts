import { parseOpaqueToken, type TokenHasher } from '@gantry/auth';
import { notFound } from '@gantry/http';
import type { Db } from '../database';
import type { Invitation, Role, Workspace } from '../generated/prisma/client';

export interface NewInvitation {
  id: string;
  email: string;
  role: Role;
  hash: Buffer;
  invitedBy: string;
  expiresAt: Date;
}

export function insertInvitation(tx: Db, workspaceId: string, { hash, ...rest }: NewInvitation): Promise<Invitation> {
  return tx.invitation.create({ data: { workspaceId, ...rest, hash: new Uint8Array(hash) } });
}

/** Newest first; neither accepted nor withdrawn. */
export function listInvitations(db: Db, workspaceId: string): Promise<Invitation[]> {
  return db.invitation.findMany({
    where: { workspaceId, acceptedAt: null, withdrawnAt: null },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
}

/** @throws AppError 404, also for another workspace's */
export async function getInvitation(db: Db, workspaceId: string, id: string): Promise<Invitation> {
  const invitation = await db.invitation.findFirst({ where: { id, workspaceId } });
  if (!invitation) throw notFound('invitation', id);
  return invitation;
}

export async function isInvited(db: Db, workspaceId: string, email: string): Promise<boolean> {
  const open = { acceptedAt: null, withdrawnAt: null, expiresAt: { gt: new Date() } };
  return (await db.invitation.count({ where: { workspaceId, email, ...open } })) > 0;
}

/** Of whoever holds the link. @throws AppError 404, also when the workspace was deleted */
export async function getInvitationByToken(
  db: Db,
  hasher: TokenHasher,
  token: string,
): Promise<Invitation & { workspace: Workspace }> {
  const isToken = parseOpaqueToken(token)?.prefix === 'inv_';
  const hashes = isToken ? hasher.candidates(token).map((hash) => new Uint8Array(hash)) : [];
  const invitation = await db.invitation.findFirst({
    where: { hash: { in: hashes }, workspace: { deletedAt: null } },
    include: { workspace: true },
  });
  if (!invitation) throw notFound('invitation', 'of this link');
  return invitation;
}

/** Of two who accept at the same moment, one gets true. */
export async function markAccepted(tx: Db, id: string): Promise<boolean> {
  const { count } = await tx.invitation.updateMany({
    where: { id, acceptedAt: null, withdrawnAt: null },
    data: { acceptedAt: new Date() },
  });
  return count > 0;
}
