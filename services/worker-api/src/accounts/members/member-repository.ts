import { notFound } from '@gantry/errors';
import type { Db } from '../../database';
import type { Membership, Role, User } from '../../generated/prisma/client';

export type Member = Pick<Membership, 'userId' | 'role'> &
  Pick<User, 'email' | 'emailVerifiedAt' | 'name'> & { joinedAt: Date };

const INCLUDE_USER = { user: { select: { email: true, emailVerifiedAt: true, name: true } } } as const;

const ADMIN_ROLES: Role[] = ['admin', 'owner'];

/** Newest first. */
export async function listMembers(db: Db, workspaceId: string): Promise<Member[]> {
  const rows = await db.membership.findMany({
    where: { workspaceId },
    include: INCLUDE_USER,
    orderBy: [{ createdAt: 'desc' }, { userId: 'desc' }],
  });
  return rows.map(({ user, userId, role, createdAt }) => ({ userId, role, joinedAt: createdAt, ...user }));
}

/** @throws AppError 404, also for the member of another workspace */
export async function getMember(db: Db, workspaceId: string, userId: string): Promise<Member> {
  const row = await db.membership.findUnique({
    where: { workspaceId_userId: { workspaceId, userId } },
    include: INCLUDE_USER,
  });
  if (!row) throw notFound('member', userId);
  return { userId, role: row.role, joinedAt: row.createdAt, ...row.user };
}

export async function isMemberByEmail(db: Db, workspaceId: string, email: string): Promise<boolean> {
  return (await db.membership.count({ where: { workspaceId, user: { email } } })) > 0;
}

/** @returns whether this user may currently manage people there */
export async function isAdmin(db: Db, workspaceId: string, userId: string): Promise<boolean> {
  const where = {
    workspaceId,
    userId,
    role: { in: ADMIN_ROLES },
    user: { disabledAt: null },
    workspace: { deletedAt: null },
  };
  return (await db.membership.count({ where })) > 0;
}

const buildAdminFilter = (workspaceIds: string[]) => ({
  workspaceId: { in: workspaceIds },
  role: { in: ADMIN_ROLES },
  user: { disabledAt: null },
});

/** Members who may currently manage the people of these workspaces. */
export function listAdmins(db: Db, workspaceIds: string[]): Promise<{ workspaceId: string; userId: string }[]> {
  return db.membership.findMany({
    where: buildAdminFilter(workspaceIds),
    select: { workspaceId: true, userId: true },
  });
}

export async function isAdminOfAll(db: Db, workspaceIds: string[], userId: string): Promise<boolean> {
  return (await db.membership.count({ where: { ...buildAdminFilter(workspaceIds), userId } })) === workspaceIds.length;
}

/** Serialises changes of a workspace's members. @throws AppError 404 if it was deleted meanwhile */
export async function lockWorkspace(tx: Db, workspaceId: string): Promise<void> {
  const rows = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM workspaces WHERE id = ${workspaceId} AND deleted_at IS NULL FOR UPDATE`;
  if (!rows.length) throw notFound('workspace', workspaceId, 'that you are a member of');
}

export async function insertMembership(tx: Db, workspaceId: string, userId: string, role: Role): Promise<void> {
  await tx.membership.create({ data: { workspaceId, userId, role } });
}

export async function updateRole(tx: Db, workspaceId: string, userId: string, role: Role): Promise<void> {
  await tx.membership.update({ where: { workspaceId_userId: { workspaceId, userId } }, data: { role } });
}

/** Every workspace of the user, deleted ones too. */
export async function listWorkspaceIds(db: Db, userId: string): Promise<string[]> {
  const rows = await db.membership.findMany({ where: { userId }, select: { workspaceId: true } });
  return rows.map(({ workspaceId }) => workspaceId);
}
