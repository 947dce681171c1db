/** Queries runs. Every query begins with the workspace; another workspace's run is reported as missing. */
import { notFound } from '@gantry/errors';
import type { Sql } from '@gantry/postgres';
import type { Pool } from 'pg';
import { type Run, type RunCursor, type RunKind, type RunStatus, runStatuses, type TerminalStatus } from './run';
import { RUN_COLUMNS, toRun } from './run-row';

export interface RunFilter {
  subjectId?: string;
  status?: RunStatus[];
  kind?: RunKind;
  trigger?: string;
  parentRunId?: string;
  /** Created at this time or later. */
  since?: Date;
  /** Created before this time. */
  until?: Date;
  /** 1 to 200. */
  limit: number;
  /** Only runs older than this one. */
  before?: RunCursor;
}

export interface RunArtifact {
  id: string;
  name: string;
  contentType: string;
  size: number;
  sha256: string;
  key: string;
}

/** Limit of counts: one more stands for any larger number. */
export const COUNTED_MAX = 10_000;

/** Runs of a workspace that have not ended; each at most COUNTED_MAX + 1. */
export type RunCounts = Record<Exclude<RunStatus, TerminalStatus>, number>;

export async function getRun(sql: Sql, workspaceId: string, runId: string): Promise<Run> {
  const run = await findRun(sql, workspaceId, runId);
  if (!run) throw notFound('run', runId);
  return run;
}

/** Null: there is none, or it is not kept any more. */
export async function findRun(sql: Sql, workspaceId: string, runId: string): Promise<Run | null> {
  const { rows } = await sql.query({
    name: 'get-run',
    text: `SELECT ${RUN_COLUMNS} FROM runs r WHERE r.workspace_id = $1 AND r.id = $2`,
    values: [workspaceId, runId],
  });
  return rows[0] ? toRun(rows[0]) : null;
}

/**
 * Lists runs, newest first. Costs the same at any table size: an index walk of `limit` rows, no count, no offset.
 *
 * A status is a literal and not a parameter, and each one is a separate walk: only then can the planner use the indexes
 * on rare statuses.
 */
export async function listRuns(pool: Pool, workspaceId: string, filter: RunFilter): Promise<Run[]> {
  const values: unknown[] = [workspaceId];
  const where = ['r.workspace_id = $1'];
  const addCondition = (condition: (place: string) => string, value: unknown) => {
    if (value === undefined) return;
    values.push(value);
    where.push(condition(`$${values.length}`));
  };
  addCondition((p) => `r.subject_id = ${p}`, filter.subjectId);
  addCondition((p) => `r.kind = ${p}`, filter.kind);
  addCondition((p) => `r.trigger = ${p}`, filter.trigger);
  addCondition((p) => `r.parent_run_id = ${p}`, filter.parentRunId);
  addCondition((p) => `r.created_at >= ${p}`, filter.since);
  addCondition((p) => `r.created_at < ${p}`, filter.until);
  if (filter.before) {
    values.push(filter.before.createdAt, filter.before.id);
    where.push(`(r.created_at, r.id) < ($${values.length - 1}, $${values.length})`);
  }
  values.push(filter.limit);
  const newest = `ORDER BY r.created_at DESC, r.id DESC LIMIT $${values.length}`;
  const buildWalk = (extraCondition = '') =>
    `SELECT ${RUN_COLUMNS} FROM runs r WHERE ${where.join(' AND ')}${extraCondition} ${newest}`;
  const statuses = runStatuses.filter((status) => filter.status?.includes(status));
  if (filter.status && !statuses.length) return [];
  const walks = statuses.map((status) => `(${buildWalk(` AND r.status = '${status}'`)})`);
  const text = walks.length ? `SELECT r.* FROM (${walks.join(' UNION ALL ')}) r ${newest}` : buildWalk();
  const { rows } = await pool.query(text, values);
  return rows.map(toRun);
}

const CANCEL_BATCH = 200;

/** Lists a batch of a subject's active runs whose cancellation was not requested. */
export async function listCancellable(pool: Pool, workspaceId: string, subjectId: string): Promise<Run[]> {
  const { rows } = await pool.query(
    `SELECT ${RUN_COLUMNS} FROM runs r WHERE r.workspace_id = $1 AND r.subject_id = $2
       AND (r.status IN ('queued', 'suspended', 'pending_approval') OR r.status = 'running' AND r.cancel_requested_at IS NULL)
     LIMIT ${CANCEL_BATCH}`,
    [workspaceId, subjectId],
  );
  return rows.map(toRun);
}

/** Loads the newest run (not test) of each subject, by subject: one index probe for each. */
export async function loadLastRuns(pool: Pool, workspaceId: string, subjectIds: string[]): Promise<Map<string, Run>> {
  const { rows } = await pool.query(
    `SELECT ${RUN_COLUMNS} FROM unnest($2::text[]) AS s(id) CROSS JOIN LATERAL (
       SELECT * FROM runs WHERE subject_id = s.id AND workspace_id = $1 AND kind = 'run' ORDER BY created_at DESC, id DESC LIMIT 1
     ) r`,
    [workspaceId, subjectIds],
  );
  return new Map(rows.map((row) => [row.subject_id, toRun(row)]));
}

/** Counts active runs, up to a bound, at a cost that does not depend on the table's size. */
export async function countRuns(pool: Pool, workspaceId: string): Promise<RunCounts> {
  const count = (status: keyof RunCounts) =>
    `(SELECT count(*)::int FROM (
       SELECT FROM runs WHERE workspace_id = $1 AND status = '${status}' LIMIT ${COUNTED_MAX + 1}
     ) AS bounded) AS ${status}`;
  const { rows } = await pool.query(
    `SELECT ${(['queued', 'running', 'suspended', 'pending_approval'] as const).map(count).join(', ')}`,
    [workspaceId],
  );
  return rows[0];
}

/** Counts runs created since then by status, among the newest COUNTED_MAX + 1 of a workspace. */
export async function countRecentRuns(pool: Pool, workspaceId: string, since: Date): Promise<Map<RunStatus, number>> {
  const { rows } = await pool.query<{ status: RunStatus; count: number }>(
    `SELECT status, count(*)::int AS count FROM (
       SELECT status FROM runs WHERE workspace_id = $1 AND created_at >= $2 AND kind = 'run'
       ORDER BY created_at DESC, id DESC LIMIT ${COUNTED_MAX + 1}
     ) AS recent GROUP BY status`,
    [workspaceId, since],
  );
  return new Map(rows.map(({ status, count }) => [status, count]));
}

const ARTIFACT = 'id, name, content_type AS "contentType", size::float8 AS size, sha256, key';

/** Keys are created in leases.ts, and returned by a possibly hostile executor. */
const ATTEMPT = "coalesce(substring(key FROM '/(\\d{1,9})/[^/]*$')::int, 0)";

/** Lists artifacts in the order of saving. Code that runs again replaces artifacts of the same name. */
export async function listArtifacts(pool: Pool, runId: string): Promise<RunArtifact[]> {
  const { rows } = await pool.query(
    `SELECT ${ARTIFACT} FROM (
       SELECT *, ${ATTEMPT} AS attempt, max(${ATTEMPT}) OVER (PARTITION BY name) AS last FROM run_artifacts WHERE run_id = $1
     ) saved WHERE attempt = last ORDER BY created_at, id`,
    [runId],
  );
  return rows;
}

/** Also finds a replaced artifact: a recorded step may name it. */
export async function findArtifact(pool: Pool, runId: string, id: string): Promise<RunArtifact | null> {
  const { rows } = await pool.query(`SELECT ${ARTIFACT} FROM run_artifacts WHERE run_id = $1 AND id = $2`, [runId, id]);
  return rows[0] ?? null;
}
