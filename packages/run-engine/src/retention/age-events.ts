/**
 * Deletes log lines and other events by the week, once no workspace retains them. Events outside of weekly partitions,
 * and those of workspaces with a shorter retention, are deleted by run, from where the last sweep ended.
 */
import type { Sql } from '@gantry/postgres';
import type { Pool } from 'pg';
import { deleteEvents, RUNS_AT_ONCE } from '../delete-runs';
import { type AgingDeps, DAY_MS, type Place, RUNS_PER_SWEEP } from './age-runs';
import { dropWeeks, makeWeeks, weekOf } from './event-partitions';
import { listRetention, type WorkspaceRetention } from './retention';

export async function ageEvents({ pool, bounds, now }: Pick<AgingDeps, 'pool' | 'bounds' | 'now'>): Promise<void> {
  await makeWeeks(pool, now());
  const retentions = await listRetention(pool, bounds);
  const before = (days: number) => new Date(now().getTime() - days * DAY_MS);
  const longest = Math.max(bounds.defaults.logDays, ...retentions.map(({ logDays }) => logDays));
  const dropped = weekOf(before(longest));
  for (const retention of retentions) {
    if (retention.logDays < longest) await ageEventsOf(pool, retention, before(retention.logDays), 'run_events');
    else await ageEventsOf(pool, retention, dropped, 'run_events_default');
  }
  await dropWeeks(pool, dropped);
}

/** Deletes events of the runs that a workspace created since the last sweep's end and before `before`. */
async function ageEventsOf(pool: Pool, retention: WorkspaceRetention, before: Date, table: string): Promise<void> {
  const { workspaceId, eventsDeletedTo } = retention;
  let after: { createdAt: Date | '-infinity'; id: string } = { createdAt: eventsDeletedTo ?? '-infinity', id: '' };
  for (let walked = 0; walked < RUNS_PER_SWEEP; walked += RUNS_AT_ONCE) {
    const { rows } = await pool.query<Place>(
      `SELECT created_at AS "createdAt", id FROM runs
       WHERE workspace_id = $1 AND created_at < $2 AND (created_at, id) > ($3, $4)
       ORDER BY created_at, id LIMIT ${RUNS_AT_ONCE}`,
      [workspaceId, before, after.createdAt, after.id],
    );
    const runIds = rows.map(({ id }) => id);
    await deleteEvents(pool, runIds, table);
    const last = rows.at(-1);
    const isWhole = !last || rows.length < RUNS_AT_ONCE;
    await markDeleted(pool, workspaceId, isWhole ? before : last.createdAt);
    if (isWhole) return;
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
