/** Retention of runs and their log lines: the workspace's settings within the operator's bounds. */
import type { Sql } from '@gantry/postgres';
import { z } from 'zod';

export interface Retention {
  /** Days after a run's end. */
  runDays: number;
  /** Days for log lines and other events after their run's creation. */
  logDays: number;
  /** Number of newest runs of each worker or automation that are kept, however old they are. */
  runsKept: number;
}

/** Null: the operator's default. */
export type RetentionSettings = { [Key in keyof Retention]: number | null };

export interface RetentionBounds {
  defaults: Retention;
  maximums: Retention;
}

const DAYS_MAX = 36_500;
export const RUNS_KEPT_MAX = 1_000;

const days = z.coerce.number().int().min(1).max(DAYS_MAX);
const runsKept = z.coerce.number().int().min(0).max(RUNS_KEPT_MAX);

export const retentionEnv = {
  RUN_RETENTION_DAYS: days.default(90),
  /** Highest value that a workspace may set; likewise below. */
  RUN_RETENTION_DAYS_MAX: days.default(365),
  /** Disk space is used for the longest setting of any workspace. */
  LOG_RETENTION_DAYS: days.default(30),
  LOG_RETENTION_DAYS_MAX: days.default(90),
  RUNS_KEPT_PER_WORKER: runsKept.default(20),
  RUNS_KEPT_PER_WORKER_MAX: runsKept.default(RUNS_KEPT_MAX),
};

const schema = z.object(retentionEnv);

export const toRetentionBounds = (env: z.infer<typeof schema>): RetentionBounds => ({
  defaults: { runDays: env.RUN_RETENTION_DAYS, logDays: env.LOG_RETENTION_DAYS, runsKept: env.RUNS_KEPT_PER_WORKER },
  maximums: {
    runDays: env.RUN_RETENTION_DAYS_MAX,
    logDays: env.LOG_RETENTION_DAYS_MAX,
    runsKept: env.RUNS_KEPT_PER_WORKER_MAX,
  },
});

export const DEFAULT_RETENTION: RetentionBounds = toRetentionBounds(schema.parse({}));

/** Applies defaults, and caps settings at the operator's current maximums. */
export function resolveRetention(settings: RetentionSettings, { defaults, maximums }: RetentionBounds): Retention {
  const resolve = (key: keyof Retention) => Math.min(settings[key] ?? defaults[key], maximums[key]);
  return { runDays: resolve('runDays'), logDays: resolve('logDays'), runsKept: resolve('runsKept') };
}

const UNSET: RetentionSettings = { runDays: null, logDays: null, runsKept: null };
const SETTINGS = 'run_days AS "runDays", log_days AS "logDays", runs_kept AS "runsKept"';

export async function loadRetention(sql: Sql, workspaceId: string): Promise<RetentionSettings> {
  const { rows } = await sql.query<RetentionSettings>(`SELECT ${SETTINGS} FROM run_retention WHERE workspace_id = $1`, [
    workspaceId,
  ]);
  return rows[0] ?? UNSET;
}

export interface ChangedRetention extends RetentionSettings {
  workspaceId: string;
  changedAt: Date;
}

/** Stores a change; the latest wins, in whatever order changes arrive. */
export async function writeRetention(sql: Sql, setting: ChangedRetention): Promise<void> {
  const { workspaceId, runDays, logDays, runsKept, changedAt } = setting;
  await sql.query(
    `INSERT INTO run_retention (workspace_id, run_days, log_days, runs_kept, changed_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id) DO UPDATE SET run_days = EXCLUDED.run_days, log_days = EXCLUDED.log_days,
       runs_kept = EXCLUDED.runs_kept, changed_at = EXCLUDED.changed_at
     WHERE run_retention.changed_at IS NULL OR run_retention.changed_at <= EXCLUDED.changed_at`,
    [workspaceId, runDays, logDays, runsKept, changedAt],
  );
}

/** Lists the changes of the last week: messages are never lost for longer. */
export async function listChangedRetention(sql: Sql): Promise<ChangedRetention[]> {
  const { rows } = await sql.query<ChangedRetention>(
    `SELECT workspace_id AS "workspaceId", ${SETTINGS}, changed_at AS "changedAt" FROM run_retention
     WHERE changed_at > now() - interval '7 days'`,
  );
  return rows;
}

export interface WorkspaceRetention extends Retention {
  workspaceId: string;
  eventsDeletedTo: Date | null;
}

/** Lists the retention of every workspace with runs: one index probe for each. */
export async function listRetention(sql: Sql, bounds: RetentionBounds): Promise<WorkspaceRetention[]> {
  const { rows } = await sql.query<RetentionSettings & Pick<WorkspaceRetention, 'workspaceId' | 'eventsDeletedTo'>>(
    `WITH RECURSIVE workspaces AS (
       (SELECT workspace_id FROM runs ORDER BY workspace_id LIMIT 1)
       UNION ALL
       SELECT (SELECT r.workspace_id FROM runs r WHERE r.workspace_id > w.workspace_id ORDER BY r.workspace_id LIMIT 1)
       FROM workspaces w WHERE w.workspace_id IS NOT NULL
     )
     SELECT w.workspace_id AS "workspaceId", ${SETTINGS}, events_deleted_to AS "eventsDeletedTo"
     FROM workspaces w LEFT JOIN run_retention USING (workspace_id) WHERE w.workspace_id IS NOT NULL`,
  );
  return rows.map(({ workspaceId, eventsDeletedTo, ...settings }) => ({
    workspaceId,
    eventsDeletedTo,
    ...resolveRetention(settings, bounds),
  }));
}
