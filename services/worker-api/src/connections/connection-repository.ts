import { notFound } from '@gantry/errors';
import type { OperationCall } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { buildVisibilityFilter } from '../access/ownership';
import type { Db } from '../database';
import type { Connection, Prisma } from '../generated/prisma/client';

/** Newest first, with the total count. */
export async function listConnections(
  db: Db,
  workspaceId: string,
  caller: Principal,
  { kind, app, status, limit, offset }: OperationCall<'worker', 'listConnections'>['query'],
): Promise<{ connections: Connection[]; total: number }> {
  const where: Prisma.ConnectionWhereInput = {
    workspaceId,
    ...(kind !== undefined && { kind }),
    ...(app !== undefined && { app }),
    ...(status !== undefined && { status }),
    AND: buildVisibilityFilter(caller),
  };
  const [connections, total] = await Promise.all([
    db.connection.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit,
      skip: offset,
    }),
    db.connection.count({ where }),
  ]);
  return { connections, total };
}

/** @throws AppError 404, also for one that the caller may not see */
export async function getConnection(db: Db, workspaceId: string, caller: Principal, id: string): Promise<Connection> {
  const connection = await db.connection.findFirst({ where: { workspaceId, id, AND: buildVisibilityFilter(caller) } });
  if (!connection) throw notFound('connection', id);
  return connection;
}

/** Finds a connection regardless of who may see it. Null if it is gone. */
export const findConnection = (db: Db, workspaceId: string, id: string): Promise<Connection | null> =>
  db.connection.findFirst({ where: { workspaceId, id } });

/** Finds connections regardless of who may see them; deleted ones are left out. */
export const findConnections = (db: Db, workspaceId: string, ids: string[]): Promise<Connection[]> =>
  db.connection.findMany({ where: { workspaceId, id: { in: ids } } });

/** In one of these workspaces. */
export const findConnectionInWorkspaces = (db: Db, workspaceIds: string[], id: string): Promise<Connection | null> =>
  db.connection.findFirst({ where: { id, workspaceId: { in: workspaceIds } } });

/** Query: a connection, which is not deleted until the transaction ends. */
export const buildConnectionShareLockSql = (workspaceId: string, id: string): string =>
  `SELECT id, workspace_id FROM connections WHERE id = ${id} AND workspace_id = ${workspaceId} FOR KEY SHARE`;

/** Locks its row until the transaction ends, which serialises changes of one connection. */
export async function lockConnection(
  tx: Prisma.TransactionClient,
  workspaceId: string,
  caller: Principal,
  id: string,
): Promise<Connection> {
  await tx.$queryRaw`SELECT 1 FROM connections WHERE workspace_id = ${workspaceId} AND id = ${id} FOR UPDATE`;
  return getConnection(tx, workspaceId, caller, id);
}

export const countConnections = (db: Db, workspaceId: string): Promise<number> =>
  db.connection.count({ where: { workspaceId } });

export const insertConnection = (db: Db, connection: Prisma.ConnectionUncheckedCreateInput): Promise<Connection> =>
  db.connection.create({ data: connection });

export const updateConnection = (
  db: Db,
  workspaceId: string,
  id: string,
  change: Prisma.ConnectionUncheckedUpdateInput,
): Promise<Connection> => db.connection.update({ where: { workspaceId, id }, data: change });

/** By compare-and-set of the version. Null: its credential has changed meanwhile, or it is gone. */
export async function updateConnectionAtVersion(
  db: Db,
  { workspaceId, id, version }: Pick<Connection, 'workspaceId' | 'id' | 'version'>,
  change: Prisma.ConnectionUncheckedUpdateInput,
): Promise<Connection | null> {
  const { count } = await db.connection.updateMany({ where: { workspaceId, id, version }, data: change });
  return count ? findConnection(db, workspaceId, id) : null;
}

export async function deleteConnection(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const { count } = await db.connection.deleteMany({ where: { workspaceId, id } });
  return count > 0;
}
