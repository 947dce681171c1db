/**
 * Creates due deliveries for an event, in the transaction that consumes it: each alert is raised once,
 * or, if this process dies before the commit, when the event is redelivered.
 */

import { addChangeHint, alertRaised, buildWorkspaceClosedSql, enqueue, newId } from '@gantry/events';
import { hasRow, listRows } from '@gantry/postgres';
import type { Pool, PoolClient } from 'pg';
import { Counter } from 'prom-client';
import type { AlertOccurrence, AlertPayload } from './alert-payload';
import type { AlertType } from './alert-type';
import { buildAddressColumnsSql, type Channel, channelNames, channels, listChannels } from './channels';
import type { AlertAddresses } from './channels/channel';
import type { Attempt } from './delivery';

export interface RaisedEvent {
  workspaceId: string;
  /** Id of the event: it raises an alert at most once. */
  eventId: string;
  type: AlertType;
  /** `workspace`: neither of a worker nor of an automation. */
  about: { workerUid: string } | { automationId: string } | 'workspace';
  /** Time of the event. */
  at: Date;
  now: Date;
  occurrence: AlertOccurrence;
  /** Length of the chain of events and calls that led here. */
  depth: number;
}

interface MatchingAlert extends AlertAddresses {
  id: string;
}

const raisedTotal = new Counter({
  name: 'gantry_alerts_raised_total',
  help: 'Alerts whose condition was met',
  labelNames: ['type'],
});

/**
 * Selects alerts of the worker, of the automation, and of the whole workspace: each is one lookup in the same index.
 * None in a closed workspace.
 */
const MATCHING_ALERTS = `
  SELECT id, ${buildAddressColumnsSql('alerts')} FROM alerts
  WHERE workspace_id = $1 AND NOT ${buildWorkspaceClosedSql('$1')} AND enabled AND $2 = ANY ("on") AND (
    (worker_uid = $3 AND automation_id IS NULL) OR
    (worker_uid IS NULL AND automation_id = $4) OR
    (worker_uid IS NULL AND automation_id IS NULL))
  ORDER BY id`;

type AlertQuery = Pick<RaisedEvent, 'workspaceId' | 'type' | 'about'>;

const toQueryParams = ({ workspaceId, type, about }: AlertQuery) => [
  workspaceId,
  type,
  about !== 'workspace' && 'workerUid' in about ? about.workerUid : null,
  about !== 'workspace' && 'automationId' in about ? about.automationId : null,
];

/** Checks whether an alert subscribes to an event before a transaction is opened for it: most match none. */
export const hasMatchingAlert = (pool: Pool, query: AlertQuery): Promise<boolean> =>
  hasRow(pool, { name: 'alert-is-heard', text: MATCHING_ALERTS, values: toQueryParams(query) });

/**
 * Locks them until the commit: a request that disables one meanwhile waits, then cancels the deliveries created here.
 */
const lockMatchingAlerts = (tx: PoolClient, query: AlertQuery): Promise<MatchingAlert[]> =>
  listRows(tx, {
    name: 'alerts-that-hear',
    text: `${MATCHING_ALERTS} FOR SHARE`,
    values: toQueryParams(query),
  });

export async function raiseAlerts(tx: PoolClient, raised: RaisedEvent): Promise<void> {
  const { workspaceId, type, at, now, occurrence, depth } = raised;
  const alerts = await lockMatchingAlerts(tx, raised);
  if (alerts.length === 0) return;
  const rateLimited = await findRateLimitedDeliveries(tx, alerts, now);
  const deliveries = alerts.flatMap((alert) => {
    const payload: AlertPayload = {
      type,
      timestamp: at.toISOString(),
      data: { alert_id: alert.id, workspace_id: workspaceId, ...occurrence },
    };
    return listChannels(alert).map((channel) => ({
      alertId: alert.id,
      channel,
      payload: JSON.stringify(payload),
      isHeldBack: rateLimited.get(channel)?.has(alert.id) ?? false,
    }));
  });
  await insertDeliveries(tx, raised, deliveries);
  for (const { id } of alerts) {
    await enqueue(tx, alertRaised, workspaceId, {
      alertId: id,
      type,
      runId: occurrence.run_id ?? null,
      subjectId: occurrence.worker_id ?? occurrence.automation_id,
      depth,
    });
  }
  addChangeHint(tx, workspaceId, 'alerts');
  raisedTotal.inc({ type }, alerts.length);
}

/** Returns, by channel, the alerts that have used up its quota of this hour. */
async function findRateLimitedDeliveries(
  tx: PoolClient,
  alerts: MatchingAlert[],
  now: Date,
): Promise<Map<Channel, Set<string>>> {
  const rateLimited = new Map<Channel, Set<string>>();
  for (const channel of channelNames) {
    const { column, hourlyLimit } = channels[channel];
    const alertIds = alerts.filter((alert) => alert[column] !== null).map(({ id }) => id);
    if (!hourlyLimit || alertIds.length === 0) continue;
    const { rows } = await tx.query<{ id: string }>(
      `SELECT alert_id AS id FROM alert_deliveries WHERE alert_id = ANY ($1) AND channel = $4 AND created_at > $2
       GROUP BY alert_id HAVING count(*) >= $3`,
      [alertIds, new Date(now.getTime() - 3_600_000), hourlyLimit.max, channel],
    );
    rateLimited.set(channel, new Set(rows.map(({ id }) => id)));
  }
  return rateLimited;
}

const buildRateLimitedAttempt = (channel: Channel, now: Date): Attempt => ({
  at: now.toISOString(),
  status: null,
  error: channels[channel].hourlyLimit?.error ?? null,
  duration_ms: 0,
  response: null,
});

async function insertDeliveries(
  tx: PoolClient,
  { workspaceId, eventId, type, now }: RaisedEvent,
  deliveries: { alertId: string; channel: Channel; payload: string; isHeldBack: boolean }[],
): Promise<void> {
  await tx.query(
    `INSERT INTO alert_deliveries (id, alert_id, workspace_id, event_id, channel, type, payload, created_at,
       status, attempts, next_attempt_at, ended_at)
     SELECT id, alert_id, $6, $7, channel, $8, payload::json, $9::timestamptz,
       CASE WHEN held_back IS NULL THEN 'pending' ELSE 'dead' END::delivery_status,
       coalesce(held_back, '[]')::json,
       CASE WHEN held_back IS NULL THEN $9::timestamptz END,
       CASE WHEN held_back IS NOT NULL THEN $9::timestamptz END
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
       AS d(id, alert_id, channel, payload, held_back)
     ON CONFLICT (alert_id, event_id, channel) DO NOTHING`,
    [
      deliveries.map(() => newId('dlv_')),
      deliveries.map(({ alertId }) => alertId),
      deliveries.map(({ channel }) => channel),
      deliveries.map(({ payload }) => payload),
      deliveries.map(({ channel, isHeldBack }) =>
        isHeldBack ? JSON.stringify([buildRateLimitedAttempt(channel, now)]) : null,
      ),
      workspaceId,
      eventId,
      type,
      now,
    ],
  );
}
