/** Workers that schedules, webhooks and events start: each statement reads a worker together with its trigger. */
import { buildWorkspaceClosedSql } from '@gantry/events';
import type { Principal } from '@gantry/limits';
import { listRows, type Sql } from '@gantry/postgres';
import type { Misfire } from '@gantry/schedule';
import type { Worker } from '../generated/prisma/client';
import type { TriggerEvent } from '../triggers/event/event-trigger';
import { STARTABLE, type StartableWorker } from './startable-worker';
import { toVisibilityValues, VISIBLE_CONDITION, type WorkerSummary } from './worker-queries';

export interface DueTrigger {
  id: string;
  cron: string;
  timezone: string;
  misfire: Misfire;
  inputs: Record<string, unknown>;
  nextRunAt: Date;
  worker: StartableWorker;
}

/** Passes over those that another replica has locked. */
export const lockDueTriggers = (tx: Sql, at: Date, limit: number): Promise<DueTrigger[]> =>
  listRows(tx, {
    name: 'lock-due-triggers',
    text: `SELECT t.id, t.cron, t.timezone, t.misfire, t.inputs, t.next_run_at AS "nextRunAt",
             json_build_object('uid', w.uid, 'id', w.id, 'workspaceId', w.workspace_id, 'name', w.name,
               'status', w.status, 'currentVersion', w.current_version) AS worker
           FROM worker_triggers t
           JOIN workers w ON w.uid = t.worker_uid AND w.status = 'active' AND w.deleted_at IS NULL
           WHERE t.next_run_at <= $1 AND NOT ${buildWorkspaceClosedSql('w.workspace_id')}
           ORDER BY t.next_run_at LIMIT $2
           FOR UPDATE OF t SKIP LOCKED`,
    values: [at, limit],
  });

export type WebhookWorker = StartableWorker & { webhookHash: Buffer; webhookSigningKey: Buffer | null };

/** Workers of any workspace that have one of these ids, and a webhook with one of these hashes. */
export const listWebhookWorkers = (sql: Sql, ids: string[], hashes: Buffer[]): Promise<WebhookWorker[]> =>
  listRows(sql, {
    name: 'workers-by-secret',
    text: `SELECT ${STARTABLE}, t.webhook_hash AS "webhookHash", t.webhook_signing_key AS "webhookSigningKey"
           FROM workers w
           JOIN worker_triggers t ON t.worker_uid = w.uid AND t.webhook_hash = ANY ($2)
           WHERE w.id = ANY ($1) AND w.deleted_at IS NULL AND NOT ${buildWorkspaceClosedSql('w.workspace_id')}`,
    values: [ids, hashes],
  });

/** The properties by which triggers select an event; `isShared`: its subject is not a private worker. */
export interface EventSource extends Pick<WorkerSummary, 'ownerId'> {
  uid: string | null;
  /** Name by which the `source_id` of a trigger may refer to it. */
  id: string | null;
  isShared: boolean;
}

/**
 * Active workers with a trigger for it. A trigger without a source hears all others but not its own worker; what a
 * private worker does is heard by private ones of the same owner, for the runs of others are read by others.
 */
export const listAwaitingWorkers = (
  sql: Sql,
  { workspaceId, type }: { workspaceId: string; type: TriggerEvent },
  source: EventSource,
): Promise<StartableWorker[]> =>
  listRows(
    sql,
    `SELECT ${STARTABLE} FROM workers w
     WHERE w.workspace_id = $1 AND w.status = 'active' AND w.deleted_at IS NULL AND NOT ${buildWorkspaceClosedSql('$1')}
       AND ($5 OR (w.visibility = 'private' AND w.owner_id = $6))
       AND w.uid IN (
         SELECT worker_uid FROM worker_triggers t
         WHERE t.workspace_id = $1 AND t.type = 'event' AND $2 = ANY (t."on")
           AND (t.source_id = $3 OR (t.source_id IS NULL AND t.worker_uid IS DISTINCT FROM $4)))
     ORDER BY w.uid`,
    [workspaceId, type, source.id, source.uid, source.isShared, source.ownerId],
  );

/** The next fires of active workers that the caller sees. */
export const listNextFires = (
  sql: Sql,
  caller: Principal,
  limit: number,
): Promise<(Pick<Worker, 'id' | 'name'> & { at: Date })[]> =>
  listRows(
    sql,
    `SELECT w.id, w.name, t.next_run_at AS at FROM worker_triggers t JOIN workers w ON w.uid = t.worker_uid
     WHERE t.workspace_id = $1 AND t.type = 'cron' AND t.next_run_at IS NOT NULL AND w.status = 'active' AND ${VISIBLE_CONDITION}
     ORDER BY t.next_run_at, t.id LIMIT $4`,
    [...toVisibilityValues(caller), limit],
  );
