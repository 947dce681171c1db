import { notFound } from '@gantry/errors';
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

/** @returns whether code of the workspace's workers may get values of connections and secrets, not placeholders */
export async function isExposureAllowed(db: Db, workspaceId: string): Promise<boolean> {
  const select = { allowExposedCredentials: true };
  const workspace = await db.workspace.findUnique({ where: { id: workspaceId }, select });
  return workspace?.allowExposedCredentials === true;
}

/** Value, in US dollars: the monthly model budget of a workspace; null: it has none. */
export const buildModelBudgetSql = (workspaceId: string): string =>
  `(SELECT model_budget_usd FROM workspaces WHERE id = ${workspaceId})`;

/** Condition: the workspace was deleted at that time or before. */
export const buildWorkspaceDeletedSql = (workspaceId: string, until: string): string =>
  `EXISTS (SELECT FROM workspaces deleted WHERE deleted.id = ${workspaceId} AND deleted.deleted_at <= ${until})`;
