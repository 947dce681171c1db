import { notFound } from '@gantry/http';
import type { Db } from '../../database';
import type { Workspace } from '../../generated/prisma/client';

export function insertWorkspace(tx: Db, workspace: { id: string; name: string }): Promise<Workspace> {
  return tx.workspace.create({ data: workspace });
}

/** Newest first. @param workspaceIds from the caller's principal, never from a request */
export function listWorkspaces(db: Db, workspaceIds: string[]): Promise<Workspace[]> {
  return db.workspace.findMany({
    where: { id: { in: workspaceIds }, deletedAt: null },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
}

/** @throws AppError 404 */
export async function getWorkspace(db: Db, workspaceId: string): Promise<Workspace> {
  const workspace = await db.workspace.findFirst({ where: { id: workspaceId, deletedAt: null } });
  if (!workspace) throw notFound('workspace', workspaceId, 'that you are a member of');
  return workspace;
}

/** Workspaces owned by the user and deleted after `since`, newest first. */
export function listDeletedWorkspaces(db: Db, userId: string, since: Date): Promise<Workspace[]> {
  return db.workspace.findMany({
    where: { deletedAt: { gt: since }, memberships: { some: { userId, role: 'owner' } } },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
}
