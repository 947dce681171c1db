/**
 * Requeues runs whose code has not started: their executor returned them, or disappeared before reporting their start.
 * They keep their queue position. Requeues are counted, so that a run which no executor can start finally ends.
 */
import type { Sql } from '@gantry/postgres';

export const REQUEUES_MAX = 20;

/** Sets started_at if the attempt did not start: an earlier attempt may have. */
const STARTED_BEFORE = `CASE WHEN r.retries_used > 0 OR EXISTS (SELECT FROM run_steps s WHERE s.run_id = r.id)
  THEN r.started_at END`;

/**
 * @param reason `returned`: their executor returned these attempts; `expired`: their leases expired before they started
 * @returns the number of requeued runs; others have changed, or have been requeued REQUEUES_MAX times
 */
export async function requeueRuns(
  sql: Sql,
  attempts: { runId: string; attempt: number; executorId: string | null }[],
  reason: 'returned' | 'expired',
): Promise<number> {
  const { rowCount } = await sql.query({
    text: `UPDATE runs r SET status = 'queued', executor_id = NULL, lease_expires_at = NULL, confirmed = false,
             requeues = r.requeues + 1, started_at = ${STARTED_BEFORE}
           FROM unnest($1::text[], $2::int[], $3::text[]) AS b(run_id, attempt, executor_id)
           WHERE r.id = b.run_id AND r.attempt = b.attempt AND r.executor_id = b.executor_id AND r.status = 'running' AND r.requeues < ${REQUEUES_MAX}
             AND ${reason === 'returned' ? 'true' : 'NOT r.confirmed AND r.lease_expires_at < now()'}`,
    values: [
      attempts.map(({ runId }) => runId),
      attempts.map(({ attempt }) => attempt),
      attempts.map(({ executorId }) => executorId),
    ],
  });
  return rowCount ?? 0;
}
