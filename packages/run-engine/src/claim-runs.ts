/**
 * Hands queued runs out, fairly between workspaces.
 *
 * Within a workspace: higher priority first, then oldest. Between workspaces: the one with the fewest runs under way goes
 * first, so that a workspace with thousands of queued runs delays another's next run by no more than its share.
 * The recursive part steps from workspace to workspace through the partial index, so the cost grows with the number of
 * workspaces that have something queued, not with the number of queued runs.
 */
import type { Run } from './run';
import { RUN_COLUMNS, type Sql, toRun } from './run-row';

const CLAIM = `
  WITH RECURSIVE waiting(workspace_id) AS (
    (SELECT workspace_id FROM runs WHERE status = 'queued' ORDER BY workspace_id LIMIT 1)
    UNION ALL
    SELECT (SELECT r.workspace_id FROM runs r WHERE r.status = 'queued' AND r.workspace_id > w.workspace_id
            ORDER BY r.workspace_id LIMIT 1)
    FROM waiting w WHERE w.workspace_id IS NOT NULL
  ), heads AS (
    SELECT h.id, h.available_at,
           row_number() OVER (PARTITION BY w.workspace_id ORDER BY h.priority DESC, h.available_at, h.id)
             + (SELECT count(*) FROM runs b WHERE b.status = 'running' AND b.workspace_id = w.workspace_id) AS turn
    FROM waiting w CROSS JOIN LATERAL (
      SELECT id, priority, available_at FROM runs
      WHERE status = 'queued' AND workspace_id = w.workspace_id AND available_at <= now()
      ORDER BY priority DESC, available_at, id LIMIT $1 * 2
    ) h
  ), picked AS (
    SELECT r.id FROM runs r JOIN (SELECT id, turn, available_at FROM heads ORDER BY turn, available_at LIMIT $1 * 4) h USING (id)
    WHERE r.status = 'queued' ORDER BY h.turn, h.available_at LIMIT $1 FOR UPDATE OF r SKIP LOCKED
  ), numbered AS (
    SELECT id, (row_number() OVER ())::int AS place FROM picked
  )
  UPDATE runs r SET status = 'running', attempt = r.attempt + 1, confirmed = false, started_at = now(),
    executor_id = ($2::text[])[n.place], lease_expires_at = now() + make_interval(secs => $3)
  FROM numbered n WHERE r.id = n.id
  RETURNING ${RUN_COLUMNS}, n.place`;

/**
 * @param executorIds who takes a run, one for each run wanted
 * @returns runs with the index into executorIds; fewer than asked when less is queued
 */
export async function claimRuns(
  sql: Sql,
  executorIds: string[],
  leaseMs: number,
): Promise<{ run: Run; index: number }[]> {
  const { rows } = await sql.query({
    name: 'claim-runs',
    text: CLAIM,
    values: [executorIds.length, executorIds, leaseMs / 1000],
  });
  return rows.map((row) => ({ run: toRun(row), index: row.place - 1 }));
}
