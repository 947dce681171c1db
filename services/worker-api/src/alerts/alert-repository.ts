import { notFound } from '@gantry/errors';
import type { Principal } from '@gantry/limits';
import { buildWorkerVisibilityFilter } from '../access/ownership';
import type { Db } from '../database';
import type { Alert, Prisma } from '../generated/prisma/client';
import type { AlertWithWorker } from './alert';
import type { AlertAddresses } from './channels/channel';

const INCLUDE_WORKER = { worker: { select: { id: true } } } as const;

/** Excludes alerts of deleted workers, and those of private workers that the caller cannot see. */
const buildVisibilityFilter = (caller: Principal): Prisma.AlertWhereInput => ({
  OR: [{ workerUid: null }, { worker: { deletedAt: null, ...buildWorkerVisibilityFilter(caller) } }],
});

/** Newest first, with the total count. */
export async function listAlerts(
  db: Db,
  workspaceId: string,
  caller: Principal,
  filter: { workerId?: string | undefined; automationId?: string | undefined },
  page: { limit: number; offset: number },
): Promise<{ alerts: AlertWithWorker[]; total: number }> {
  const where: Prisma.AlertWhereInput = {
    workspaceId,
    ...(filter.workerId !== undefined && { worker: { id: filter.workerId } }),
    ...(filter.automationId !== undefined && { automationId: filter.automationId }),
    AND: buildVisibilityFilter(caller),
  };
  const [alerts, total] = await Promise.all([
    db.alert.findMany({
      where,
      include: INCLUDE_WORKER,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: page.limit,
      skip: page.offset,
    }),
    db.alert.count({ where }),
  ]);
  return { alerts, total };
}

/** @throws AppError 404, also for one that the caller may not see */
export async function getAlert(
  db: Db,
  workspaceId: string,
  caller: Principal,
  alertId: string,
): Promise<AlertWithWorker> {
  const where = { workspaceId, id: alertId, AND: buildVisibilityFilter(caller) };
  const alert = await db.alert.findFirst({ where, include: INCLUDE_WORKER });
  if (!alert) throw notFound('alert', alertId);
  return alert;
}

export function insertAlert(db: Db, alert: Prisma.AlertUncheckedCreateInput): Promise<AlertWithWorker> {
  return db.alert.create({ data: alert, include: INCLUDE_WORKER });
}

/** Locks its row until the transaction ends, which serialises changes of one alert. */
export async function lockAlert(
  tx: Prisma.TransactionClient,
  workspaceId: string,
  caller: Principal,
  alertId: string,
): Promise<AlertWithWorker> {
  await tx.$queryRaw`SELECT 1 FROM alerts WHERE workspace_id = ${workspaceId} AND id = ${alertId} FOR UPDATE`;
  return getAlert(tx, workspaceId, caller, alertId);
}

export function updateAlert(
  tx: Prisma.TransactionClient,
  workspaceId: string,
  alertId: string,
  change: Partial<AlertAddresses & Pick<Alert, 'on' | 'description' | 'enabled' | 'disabledReason' | 'signingKey'>>,
): Promise<AlertWithWorker> {
  return tx.alert.update({ where: { workspaceId, id: alertId }, data: change, include: INCLUDE_WORKER });
}

/** Deletes its deliveries too. False if there is none. */
export async function deleteAlert(db: Db, workspaceId: string, alertId: string): Promise<boolean> {
  const { count } = await db.alert.deleteMany({ where: { workspaceId, id: alertId } });
  return count > 0;
}

/** Query: workspaces with an alert that waits for an event. */
export const WORKSPACES_WITH_ALERTS = 'SELECT workspace_id FROM alerts WHERE enabled';
