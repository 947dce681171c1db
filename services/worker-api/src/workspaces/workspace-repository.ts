import type { Db } from '../database';
import type { Role, Workspace } from '../generated/prisma/client';

export function insertWorkspace(tx: Db, workspace: { id: string; name: string }): Promise<Workspace> {
  return tx.workspace.create({ data: workspace });
}

export async function insertMembership(tx: Db, workspaceId: string, userId: string, role: Role): Promise<void> {
  await tx.membership.create({ data: { workspaceId, userId, role } });
}

/** Oldest first. @param workspaceIds from the caller's principal, never from a request */
export function listWorkspaces(db: Db, workspaceIds: string[]): Promise<Workspace[]> {
  return db.workspace.findMany({ where: { id: { in: workspaceIds } }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
}
