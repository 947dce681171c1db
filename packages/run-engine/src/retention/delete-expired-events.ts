/**
 * Deletes log lines and other events by the week, once no workspace retains them. Events outside of weekly partitions,
 * and those of workspaces with a shorter retention, are deleted by run, from where the last sweep ended.
 */
import type { Sql } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { RunCursor } from '../run';
import { DAY_MS, type RetentionDeps, RUNS_PER_SWEEP } from './delete-expired-runs';
import { deleteEvents, RUN_BATCH } from './delete-runs';
import { createWeeks, dropWeeks, toWeekStartDate } from './event-partitions';
import { listRetention, type WorkspaceRetention } from './retention';

export async function deleteExpiredEvents({
  pool,
  bounds,
  now,
}: Pick<RetentionDeps, 'pool' | 'bounds' | 'now'>): Promise<void> {
  await createWeeks(pool, now());
  const retentions = await listRetention(pool, bounds);
  const daysAgo = (days: number) => new Date(now().getTime() - days * DAY_MS);
  const longest = Math.max(bounds.defaults.logDays, ...retentions.map(({ logDays }) => logDays));
  const dropBefore = toWeekStartDate(daysAgo(longest));
  for (const retention of retentions) {
    if (retention.logDays < longest)
      await deleteWorkspaceEvents(pool, retention, daysAgo(retention.logDays), 'run_events');
    else await deleteWorkspaceEvents(pool, retention, dropBefore, 'run_events_default');
  }
  await dropWeeks(pool, dropBefore);
}

/** Deletes events of the runs that a workspace created since the last sweep's end and before `before`. */
async function deleteWorkspaceEvents(
  pool: Pool,
  retention: WorkspaceRetention,
  before: Date,
  table: string,
): Promise<void> {
  const { workspaceId, eventsDeletedTo } = retention;
  let after: { createdAt: Date | '-infinity'; id: string } = { createdAt: eventsDeletedTo ?? '-infinity', id: '' };
  for (let processed = 0; processed < RUNS_PER_SWEEP; processed += RUN_BATCH) {
    const { rows } = await pool.query<RunCursor>(
      `SELECT created_at AS "createdAt", id FROM runs
       WHERE workspace_id = $1 AND created_at < $2 AND (created_at, id) > ($3, $4)
       ORDER BY created_at, id LIMIT ${RUN_BATCH}`,
      [workspaceId, before, after.createdAt, after.id],
    );
    const runIds = rows.map(({ id }) => id);
    await deleteEvents(pool, runIds, table);
    const last = rows.at(-1);
    const isComplete = !last || rows.length < RUN_BATCH;
    await markDeleted(pool, workspaceId, isComplete ? before : last.createdAt);
    if (isComplete) return;
    after = last;
  }
}

/** Skips a workspace that was purged meanwhile: the lock on one of its runs waits for the purge. */
async function markDeleted(sql: Sql, workspaceId: string, to: Date): Promise<void> {
  await sql.query(
    `INSERT INTO run_retention AS r (workspace_id, events_deleted_to)
     SELECT $1, $2 FROM (SELECT FROM runs WHERE workspace_id = $1 LIMIT 1 FOR KEY SHARE) run
     ON CONFLICT (workspace_id) DO UPDATE SET events_deleted_to = greatest(r.events_deleted_to, EXCLUDED.events_deleted_to)`,
    [workspaceId, to],
  );
}
