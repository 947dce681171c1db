/** Loads the newest runs of many subjects, with one index probe for each. */
import type { Sql } from '@gantry/postgres';
import type { RunSummary } from '../run';
import { DURATION_MS } from './subject-stats';

export interface RecentRun extends Pick<RunSummary, 'id' | 'status' | 'createdAt'> {
  /** Null until it has ended, and for runs that ended without having started. */
  durationMs: number | null;
}

/** Subjects imply the workspace, as in last-outcomes.ts. */
const RECENT_RUNS = `SELECT s.id AS subject, recent.id, recent.status, recent.created_at, recent.duration_ms
  FROM unnest($1::text[]) AS s (id)
  JOIN LATERAL (
    SELECT id, status, created_at, CASE WHEN finished_at IS NOT NULL AND started_at IS NOT NULL THEN ${DURATION_MS} END AS duration_ms
    FROM runs WHERE subject_id = s.id AND kind = 'run' ORDER BY created_at DESC, id DESC LIMIT $2
  ) AS recent ON true ORDER BY s.id, recent.created_at DESC, recent.id DESC`;

/** Returns runs by subject, newest first; subjects without runs are absent. */
export async function loadRecentRuns(
  sql: Sql,
  subjectIds: string[],
  { limit }: { limit: number },
): Promise<Map<string, RecentRun[]>> {
  const { rows } = await sql.query(RECENT_RUNS, [subjectIds, limit]);
  const bySubject = new Map<string, RecentRun[]>();
  for (const { subject, id, status, created_at: createdAt, duration_ms: durationMs } of rows) {
    const runs = bySubject.get(subject) ?? [];
    bySubject.set(subject, runs);
    runs.push({ id, status, createdAt, durationMs });
  }
  return bySubject;
}
