import { enqueue, memberChanged, newId, tokenRevoked } from '@gantry/events';
import { type Actor, conflict, type Made, type Principal } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../../audit/audit-entry';
import type { PrismaClient, Workspace } from '../../generated/prisma/client';
import { insertMembership } from '../members/member-repository';
import { membershipChanged } from '../members/membership-changed';
import { countOwned, getWorkspace, insertWorkspace } from './workspace-repository';

const OWNED_MAX = 50;

/** @throws AppError 409 for too many */
export async function createWorkspace(
  prisma: PrismaClient,
  userId: string,
  actor: Actor,
  made: Made,
  name: string,
): Promise<Workspace> {
  return transaction(prisma, async (tx) => {
    if ((await countOwned(tx, userId)) >= OWNED_MAX) {
      throw conflict('too_many_workspaces', `you own ${OWNED_MAX} workspaces already; delete or transfer one first`);
    }
    const workspace = await insertWorkspace(tx, { id: newId('ws_'), name: name.trim() });
    await insertMembership(tx, workspace.id, userId, 'owner');
    await membershipChanged(tx, workspace.id, userId);
    await recordChange(tx, actor, {
      workspaceId: workspace.id,
      action: 'workspace.created',
      resource: { type: 'workspace', id: workspace.id },
      details: { name: workspace.name },
    });
    await made(tx, workspace.id);
    return workspace;
  });
}

export async function renameWorkspace(
  prisma: PrismaClient,
  workspaceId: string,
  actor: Actor,
  name: string,
): Promise<Workspace> {
  return transaction(prisma, async (tx) => {
    const before = await getWorkspace(tx, workspaceId);
    const workspace = await tx.workspace.update({ where: { id: workspaceId }, data: { name: name.trim() } });
    await recordChange(tx, actor, {
      workspaceId,
      action: 'workspace.renamed',
      resource: { type: 'workspace', id: workspaceId },
      details: { from: before.name, to: workspace.name },
    });
    return workspace;
  });
}

/** Sets the default workspace of the calling token, or of the signed-in person. */
export async function selectWorkspace(prisma: PrismaClient, caller: Principal): Promise<void> {
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
