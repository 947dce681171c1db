import { notFound } from '@gantry/errors';
import { addChangeHint, buildWorkspaceClosedSql } from '@gantry/events';
import type { OperationCall, PageCursor } from '@gantry/http';
import { deleteOldRows, execute, listRows, type Sql, type Tx, writeRow } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Db } from '../database';
import type { Alert, AlertDelivery, DeliveryStatus } from '../generated/prisma/client';
import { buildAddressColumnsSql, type Channel } from './channels';
import type { AlertAddresses } from './channels/channel';
import type { Attempt } from './delivery';

/** A delivery that this process may send until `leasedUntil`. */
export interface ClaimedDelivery
  extends AlertAddresses,
    Pick<Alert, 'description' | 'signingKey'>,
    Pick<AlertDelivery, 'id' | 'alertId' | 'workspaceId' | 'type'> {
  channel: Channel;
  /** The JSON to send, identical bytes at each attempt. */
  body: string;
  attempts: Attempt[];
  /** Including this one. */
  attemptsMade: number;
  leasedUntil: Date;
}

/** Skips from alert to alert along an index, so that a long queue of one does not starve the others. */
const CLAIM = `
  WITH RECURSIVE waiting AS (
    (SELECT alert_id FROM alert_deliveries
     WHERE status = 'pending' AND EXISTS (SELECT 1 FROM alert_deliveries WHERE status = 'pending' AND next_attempt_at <= $1)
     ORDER BY alert_id LIMIT 1)
    UNION ALL
    SELECT (SELECT alert_id FROM alert_deliveries WHERE status = 'pending' AND alert_id > w.alert_id ORDER BY alert_id LIMIT 1)
    FROM waiting w WHERE w.alert_id IS NOT NULL
  ), due AS (
    SELECT d.* FROM waiting w
    JOIN alerts a ON a.id = w.alert_id
    CROSS JOIN LATERAL (
      SELECT id, workspace_id, next_attempt_at FROM alert_deliveries
      WHERE status = 'pending' AND alert_id = w.alert_id AND next_attempt_at <= $1
      ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED
    ) d
    WHERE w.alert_id <> ALL ($2) AND NOT ${buildWorkspaceClosedSql('a.workspace_id')}
  ), chosen AS (
    SELECT id FROM (
      SELECT id, next_attempt_at, row_number() OVER (PARTITION BY workspace_id ORDER BY next_attempt_at, id) AS turn FROM due
    ) ranked ORDER BY turn, next_attempt_at LIMIT $3
  )
  UPDATE alert_deliveries d SET next_attempt_at = $4, attempts_made = d.attempts_made + 1
  FROM chosen c, alerts a WHERE d.id = c.id AND a.id = d.alert_id
  RETURNING d.id, d.alert_id AS "alertId", d.workspace_id AS "workspaceId", d.channel, d.type, d.payload::text AS body,
    d.attempts, d.attempts_made AS "attemptsMade", d.next_attempt_at AS "leasedUntil",
    ${buildAddressColumnsSql('a')}, a.description, a.signing_key AS "signingKey"`;

/** When the next attempt is due, or the lease of one expires. */
export const DELIVERIES_DUE_AT = "(SELECT min(next_attempt_at) FROM alert_deliveries WHERE status = 'pending')";

/** Claims at most one delivery of each alert, round-robin over workspaces. Skips locked rows. */
export async function claimDeliveries(
  pool: Pool,
  claim: { now: Date; leaseUntil: Date; limit: number; exceptAlerts: string[] },
): Promise<ClaimedDelivery[]> {
  const { now, leaseUntil, limit, exceptAlerts } = claim;
  return listRows(pool, CLAIM, [now, exceptAlerts, limit, leaseUntil]);
}

/**
 * Records the outcome of an attempt.
 * @param outcome.next time of the next attempt; null: the delivery has ended
 * @returns false if the lease was lost or the delivery ended meanwhile: nothing is written then
 */
export async function recordAttempt(
  tx: Sql,
  claimed: ClaimedDelivery,
  outcome: { status: DeliveryStatus; attempts: Attempt[]; next: Date | null; now: Date },
): Promise<boolean> {
  const isRecorded = await writeRow(
    tx,
    `UPDATE alert_deliveries SET status = $2::delivery_status, attempts = $3::json, next_attempt_at = $4, ended_at = $5
     WHERE id = $1 AND status = 'pending' AND next_attempt_at = $6 AND attempts_made = $7`,
    [
      claimed.id,
      outcome.status,
      JSON.stringify(outcome.attempts),
      outcome.next,
      outcome.next === null ? outcome.now : null,
      claimed.leasedUntil,
      claimed.attemptsMade,
    ],
  );
  addChangeHint(tx, claimed.workspaceId, 'alerts');
  return isRecorded;
}

/** Turns an alert's pending deliveries by these channels into dead letters. */
export async function deadLetterPendingDeliveries(
  tx: Tx,
  alertId: string,
  channels: Channel[],
  now: Date,
): Promise<void> {
  await execute(
    tx,
    `UPDATE alert_deliveries SET status = 'dead', next_attempt_at = NULL, ended_at = $3::timestamptz
     WHERE alert_id = $1 AND status = 'pending' AND channel = ANY ($2)`,
    [alertId, channels, now.toISOString()],
  );
}

/** Newest first. */
export function listDeliveries(
  db: Db,
  workspaceId: string,
  alertId: string,
  { status, limit, offset }: OperationCall<'worker', 'listAlertDeliveries'>['query'],
  after: PageCursor | undefined,
): Promise<AlertDelivery[]> {
  return db.alertDelivery.findMany({
    where: {
      workspaceId,
      alertId,
      ...(status && { status }),
      ...(after && {
        OR: [{ createdAt: { lt: after.createdAt } }, { createdAt: after.createdAt, id: { lt: after.id } }],
      }),
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit,
    skip: offset,
  });
}

/** @throws AppError 404 */
export async function getDelivery(
  db: Db,
  workspaceId: string,
  alertId: string,
  deliveryId: string,
): Promise<AlertDelivery> {
  const delivery = await db.alertDelivery.findFirst({ where: { workspaceId, alertId, id: deliveryId } });
  if (!delivery) throw notFound('delivery', deliveryId);
  return delivery;
}

const REQUEUED_FIELDS = { status: 'pending', attemptsMade: 0, endedAt: null } as const;

/** Resets it to a new delivery, except for its log. False if it has not ended. */
export async function requeueDelivery(db: Db, workspaceId: string, deliveryId: string, now: Date): Promise<boolean> {
  const { count } = await db.alertDelivery.updateMany({
    where: { workspaceId, id: deliveryId, status: { not: 'pending' } },
    data: { ...REQUEUED_FIELDS, nextAttemptAt: now },
  });
  return count > 0;
}

/** @returns the number of deliveries */
export async function requeueDeadDeliveries(
  tx: Sql,
  workspaceId: string,
  alertId: string,
  { channels, limit, now }: { channels: Channel[]; limit: number; now: Date },
): Promise<number> {
  const { rowCount } = await tx.query(
    `UPDATE alert_deliveries SET status = 'pending', attempts_made = 0, ended_at = NULL, next_attempt_at = $4
     WHERE id IN (SELECT id FROM alert_deliveries WHERE workspace_id = $1 AND alert_id = $2 AND status = 'dead'
                    AND channel = ANY ($5) ORDER BY created_at LIMIT $3)`,
    [workspaceId, alertId, limit, now, channels],
  );
  return rowCount ?? 0;
}

/** Deletes delivered ones and dead letters alike, thirty days after they ended. */
export const purgeOldDeliveries = (pool: Pool): Promise<unknown> =>
  deleteOldRows(pool, 'alert_deliveries', "ended_at < now() - interval '30 days'");
