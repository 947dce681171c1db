/**
 * From something that happened to deliveries that are due, in the transaction of the event that told of it: raised once,
 * or, if this process dies before the commit, when the event comes again.
 */
import { alertRaised, enqueue, newId } from '@gantry/events';
import type { Pool, PoolClient } from 'pg';
import { Counter } from 'prom-client';
import { type AlertType, channelsOf } from './alert';
import type { AlertPayload, Occurrence } from './alert-payload';

export interface Raised {
  workspaceId: string;
  /** Of the event: an alert is raised once by it. */
  eventId: string;
  type: AlertType;
  about: { workerUid: string } | { automationId: string };
  /** When it happened. */
  at: Date;
  now: Date;
  occurrence: Occurrence;
  /** How many runs led to this by events and calls. */
  depth: number;
}

interface Heard {
  id: string;
  url: string | null;
  emailTo: string | null;
}

const raisedTotal = new Counter({
  name: 'gantry_alerts_raised_total',
  help: 'Alerts whose condition came true',
  labelNames: ['type'],
});

/** Of the worker, of the automation, of the whole workspace: each is one look into the same index. */
const HEARD = `
  SELECT id, url, email_to AS "emailTo" FROM alerts
  WHERE workspace_id = $1 AND enabled AND $2 = ANY ("on") AND (
    (worker_uid = $3 AND automation_id IS NULL) OR
    (worker_uid IS NULL AND automation_id = $4) OR
    (worker_uid IS NULL AND automation_id IS NULL))
  ORDER BY id`;

type Asked = Pick<Raised, 'workspaceId' | 'type' | 'about'>;

async function alertsThatHear(sql: Pool | PoolClient, { workspaceId, type, about }: Asked): Promise<Heard[]> {
  const workerUid = 'workerUid' in about ? about.workerUid : null;
  const automationId = 'automationId' in about ? about.automationId : null;
  const { rows } = await sql.query<Heard>({
    name: 'alerts-that-hear',
    text: HEARD,
    values: [workspaceId, type, workerUid, automationId],
  });
  return rows;
}

/** Most events concern no alert: asked before a transaction is begun for them. */
export async function isHeard(pool: Pool, asked: Asked): Promise<boolean> {
  return (await alertsThatHear(pool, asked)).length > 0;
}

export async function raiseAlerts(tx: PoolClient, raised: Raised): Promise<void> {
  const { workspaceId, eventId, type, at, now, occurrence, depth } = raised;
  const alerts = await alertsThatHear(tx, raised);
  const deliveries = alerts.flatMap((alert) => {
    const payload: AlertPayload = {
      type,
      timestamp: at.toISOString(),
      data: { alert_id: alert.id, workspace_id: workspaceId, ...occurrence },
    };
    return channelsOf(alert).map((channel) => ({ alertId: alert.id, channel, payload: JSON.stringify(payload) }));
  });
  if (deliveries.length === 0) return;
  await tx.query(
    `INSERT INTO alert_deliveries (id, alert_id, workspace_id, event_id, channel, type, payload, created_at, next_attempt_at)
     SELECT id, alert_id, $4, $5, channel, $6, payload::json, $7, $7
     FROM unnest($1::text[], $2::text[], $3::text[], $8::text[]) AS d(id, alert_id, channel, payload)
     ON CONFLICT (alert_id, event_id, channel) DO NOTHING`,
    [
      deliveries.map(() => newId('dlv_')),
      deliveries.map(({ alertId }) => alertId),
      deliveries.map(({ channel }) => channel),
      workspaceId,
      eventId,
      type,
      now,
      deliveries.map(({ payload }) => payload),
    ],
  );
  for (const { id } of alerts) {
    await enqueue((sql, values) => tx.query(sql, values), alertRaised, workspaceId, {
      alertId: id,
      type,
      runId: occurrence.run_id ?? null,
      subjectId: occurrence.worker_id ?? occurrence.automation_id,
      depth,
    });
  }
  raisedTotal.inc({ type }, alerts.length);
}
