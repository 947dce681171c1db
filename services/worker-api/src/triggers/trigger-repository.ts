import { newId } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import type { Db } from '../database';
import type { Worker } from '../generated/prisma/client';
import { findNextRunAt } from './cron/cron-trigger';
import { type TriggerInput, toTriggerColumns } from './trigger';
import type { WebhookColumns } from './webhook/webhook-secret';

type TriggeredWorker = Pick<Worker, 'uid' | 'workspaceId' | 'status'>;

/**
 * Makes these the worker's triggers. A cron trigger whose expression and zone stay keeps its next fire, so that an edit
 * at the wrong moment loses none. A webhook keeps the secrets that `webhook` does not replace.
 */
export async function replaceTriggers(
  tx: Db,
  worker: TriggeredWorker,
  triggers: TriggerInput[],
  now: Date,
  webhook: Partial<WebhookColumns> = {},
): Promise<void> {
  const mine = { workspaceId: worker.workspaceId, workerUid: worker.uid };
  // The row stays locked until the commit: the ticker is either done with it or passes it by.
  await tx.$queryRaw`SELECT 1 FROM worker_triggers WHERE worker_uid = ${worker.uid} FOR UPDATE`;
  const rows = await tx.workerTrigger.findMany({ where: { ...mine, type: { not: 'event' } } });
  const before = new Map(rows.map((row) => [row.type, row]));
  await tx.workerTrigger.deleteMany({ where: mine });
  await tx.workerTrigger.createMany({
    data: triggers.map((one) => {
      const columns = toTriggerColumns(one, { status: worker.status, before: before.get(one.type), now });
      return { id: newId('trg_'), ...mine, ...columns, ...(one.type === 'webhook' && webhook) };
    }),
  });
}

/** New secrets for a webhook that stays. */
export async function updateWebhook(tx: Db, worker: TriggeredWorker, webhook: Partial<WebhookColumns>): Promise<void> {
  const { uid: workerUid, workspaceId } = worker;
  await tx.workerTrigger.updateMany({ where: { workspaceId, workerUid, type: 'webhook' }, data: webhook });
}

/**
 * Sets the next fire after the worker was paused, archived, resumed or restored. What passes while it isn't active is
 * neither run nor missed.
 */
export async function rescheduleTriggers(tx: Db, worker: TriggeredWorker, now: Date): Promise<void> {
  const { uid: workerUid, workspaceId, status } = worker;
  const trigger = await tx.workerTrigger.findFirst({ where: { workspaceId, workerUid, type: 'cron' } });
  if (!trigger) return;
  await tx.workerTrigger.update({
    where: { id: trigger.id },
    data: { nextRunAt: findNextRunAt(trigger, status, now) },
  });
}

/** Past a fire. @param missed how many fires before it did not come */
export const advanceTrigger = (
  tx: Sql,
  id: string,
  { nextRunAt, lastScheduledAt, missed }: { nextRunAt: Date | null; lastScheduledAt: Date | null; missed: number },
): Promise<unknown> =>
  tx.query({
    name: 'move-trigger-on',
    text: `UPDATE worker_triggers SET next_run_at = $2, last_scheduled_at = coalesce($3, last_scheduled_at),
             missed_fires = missed_fires + $4 WHERE id = $1`,
    values: [id, nextRunAt, lastScheduledAt, missed],
  });
