/**
 * Creates due deliveries for an event, in the transaction that consumes it: each alert is raised once,
 * or, if this process dies before the commit, when the event is redelivered.
 */

import { alertRaised, enqueue, hintChange, isWorkspaceClosedSql, newId } from '@gantry/events';
import type { Pool, PoolClient } from 'pg';
import { Counter } from 'prom-client';
import type { AlertType } from './alert';
import type { AlertPayload, Occurrence } from './alert-payload';
import { listChannels } from './channels';
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
  occurrence: Occurrence;
  /** Length of the chain of events and calls that led here. */
  depth: number;
}

interface MatchingAlert {
  id: string;
  url: string | null;
  emailTo: string | null;
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
  SELECT id, url, email_to AS "emailTo" FROM alerts
  WHERE workspace_id = $1 AND NOT ${isWorkspaceClosedSql('$1')} AND enabled AND $2 = ANY ("on") AND (
    (worker_uid = $3 AND automation_id IS NULL) OR
    (worker_uid IS NULL AND automation_id = $4) OR
    (worker_uid IS NULL AND automation_id IS NULL))
  ORDER BY id`;

type AlertQuery = Pick<RaisedEvent, 'workspaceId' | 'type' | 'about'>;

const toRowValues = ({ workspaceId, type, about }: AlertQuery) => [
  workspaceId,
  type,
  about !== 'workspace' && 'workerUid' in about ? about.workerUid : null,
  about !== 'workspace' && 'automationId' in about ? about.automationId : null,
];

/** Checks whether an alert subscribes to an event before a transaction is opened for it: most match none. */
export async function hasMatchingAlert(pool: Pool, query: AlertQuery): Promise<boolean> {
  const { rowCount } = await pool.query({ name: 'alert-is-heard', text: MATCHING_ALERTS, values: toRowValues(query) });
  return Boolean(rowCount);
}

/**
 * Locks them until the commit: a request that disables one meanwhile waits, then cancels the deliveries created here.
 */
async function lockMatchingAlerts(tx: PoolClient, query: AlertQuery): Promise<MatchingAlert[]> {
  const { rows } = await tx.query<MatchingAlert>({
    name: 'alerts-that-hear',
    text: `${MATCHING_ALERTS} FOR SHARE`,
    values: toRowValues(query),
  });
  return rows;
}

export async function raiseAlerts(tx: PoolClient, raised: RaisedEvent): Promise<void> {
  const { workspaceId, type, at, now, occurrence, depth } = raised;
  const alerts = await lockMatchingAlerts(tx, raised);
  if (alerts.length === 0) return;
  const rateLimited = await findRateLimitedAlerts(tx, alerts, now);
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
      isHeldBack: channel === 'email' && rateLimited.has(alert.id),
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
  if (alerts.length) hintChange(tx, workspaceId, 'alerts');
  raisedTotal.inc({ type }, alerts.length);
}

/** Without it, a worker that fails every second would get the shared mail server blocked. */
const EMAILS_PER_HOUR_MAX = 100;

/** Returns ids of the alerts that have used up their quota of this hour. */
async function findRateLimitedAlerts(tx: PoolClient, alerts: MatchingAlert[], now: Date): Promise<Set<string>> {
  const mailing = alerts.filter(({ emailTo }) => emailTo !== null).map(({ id }) => id);
  if (mailing.length === 0) return new Set();
  const { rows } = await tx.query<{ id: string }>(
    `SELECT alert_id AS id FROM alert_deliveries WHERE alert_id = ANY ($1) AND channel = 'email' AND created_at > $2
     GROUP BY alert_id HAVING count(*) >= $3`,
    [mailing, new Date(now.getTime() - 3_600_000), EMAILS_PER_HOUR_MAX],
  );
  return new Set(rows.map(({ id }) => id));
}

const buildRateLimitedAttempt = (now: Date): Attempt => ({
  at: now.toISOString(),
  status: null,
  error: `not sent: this alert has sent ${EMAILS_PER_HOUR_MAX} e-mails within the hour`,
  duration_ms: 0,
  response: null,
});

async function insertDeliveries(
  tx: PoolClient,
  { workspaceId, eventId, type, now }: RaisedEvent,
  deliveries: { alertId: string; channel: string; payload: string; isHeldBack: boolean }[],
): Promise<void> {
  await tx.query(
    `INSERT INTO alert_deliveries (id, alert_id, workspace_id, event_id, channel, type, payload, created_at,
       status, attempts, next_attempt_at, ended_at)
     SELECT id, alert_id, $6, $7, channel, $8, payload::json, $9::timestamptz,
       CASE WHEN held_back THEN 'dead' ELSE 'pending' END::delivery_status,
       CASE WHEN held_back THEN $10::text ELSE '[]' END::json,
       CASE WHEN held_back THEN NULL ELSE $9::timestamptz END,
       CASE WHEN held_back THEN $9::timestamptz END
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[])
       AS d(id, alert_id, channel, payload, held_back)
     ON CONFLICT (alert_id, event_id, channel) DO NOTHING`,
    [
      deliveries.map(() => newId('dlv_')),
      deliveries.map(({ alertId }) => alertId),
      deliveries.map(({ channel }) => channel),
      deliveries.map(({ payload }) => payload),
      deliveries.map(({ isHeldBack }) => isHeldBack),
      workspaceId,
      eventId,
      type,
      now,
      JSON.stringify([buildRateLimitedAttempt(now)]),
    ],
  );
}
