/** Loads the details of one run besides its row, each by the run's own key. */
import type { Sql } from '@gantry/postgres';
import type { Run } from '../run';
import { loadStepViews } from './step-views';

const POSITION_MAX = 1_000;

const COUNTS = `SELECT count(*) FILTER (WHERE type = 'log')::int AS logs, count(*) FILTER (WHERE type = 'request')::int AS requests
  FROM run_events WHERE run_id = $1 AND type IN ('log', 'request')`;

export async function loadRunDetails(sql: Sql, run: Run) {
  const { id } = run;
  const [counts, steps, ahead] = await Promise.all([
    sql.query(COUNTS, [id]),
    loadStepViews(sql, run),
    run.status === 'queued' ? countRunsAhead(sql, run) : null,
  ]);
  return {
    logsCount: counts.rows[0].logs as number,
    requestsCount: counts.rows[0].requests as number,
    steps,
    /** From 1; at most POSITION_MAX + 1. Null for a run that is not queued. */
    queuePosition: ahead && (ahead.rows[0].count as number) + 1,
  };
}

/**
 * Counts the runs that are handed out before this one: of its runner and slot, or without a slot, of its workspace.
 * Reads at most the first POSITION_MAX of that order.
 */
function countRunsAhead(sql: Sql, { id, workspaceId, slotKey, spec }: Run) {
  const queue = slotKey === null ? 'r.workspace_id = $2 AND r.slot_key IS NULL' : 'r.slot_key = $2';
  return sql.query(
    `SELECT count(*)::int FROM runs mine, (
       SELECT r.priority, r.available_at, r.id FROM runs r WHERE ${queue} AND r.status = 'queued' AND r.runner = $3
       ORDER BY r.priority DESC, r.available_at, r.id LIMIT ${POSITION_MAX}
     ) r
     WHERE mine.id = $1 AND (r.priority > mine.priority
       OR (r.priority = mine.priority AND (r.available_at, r.id) < (mine.available_at, mine.id)))`,
    [id, slotKey ?? workspaceId, spec.runner],
  );
}
