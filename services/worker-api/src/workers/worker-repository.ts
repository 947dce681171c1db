import { notFound } from '@gantry/errors';
import type { OperationCall } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { buildWorkerVisibilityFilter, canSeeWorker } from '../access/ownership';
import type { Db } from '../database';
import { Prisma, type Worker, type WorkerTrigger } from '../generated/prisma/client';

export type WorkerWithTriggers = Worker & { triggers: WorkerTrigger[] };

const buildExistingFilter = (workspaceId: string, id: string) => ({ workspaceId, id, deletedAt: null });

/** Gets a worker without a caller: for webhooks, schedules and events. @param id the slug @throws AppError 404 */
export async function getWorker(db: Db, workspaceId: string, id: string): Promise<WorkerWithTriggers> {
  const worker = await db.worker.findFirst({
    where: buildExistingFilter(workspaceId, id),
    include: { triggers: true },
  });
  if (!worker) throw notFound('worker', id);
  return worker;
}

/** Null when it was deleted meanwhile. */
export function findWorkerByUid(db: Db, workspaceId: string, uid: string): Promise<WorkerWithTriggers | null> {
  return db.worker.findFirst({ where: { workspaceId, uid, deletedAt: null }, include: { triggers: true } });
}

/** @throws AppError 404, the same for what is unknown, another workspace's or another member's private one */
export async function getVisibleWorker(db: Db, principal: Principal, id: string): Promise<WorkerWithTriggers> {
  const worker = await getWorker(db, principal.workspaceId, id);
  if (!canSeeWorker(principal, worker)) throw notFound('worker', id);
  return worker;
}

/** Holds its row until the transaction ends, so that two changes of one worker come one after the other. */
export async function lockVisibleWorker(
  tx: Prisma.TransactionClient,
  principal: Principal,
  id: string,
): Promise<WorkerWithTriggers> {
  await tx.$queryRaw`SELECT 1 FROM workers WHERE workspace_id = ${principal.workspaceId} AND id = ${id} FOR UPDATE`;
  return getVisibleWorker(tx, principal, id);
}

/** Those that the principal may see, newest first. Without a status, archived ones are left out. */
export async function listWorkers(
  db: Db,
  principal: Principal,
  { status, tag, trigger_type: triggerType, q, limit, offset }: OperationCall<'worker', 'listWorkers'>['query'],
): Promise<{ workers: WorkerWithTriggers[]; total: number }> {
  const where: Prisma.WorkerWhereInput = {
    workspaceId: principal.workspaceId,
    deletedAt: null,
    AND: [
      buildWorkerVisibilityFilter(principal),
      status === 'all' ? {} : { status: status ?? { not: 'archived' } },
      tag === undefined ? {} : { tags: { has: tag } },
      triggerType === undefined
        ? {}
        : triggerType === 'manual'
          ? { triggers: { none: {} } }
          : { triggers: { some: { type: triggerType } } },
      q
        ? {
            OR: [
              { name: buildContainsFilter(q) },
              { id: buildContainsFilter(q) },
              { description: buildContainsFilter(q) },
            ],
          }
        : {},
    ],
  };
  const [workers, total] = await Promise.all([
    db.worker.findMany({
      where,
      include: { triggers: true },
      orderBy: [{ createdAt: 'desc' }, { uid: 'desc' }],
      take: limit,
      skip: offset,
    }),
    db.worker.count({ where }),
  ]);
  return { workers, total };
}

/** `%` and `_` stand for themselves: Prisma would hand them to LIKE as they are. */
const buildContainsFilter = (q: string) => ({ contains: q.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' }) as const;

/**
 * Uids of the workers that the principal may see and that have the tag, and contain the text in name or id; archived
 * ones too.
 */
export async function findWorkerUids(
  db: Db,
  principal: Principal,
  { tag, q }: { tag?: string | undefined; q?: string | undefined },
): Promise<string[]> {
  const rows = await db.worker.findMany({
    where: {
      workspaceId: principal.workspaceId,
      deletedAt: null,
      AND: [
        buildWorkerVisibilityFilter(principal),
        ...(q ? [{ OR: [{ name: buildContainsFilter(q) }, { id: buildContainsFilter(q) }] }] : []),
      ],
      ...(tag !== undefined && { tags: { has: tag } }),
    },
    select: { uid: true },
  });
  return rows.map(({ uid }) => uid);
}

/**
 * Tags of workers that the principal may see, with how many have each, by name. The database counts: 10,000 workers may
 * have 200,000 tags.
 */
export async function listTags(
  db: Db,
  principal: Principal,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ tags: { tag: string; count: number }[]; total: number }> {
  const uids = await findWorkerUids(db, principal, {});
  const inUse = Prisma.sql`FROM workers, unnest(tags) AS tag
    WHERE workspace_id = ${principal.workspaceId} AND uid = ANY(${uids}) AND status <> 'archived'`;
  const [tags, [counted]] = await Promise.all([
    db.$queryRaw<{ tag: string; count: number }[]>`SELECT tag, count(*)::int AS count ${inUse}
      GROUP BY tag ORDER BY tag COLLATE "C" LIMIT ${limit} OFFSET ${offset}`,
    db.$queryRaw<{ total: number }[]>`SELECT count(DISTINCT tag)::int AS total ${inUse}`,
  ]);
  return { tags, total: counted?.total ?? 0 };
}

export const isWorkerPublished = async (db: Db, workspaceId: string, uid: string): Promise<boolean> =>
  (await db.worker.count({ where: { workspaceId, uid, tools: { some: {} } } })) > 0;

export const countWorkers = (db: Db, workspaceId: string): Promise<number> =>
  db.worker.count({ where: { workspaceId, deletedAt: null } });

/** Slugs of the workspace that begin so. */
export async function listTakenSlugs(db: Db, workspaceId: string, prefix: string): Promise<Set<string>> {
  const rows = await db.worker.findMany({
    where: { workspaceId, id: { startsWith: prefix } },
    select: { id: true },
  });
  return new Set(rows.map(({ id }) => id));
}

/** False where the slug is taken: the transaction goes on as if nothing had been asked. */
export async function insertWorker(tx: Db, worker: Prisma.WorkerCreateManyInput): Promise<boolean> {
  const { count } = await tx.worker.createMany({ data: [worker], skipDuplicates: true });
  return count > 0;
}
