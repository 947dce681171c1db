/**
 * Back to the queue, for runs whose code has not begun: their executor said so, or went away before it could report that it
 * begins. They keep their place in time. Each return counts, so that a run which no executor can begin ends one day.
 */
import type { Sql } from './run-row';

export const REQUEUES_MAX = 20;

/** The new started_at when an attempt turns out not to have begun: an earlier attempt may have. */
const STARTED_BEFORE = `CASE WHEN r.retries_used > 0 OR EXISTS (SELECT FROM run_steps s WHERE s.run_id = r.id)
  THEN r.started_at END`;

/**
 * @param which `returned`: their executor handed these attempts back; `expired`: their leases ran out before they began
 * @returns how many are queued now; others have moved on, or have been returned REQUEUES_MAX times
 */
export async function requeueRuns(
  sql: Sql,
  attempts: { runId: string; attempt: number; executorId: string | null }[],
  which: 'returned' | 'expired',
): Promise<number> {
  const { rowCount } = await sql.query({
    text: `UPDATE runs r SET status = 'queued', executor_id = NULL, lease_expires_at = NULL, confirmed = false,
             requeues = r.requeues + 1, started_at = ${STARTED_BEFORE}
           FROM unnest($1::text[], $2::int[], $3::text[]) AS b(run_id, attempt, executor_id)
           WHERE r.id = b.run_id AND r.attempt = b.attempt AND r.executor_id = b.executor_id AND r.status = 'running' AND r.requeues < ${REQUEUES_MAX}
             AND ${which === 'returned' ? 'true' : 'NOT r.confirmed AND r.lease_expires_at < now()'}`,
    values: [
      attempts.map(({ runId }) => runId),
      attempts.map(({ attempt }) => attempt),
      attempts.map(({ executorId }) => executorId),
    ],
  });
  return rowCount ?? 0;
}
