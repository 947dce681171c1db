import { notFound } from '@gantry/errors';
import { enqueue, memberChanged, newId, tokenRevoked } from '@gantry/events';
import type { OperationCall, Requester } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import type { RetentionBounds } from '@gantry/run-engine';
import type { Pool } from 'pg';
import { recordChange } from '../../audit/audit-entry';
import type { PrismaClient, Workspace } from '../../generated/prisma/client';
import { insertMembership } from '../members/member-repository';
import { handleMembershipChange } from '../members/membership-changed';
import { assertCanOwnAnotherWorkspace } from './workspace-limit';
import { insertWorkspace } from './workspace-repository';
import { updateRetention } from './workspace-retention';

const SELECT_WORKSPACE_FOR_UPDATE = `SELECT name, allow_exposed_credentials AS "allowsExposed", model_budget_usd AS "modelBudgetUsd" FROM workspaces
  WHERE id = $1 AND deleted_at IS NULL FOR UPDATE`;

/** @throws AppError 409 for too many */
export async function createWorkspace(
  prisma: PrismaClient,
  userId: string,
  { actor, markCreated }: Requester,
  name: string,
): Promise<Workspace> {
  return transaction(prisma, async (tx) => {
    await assertCanOwnAnotherWorkspace(tx, userId);
    const workspace = await insertWorkspace(tx, { id: newId('ws_'), name: name.trim() });
    await insertMembership(tx, workspace.id, userId, 'owner');
    await handleMembershipChange(tx, workspace.id, userId);
    const details = { name: workspace.name };
    await recordChange(tx, actor, 'workspace.created', { workspaceId: workspace.id, id: workspace.id }, details);
    await markCreated(tx, workspace.id);
    return workspace;
  });
}

export type WorkspaceChange = OperationCall<'worker', 'updateWorkspace'>['body'];

/** @throws AppError 404; 400 for a retention above the operator's bounds */
export async function updateWorkspace(
  { pool, bounds }: { pool: Pool; bounds: RetentionBounds },
  { caller: { workspaceId }, actor }: Requester,
  { name, retention, models, allow_exposed_credentials: allowExposed }: WorkspaceChange,
): Promise<void> {
  await transaction(pool, async (tx) => {
    const { rows } = await tx.query<{ name: string; allowsExposed: boolean; modelBudgetUsd: number | null }>(
      SELECT_WORKSPACE_FOR_UPDATE,
      [workspaceId],
    );
    const [before] = rows;
    if (!before) throw notFound('workspace', workspaceId, 'that you are a member of');
    if (name !== undefined && name.trim() !== before.name) {
      const details = { from: before.name, to: name.trim() };
      await tx.query('UPDATE workspaces SET name = $2 WHERE id = $1', [workspaceId, details.to]);
      await recordChange(tx, actor, 'workspace.renamed', { workspaceId, id: workspaceId }, details);
    }
    if (models) {
      const details = { from: before.modelBudgetUsd, to: models.monthly_budget_usd };
      await tx.query('UPDATE workspaces SET model_budget_usd = $2 WHERE id = $1', [workspaceId, details.to]);
      await recordChange(tx, actor, 'workspace.model_budget_changed', { workspaceId, id: workspaceId }, details);
    }
    if (allowExposed !== undefined && allowExposed !== before.allowsExposed) {
      await tx.query('UPDATE workspaces SET allow_exposed_credentials = $2 WHERE id = $1', [workspaceId, allowExposed]);
      const details = { allow_exposed_credentials: allowExposed };
      await recordChange(tx, actor, 'workspace.exposure_changed', { workspaceId, id: workspaceId }, details);
    }
    if (retention) await updateRetention(tx, { workspaceId, actor, change: retention, bounds });
  });
}

/** Sets the default workspace of the calling token, or of the signed-in person. */
export async function setDefaultWorkspace(prisma: PrismaClient, caller: Principal): Promise<void> {
  const { kind, tokenId, userId, workspaceId } = caller;
  await transaction(prisma, async (tx) => {
    if (kind === 'personal_token' && tokenId) {
      await tx.token.updateMany({ where: { id: tokenId, userId }, data: { defaultWorkspaceId: workspaceId } });
      // Revokes nothing: this event invalidates the token's cached identities.
      await enqueue(tx, tokenRevoked, workspaceId, { tokenId });
    } else if (userId) {
      await tx.user.update({ where: { id: userId }, data: { defaultWorkspaceId: workspaceId } });
      await enqueue(tx, memberChanged, workspaceId, { userId });
    }
  });
}
