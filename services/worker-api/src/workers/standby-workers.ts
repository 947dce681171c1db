/** Workers whose code executors import before a run. */
import { buildWorkspaceClosedSql } from '@gantry/events';
import { findRow, type Sql } from '@gantry/postgres';
import { findNextFire } from '@gantry/schedule';
import type { Worker, WorkerTrigger } from '../generated/prisma/client';

/** An executor gives up code that has not run for this long. */
const INTERVAL_MS_MAX = 10 * 60_000;
/** More would not fit into the memory of an executor. */
const WORKERS_MAX = 200;
const TRIGGERS_MAX = 2_000;

export type PreparedWorker = Pick<Worker, 'uid' | 'workspaceId' | 'status' | 'currentVersion' | 'deletedAt'>;

const COLUMNS =
  'w.uid, w.workspace_id AS "workspaceId", w.status, w.current_version AS "currentVersion", w.deleted_at AS "deletedAt"';

/** Also one that was deleted; undefined: it is gone for good. */
export const findPreparedWorker = (
  sql: Sql,
  { workspaceId, uid }: Pick<Worker, 'workspaceId' | 'uid'>,
): Promise<PreparedWorker | undefined> =>
  findRow(sql, `SELECT ${COLUMNS} FROM workers w WHERE w.workspace_id = $1 AND w.uid = $2`, [workspaceId, uid]);

/**
 * Those that start by themselves so often that their code is worth having imported at all times: with a webhook, or a
 * schedule that fires within ten minutes and again. Workspaces take turns.
 */
export async function listStandbyWorkers(sql: Sql, now: Date): Promise<PreparedWorker[]> {
  const { rows } = await sql.query<PreparedWorker & Pick<WorkerTrigger, 'type' | 'cron' | 'timezone' | 'nextRunAt'>>(
    `SELECT ${COLUMNS}, t.type, t.cron, t.timezone, t.next_run_at AS "nextRunAt"
     FROM worker_triggers t
     JOIN workers w ON w.uid = t.worker_uid AND w.status = 'active' AND w.deleted_at IS NULL
     WHERE (t.type = 'webhook' OR (t.type = 'cron' AND t.next_run_at < $1)) AND NOT ${buildWorkspaceClosedSql('w.workspace_id')}
     ORDER BY row_number() OVER (PARTITION BY w.workspace_id ORDER BY w.updated_at DESC, t.id), w.uid LIMIT ${TRIGGERS_MAX}`,
    [new Date(now.getTime() + INTERVAL_MS_MAX)],
  );
  const workers = new Map<string, PreparedWorker>();
  for (const { type, cron, timezone, nextRunAt, ...worker } of rows) {
    if (type === 'webhook' || isFrequent({ cron, timezone, nextRunAt })) workers.set(worker.uid, worker);
    if (workers.size === WORKERS_MAX) break;
  }
  return [...workers.values()];
}

function isFrequent({ cron, timezone, nextRunAt }: Pick<WorkerTrigger, 'cron' | 'timezone' | 'nextRunAt'>): boolean {
  if (!cron || !timezone || !nextRunAt) return false;
  const following = findNextFire({ cron, timezone }, nextRunAt);
  return following !== null && following.getTime() - nextRunAt.getTime() < INTERVAL_MS_MAX;
}
