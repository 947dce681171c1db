/**
 * Closes a deleted workspace at once, and purges it after seven days.
 *
 * Closed means that no credential may enter it, that none of its content is shown, and that nothing in it runs:
 * memberships and tokens stay, and are not counted; runs stay queued or asleep; those held by an executor are
 * cancelled. Restoring resets one column and undoes the closure. Purging deletes the row, with all that belongs to it,
 * and announces it; every service, this one included, then deletes its remaining data. See
 * docs/adr/0024-closed-workspaces.md.
 */

import { notFound } from '@gantry/errors';
import {
  type EventHandlerFor,
  enqueue,
  upsertClosure,
  type WorkspaceClosure,
  workspaceDeleted,
  workspacePurged,
  workspaceRestored,
} from '@gantry/events';
import type { Actor, Requester } from '@gantry/http';
import type { ObjectStore } from '@gantry/object-store';
import { transaction } from '@gantry/postgres';
import { deleteRunsOfWorkspace } from '@gantry/run-engine';
import type { Pool, PoolClient } from 'pg';
import { recordChange } from '../../audit/audit-entry';
import type { Db } from '../../database';
import type { PrismaClient, Workspace } from '../../generated/prisma/client';
import type { AccountDeps } from '../account-deps';
import { lockWorkspace } from '../members/member-repository';
import { computePurgeTime, RESTORE_DAYS } from './workspace';
import { assertCanOwnAnotherWorkspace } from './workspace-limit';
import { getWorkspace } from './workspace-repository';

export const computeRestoreCutoff = (): Date => new Date(Date.now() - RESTORE_DAYS * 86_400_000);

/** Pass it to the closures of this process after the commit: the other processes receive the event. */
export interface ClosedWorkspace {
  workspace: Workspace;
  closure: WorkspaceClosure;
}

export async function deleteWorkspace(prisma: PrismaClient, { caller, actor }: Requester): Promise<ClosedWorkspace> {
  const { workspaceId } = caller;
  return transaction(prisma, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const deletedAt = new Date();
    const workspace = await tx.workspace.update({ where: { id: workspaceId }, data: { deletedAt } });
    return {
      workspace,
      closure: await recordWorkspaceClosure(tx, actor, { workspaceId, deletedAt, restored: false }, workspace.name),
    };
  });
}

/**
 * @throws AppError 404 for all but owners, for a workspace that is not deleted, and after the restore period; 409 if the
 * owner has too many others
 */
export async function restoreWorkspace(
  prisma: PrismaClient,
  workspaceId: string,
  userId: string,
  actor: Actor,
): Promise<ClosedWorkspace> {
  return transaction(prisma, async (tx) => {
    const deleted = await tx.workspace.findFirst({
      where: {
        id: workspaceId,
        deletedAt: { gt: computeRestoreCutoff() },
        memberships: { some: { userId, role: 'owner' } },
      },
    });
    if (!deleted?.deletedAt) throw notFound('deleted workspace', workspaceId, 'that you owned');
    await assertCanOwnAnotherWorkspace(tx, userId);
    const { id, deletedAt } = deleted;
    const { count } = await tx.workspace.updateMany({ where: { id, deletedAt }, data: { deletedAt: null } });
    if (!count) throw notFound('deleted workspace', workspaceId, 'that you owned');
    const closure = await recordWorkspaceClosure(tx, actor, { workspaceId, deletedAt, restored: true });
    return { workspace: await getWorkspace(tx, workspaceId), closure };
  });
}

/** Closes a workspace, or reopens it: its row, the event and the audit log agree. */
async function recordWorkspaceClosure(
  tx: Db,
  actor: Actor,
  { workspaceId, deletedAt, restored }: { workspaceId: string; deletedAt: Date; restored: boolean },
  name?: string,
): Promise<WorkspaceClosure> {
  const purgeAt = computePurgeTime(deletedAt).getTime();
  const closure = { workspaceId, purgeAt, restored };
  await upsertClosure(tx, closure);
  await enqueue(tx, restored ? workspaceRestored : workspaceDeleted, workspaceId, { workspaceId, purgeAt });
  const action = restored ? 'workspace.restored' : 'workspace.deleted';
  await recordChange(tx, actor, action, { workspaceId, id: workspaceId }, { ...(name !== undefined && { name }) });
  return closure;
}

/**
 * Purges every workspace whose restore period is over. Safe on several replicas at once: one of them deletes the row.
 */
export async function purgeDeletedWorkspaces(pool: Pool): Promise<number> {
  return transaction(pool, async (tx) => {
    const { rows } = await tx.query('DELETE FROM workspaces WHERE deleted_at <= $1 RETURNING id', [
      computeRestoreCutoff(),
    ]);
    for (const { id } of rows) await enqueue(tx, workspacePurged, id, { workspaceId: id });
    return rows.length;
  });
}

/** Tables of this service that name a workspace without a foreign key to its row. A test finds missing entries. */
const TABLES = ['data_keys', 'known_skills', 'idempotency_keys', 'audit_log', 'workspace_closures'];

export async function deleteWorkspaceRows(tx: PoolClient, objects: ObjectStore, workspaceId: string): Promise<void> {
  await tx.query("SET LOCAL gantry.audit_sweep = 'on'");
  await objects.deleteFolder(workspaceId);
  await deleteRunsOfWorkspace(tx, workspaceId);
  await tx.query('DELETE FROM workspaces WHERE id = $1', [workspaceId]);
  await tx.query("DELETE FROM pack_intents WHERE starts_with(key, $1 || '/')", [workspaceId]);
  for (const table of TABLES) await tx.query(`DELETE FROM ${table} WHERE workspace_id = $1`, [workspaceId]);
}

export const createWorkspacePurgeHandler = ({
  objects,
  vault,
}: Pick<AccountDeps, 'objects' | 'vault'>): EventHandlerFor<typeof workspacePurged> => ({
  name: 'purge',
  handle: async (tx, { data: { workspaceId } }) => {
    await deleteWorkspaceRows(tx, objects, workspaceId);
    vault.evict(workspaceId);
  },
});
