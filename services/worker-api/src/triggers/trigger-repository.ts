import { newId } from '@gantry/events';
import { nextFire } from '@gantry/schedule';
import type { Db } from '../database';
import type { Prisma, Worker, WorkerTrigger } from '../generated/prisma/client';
import type { CronInput, TriggerInput } from './trigger';

type TriggeredWorker = Pick<Worker, 'uid' | 'workspaceId' | 'status'>;

/**
 * Makes these the worker's triggers. A cron trigger whose expression and zone stay keeps its next fire, so that an edit
 * at the wrong moment loses none.
 */
export async function replaceTriggers(
  tx: Db,
  worker: TriggeredWorker,
  triggers: TriggerInput[],
  now: Date,
): Promise<void> {
  const mine = { workspaceId: worker.workspaceId, workerUid: worker.uid };
  // The row stays locked until the commit: the ticker is either done with it or passes it by.
  await tx.$queryRaw`SELECT 1 FROM worker_triggers WHERE worker_uid = ${worker.uid} FOR UPDATE`;
  const before = await tx.workerTrigger.findFirst({ where: { ...mine, type: 'cron' } });
  await tx.workerTrigger.deleteMany({ where: mine });
  await tx.workerTrigger.createMany({
    data: triggers.map((one) => ({ id: newId('trg_'), ...mine, ...columnsOf(one, worker.status, before, now) })),
  });
}

/**
 * Sets the next fire after the worker was paused, archived, resumed or restored. What passes while it isn't active is
 * neither run nor missed.
 */
export async function retimeTriggers(tx: Db, worker: TriggeredWorker, now: Date): Promise<void> {
  const { uid: workerUid, workspaceId, status } = worker;
  const trigger = await tx.workerTrigger.findFirst({ where: { workspaceId, workerUid, type: 'cron' } });
  if (!trigger) return;
  await tx.workerTrigger.update({
    where: { id: trigger.id },
    data: { nextRunAt: status === 'active' ? nextFire(scheduleOf(trigger), now) : null },
  });
}

const scheduleOf = ({ cron, timezone }: WorkerTrigger) => ({ cron: String(cron), timezone: String(timezone) });

function columnsOf(trigger: TriggerInput, status: Worker['status'], before: WorkerTrigger | null, now: Date) {
  switch (trigger.type) {
    case 'cron':
      return cronColumns(trigger, status, before, now);
    case 'webhook':
      return { type: trigger.type, on: [] };
    case 'event':
      return { type: trigger.type, on: trigger.on, sourceId: trigger.sourceId };
  }
}

function cronColumns(trigger: CronInput, status: Worker['status'], before: WorkerTrigger | null, now: Date) {
  const { type, cron, timezone, misfire, inputs } = trigger;
  const isSame = before !== null && before.cron === cron && before.timezone === timezone;
  const kept = isSame && before.nextRunAt;
  return {
    ...{ type, cron, timezone, misfire, on: [] },
    inputs: inputs as Prisma.InputJsonObject,
    nextRunAt: status === 'active' ? kept || nextFire({ cron, timezone }, now) : null,
    ...(isSame && { lastScheduledAt: before.lastScheduledAt, missedFires: before.missedFires }),
  };
}
