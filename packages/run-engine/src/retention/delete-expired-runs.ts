/**
 * Deletes expired runs with their objects, a batch at a time.
 *
 * A run expires when it ended before the workspace's retention, unless it is one of the newest of its subject. Each
 * workspace's runs are walked from the oldest on, along the index of its lists. Every replica may do it at any time.
 */
import type { ObjectStore } from '@gantry/object-store';
import type { Sql } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { RunCursor } from '../run';
import { type DeleteRunRows, deleteEndedRuns, RUN_BATCH } from './delete-runs';
import { listRetention, type RetentionBounds, type WorkspaceRetention } from './retention';

export const DAY_MS = 86_400_000;

/** Limit per workspace, so that an hourly sweep ends: seven times the runs of an hour at ten per second. */
export const RUNS_PER_SWEEP = 250_000;

export interface RetentionDeps {
  pool: Pool;
  objects: ObjectStore;
  bounds: RetentionBounds;
  now: () => Date;
  deleteWithRuns?: DeleteRunRows;
}

/** @returns the number of deleted runs */
export async function deleteExpiredRuns(deps: RetentionDeps): Promise<number> {
  let deleted = 0;
  for (const retention of await listRetention(deps.pool, deps.bounds))
    deleted += await deleteWorkspaceRuns(deps, retention);
  return deleted;
}

async function deleteWorkspaceRuns(deps: RetentionDeps, retention: WorkspaceRetention): Promise<number> {
  const before = new Date(deps.now().getTime() - retention.runDays * DAY_MS);
  let deleted = 0;
  let after: RunCursor | undefined;
  while (deleted < RUNS_PER_SWEEP) {
    const page: (RunCursor & { over: boolean })[] = await loadPage(deps.pool, retention, before, after);
    const expiredIds = page.filter((run) => run.over).map(({ id }) => id);
    deleted += await deleteEndedRuns(deps, retention.workspaceId, expiredIds);
    if (page.length < RUN_BATCH) break;
    after = page.at(-1);
  }
  return deleted;
}

/**
 * `first_over` of a subject with more than `runsKept` runs is the newest that is not kept. Test runs are never kept.
 */
const PAGE = `
  WITH page AS MATERIALIZED (
    SELECT id, subject_id, kind, status, created_at, finished_at FROM runs
    WHERE workspace_id = $1 AND created_at < $2 AND (created_at, id) > ($3, $4)
    ORDER BY created_at, id LIMIT ${RUN_BATCH}
  ), first_over AS MATERIALIZED (
    SELECT s.subject_id, r.created_at, r.id FROM (SELECT DISTINCT subject_id FROM page) s CROSS JOIN LATERAL (
      SELECT created_at, id FROM runs WHERE subject_id = s.subject_id AND kind = 'run'
      ORDER BY created_at DESC, id DESC OFFSET $5 LIMIT 1
    ) r
  )
  SELECT p.created_at AS "createdAt", p.id, coalesce(p.finished_at < $2
    AND (p.kind <> 'run' OR (p.created_at, p.id) <= (f.created_at, f.id)), false) AS over
  FROM page p LEFT JOIN first_over f USING (subject_id) ORDER BY p.created_at, p.id`;

async function loadPage(sql: Sql, { workspaceId, runsKept }: WorkspaceRetention, before: Date, after?: RunCursor) {
  const from = [after?.createdAt ?? '-infinity', after?.id ?? ''];
  const { rows } = await sql.query<RunCursor & { over: boolean }>(PAGE, [workspaceId, before, ...from, runsKept]);
  return rows;
}
