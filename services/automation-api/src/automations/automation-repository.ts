import { notFound } from '@gantry/errors';
import type { OperationCall } from '@gantry/http';
import type { Db } from '../database';
import type { Automation, AutomationVersion, Prisma } from '../generated/prisma/client';
import type { VersionWithArtifact } from './automation';

/** @throws AppError 404, the same for an unknown automation and one of another workspace */
export async function getAutomation(db: Db, workspaceId: string, id: string): Promise<Automation> {
  const automation = await db.automation.findFirst({ where: { id, workspaceId } });
  if (!automation) throw notFound('automation', id);
  return automation;
}

/** Locks the row until the transaction ends, so that changes of one automation are serialized. */
export async function lockAutomation(
  tx: Prisma.TransactionClient,
  workspaceId: string,
  id: string,
): Promise<Automation> {
  await tx.$queryRaw`SELECT 1 FROM automations WHERE id = ${id} AND workspace_id = ${workspaceId} FOR UPDATE`;
  return getAutomation(tx, workspaceId, id);
}

export type AutomationFilter = OperationCall<'automation', 'listAutomations'>['query'];

/** Lists automations, newest first. @param visibleIds ids that the caller may see; null: all */
export async function listAutomations(
  db: Db,
  workspaceId: string,
  { q, status, limit, offset }: AutomationFilter,
  visibleIds: string[] | null,
): Promise<{ automations: Automation[]; total: number }> {
  const where: Prisma.AutomationWhereInput = {
    workspaceId,
    status: status ?? { not: 'archived' },
    ...(visibleIds && { id: { in: visibleIds } }),
    ...(q && { OR: [{ name: buildContainsFilter(q) }, { description: buildContainsFilter(q) }] }),
  };
  const [automations, total] = await Promise.all([
    db.automation.findMany({ where, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], take: limit, skip: offset }),
    db.automation.count({ where }),
  ]);
  return { automations, total };
}

/** Escapes `%` and `_`, which Prisma passes to LIKE unescaped. */
const buildContainsFilter = (q: string) => ({ contains: q.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' }) as const;

/** Finds the ids of automations, also archived ones, whose name or id contains `q`. */
export async function findAutomationIds(db: Db, workspaceId: string, q: string): Promise<string[]> {
  const where = { workspaceId, OR: [{ name: buildContainsFilter(q) }, { id: buildContainsFilter(q) }] };
  return (await db.automation.findMany({ where, select: { id: true } })).map(({ id }) => id);
}

export function listVersions(db: Db, workspaceId: string, automationId: string): Promise<VersionWithArtifact[]> {
  return db.automationVersion.findMany({
    where: { workspaceId, automationId },
    orderBy: { version: 'desc' },
    include: { artifact: { select: { entrypoint: true, fileCount: true, totalSize: true } } },
  });
}

export function findVersion(
  db: Db,
  workspaceId: string,
  automationId: string,
  version: number | Prisma.IntFilter,
): Promise<AutomationVersion | null> {
  return db.automationVersion.findFirst({
    where: { workspaceId, automationId, version },
    orderBy: { version: 'desc' },
  });
}
