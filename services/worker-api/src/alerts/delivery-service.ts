import { conflict } from '@gantry/errors';
import type { Actor } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../audit/audit-entry';
import type { AlertDelivery } from '../generated/prisma/client';
import type { AlertWithWorker } from './alert';
import type { AlertDeps } from './alert-deps';
import { type Channel, channels, listChannels } from './channels';
import { getDelivery, requeueDeadDeliveries, requeueDelivery } from './delivery-repository';

/** Deliveries requeued by one request; the caller repeats it for more. */
const REPLAYED_DELIVERIES_MAX = 1_000;

type ReplayDeps = Pick<AlertDeps, 'prisma' | 'pool' | 'now'>;

/**
 * Sends a delivery again, under the same id and with a fresh set of attempts.
 * @throws AppError 409 if it is still being tried, or if the alert no longer uses that channel
 */
export async function replayDelivery(
  { prisma, now }: ReplayDeps,
  actor: Actor,
  alert: AlertWithWorker,
  deliveryId: string,
): Promise<AlertDelivery> {
  const { id: alertId, workspaceId } = alert;
  const delivery = await getDelivery(prisma, workspaceId, alertId, deliveryId);
  requireEnabledAlert(alert);
  const channel = delivery.channel as Channel;
  if (!listChannels(alert).includes(channel)) {
    throw conflict('channel_removed', `${channels[channel].field} is no longer set on the alert`);
  }
  await transaction(prisma, async (tx) => {
    if (!(await requeueDelivery(tx, workspaceId, deliveryId, now()))) {
      throw conflict(
        'not_ended',
        'this delivery is still in progress; it can be replayed once it is delivered or dead',
      );
    }
    await recordChange(tx, actor, 'alert.delivery_replayed', { workspaceId, id: alertId }, { delivery_id: deliveryId });
  });
  return getDelivery(prisma, workspaceId, alertId, deliveryId);
}

/** Replays dead letters by channels that the alert still uses, the oldest first. */
export async function replayDeadDeliveries(
  { pool, now }: ReplayDeps,
  actor: Actor,
  alert: AlertWithWorker,
): Promise<{ replayed: number; has_more: boolean }> {
  const { id: alertId, workspaceId } = alert;
  requireEnabledAlert(alert);
  const replayed = await transaction(pool, async (tx) => {
    const count = await requeueDeadDeliveries(tx, workspaceId, alertId, {
      channels: listChannels(alert),
      limit: REPLAYED_DELIVERIES_MAX,
      now: now(),
    });
    if (count === 0) return 0;
    await recordChange(tx, actor, 'alert.delivery_replayed', { workspaceId, id: alertId }, { replayed: count });
    return count;
  });
  return { replayed, has_more: replayed === REPLAYED_DELIVERIES_MAX };
}

function requireEnabledAlert({ enabled }: AlertWithWorker): void {
  if (!enabled) throw conflict('alert_disabled', 'the alert is disabled; set enabled to true first');
}
