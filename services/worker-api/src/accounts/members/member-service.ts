/**
 * Membership changes. A lock on the workspace's row serialises them, so that the last owner cannot be lost in a race.
 */

import { conflict } from '@gantry/errors';
import type { Role } from '@gantry/events';
import type { Actor, AuditAction, Requester } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../../audit/audit-entry';
import type { Db } from '../../database';
import type { PrismaClient } from '../../generated/prisma/client';
import { assertCanManageMember } from './member';
import { getMember, lockWorkspace, type Member, updateRole } from './member-repository';
import { handleMembershipChange } from './membership-changed';

/** @throws AppError 404, 403 if a caller who is not an owner creates or changes one, 409 for the last owner */
export async function changeMemberRole(
  prisma: PrismaClient,
  { caller, actor }: Requester,
  userId: string,
  role: Role,
): Promise<Member> {
  const { workspaceId } = caller;
  return transaction(prisma, async (tx) => {
    const member = await lockManageableMember(tx, caller, userId);
    assertCanManageMember(caller, role);
    if (member.role === role) return member;
    if (member.role === 'owner') await requireAnotherOwner(tx, workspaceId);
    await updateRole(tx, workspaceId, userId, role);
    await recordMemberChange(tx, actor, workspaceId, userId, 'member.role_changed', {
      email: member.email,
      from: member.role,
      to: role,
    });
    return { ...member, role };
  });
}

/** @throws AppError 404, 403 for an owner unless the caller is one, 409 for the last owner */
export async function removeMember(prisma: PrismaClient, { caller, actor }: Requester, userId: string): Promise<void> {
  await transaction(prisma, async (tx) => {
    await removeLockedMember(
      tx,
      actor,
      caller.workspaceId,
      await lockManageableMember(tx, caller, userId),
      'member.removed',
    );
  });
}

/** @throws AppError 409 for the last owner */
export async function leaveWorkspace(
  prisma: PrismaClient,
  { caller: { workspaceId }, actor }: Requester,
  userId: string,
): Promise<void> {
  await transaction(prisma, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    await removeLockedMember(tx, actor, workspaceId, await getMember(tx, workspaceId, userId), 'member.left');
  });
}

/** The caller becomes an admin. @throws AppError 403 for a workspace token, 404, 409 for the caller */
export async function transferOwnership(
  prisma: PrismaClient,
  { caller: { workspaceId }, actor }: Requester,
  fromUserId: string,
  toUserId: string,
): Promise<void> {
  if (fromUserId === toUserId) throw conflict('already_owner', 'user_id: you already own this workspace');
  await transaction(prisma, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const member = await getMember(tx, workspaceId, toUserId);
    await updateRole(tx, workspaceId, toUserId, 'owner');
    await updateRole(tx, workspaceId, fromUserId, 'admin');
    await recordMemberChange(tx, actor, workspaceId, toUserId, 'workspace.transferred', { email: member.email });
    await handleMembershipChange(tx, workspaceId, fromUserId);
  });
}

/** A member whom the caller may manage, under a lock against other changes of members. @throws AppError 404, 403 */
export async function lockManageableMember(tx: Db, caller: Principal, userId: string): Promise<Member> {
  await lockWorkspace(tx, caller.workspaceId);
  const member = await getMember(tx, caller.workspaceId, userId);
  assertCanManageMember(caller, member.role);
  return member;
}

async function removeLockedMember(tx: Db, actor: Actor, workspaceId: string, member: Member, action: AuditAction) {
  if (member.role === 'owner') await requireAnotherOwner(tx, workspaceId);
  await tx.membership.delete({ where: { workspaceId_userId: { workspaceId, userId: member.userId } } });
  await recordMemberChange(tx, actor, workspaceId, member.userId, action, { email: member.email, role: member.role });
}

async function requireAnotherOwner(tx: Db, workspaceId: string): Promise<void> {
  if ((await tx.membership.count({ where: { workspaceId, role: 'owner' } })) > 1) return;
  throw conflict(
    'last_owner',
    'a workspace must have an owner; transfer this one or make another member an owner first',
  );
}

/** Announced and audited when the transaction commits. */
export async function recordMemberChange(
  tx: Db,
  actor: Actor,
  workspaceId: string,
  userId: string,
  action: AuditAction,
  details: Record<string, unknown>,
): Promise<void> {
  await handleMembershipChange(tx, workspaceId, userId);
  await recordChange(tx, actor, action, { workspaceId, resourceType: 'member', id: userId }, details);
}
