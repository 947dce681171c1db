import { notFound } from '@gantry/errors';
import type { Principal } from '@gantry/limits';
import { buildWorkerVisibilityFilter, canSeeWorker } from '../access/ownership';
import type { Db } from '../database';
import type { Prisma, PublishedTool, Worker } from '../generated/prisma/client';

export type ToolWithWorker = PublishedTool & { worker: Worker };

/** Lists the published tools of workers that the caller sees, by name. */
export const listPublishedTools = (db: Db, caller: Principal): Promise<ToolWithWorker[]> =>
  db.publishedTool.findMany({
    where: { workspaceId: caller.workspaceId, worker: { deletedAt: null, ...buildWorkerVisibilityFilter(caller) } },
    include: { worker: true },
    orderBy: { name: 'asc' },
  });

/** @throws AppError 404, the same for a tool whose worker the caller does not see */
export async function getPublishedTool(db: Db, caller: Principal, name: string): Promise<ToolWithWorker> {
  const tool = await db.publishedTool.findFirst({
    where: { workspaceId: caller.workspaceId, name, worker: { deletedAt: null } },
    include: { worker: true },
  });
  if (!tool || !canSeeWorker(caller, tool.worker)) throw notFound('tool', name);
  return tool;
}

export const countPublishedTools = (db: Db, workspaceId: string): Promise<number> =>
  db.publishedTool.count({ where: { workspaceId, worker: { deletedAt: null } } });

/** False where the name is taken; that of a deleted worker is free. */
export async function insertPublishedTool(tx: Db, tool: Prisma.PublishedToolCreateManyInput): Promise<boolean> {
  const { workspaceId, name } = tool;
  await tx.publishedTool.deleteMany({ where: { workspaceId, name, worker: { deletedAt: { not: null } } } });
  const { count } = await tx.publishedTool.createMany({ data: [tool], skipDuplicates: true });
  return count > 0;
}

/** Returns false if another request was faster. */
export async function deletePublishedTool(
  tx: Db,
  { workspaceId, name, workerUid }: Pick<PublishedTool, 'workspaceId' | 'name' | 'workerUid'>,
): Promise<boolean> {
  return (await tx.publishedTool.deleteMany({ where: { workspaceId, name, workerUid } })).count > 0;
}
