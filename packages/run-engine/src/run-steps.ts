/** Stores the recorded steps of runs. A step is identified by its run and ordinal; its first record wins. */
import type { RecordedStep } from '@gantry/events';
import type { Sql } from '@gantry/postgres';

/** Its result is null while pending or calling. */
export interface StepRow extends RecordedStep {
  /** `pending`: the run is suspended for it. `calling`, and `failed` by an attempt: only tools, see tool-steps.ts. */
  status: 'pending' | 'completed' | 'calling' | 'failed';
  /** The called run, the approval. */
  ref: string | null;
  startedAt: Date;
  finishedAt: Date | null;
}

/** Lists steps in the order of first request; there are at most STEPS_MAX. */
export async function listSteps(sql: Sql, runId: string): Promise<StepRow[]> {
  const { rows } = await sql.query({
    name: 'list-run-steps',
    text: `SELECT ordinal, kind, name, status, result, ref, started_at AS "startedAt", finished_at AS "finishedAt"
           FROM run_steps WHERE run_id = $1 ORDER BY ordinal`,
    values: [runId],
  });
  return rows;
}

/** A condition on `run_steps s`. If another step follows a failure, the code had caught it. */
export const FINAL_STEP_CONDITION = `(s.status = 'completed' OR s.status = 'failed'
  AND EXISTS (SELECT FROM run_steps n WHERE n.run_id = s.run_id AND n.ordinal > s.ordinal))`;

/** Loads the steps that the next attempt replays. */
export async function loadRecordedSteps(sql: Sql, runId: string): Promise<RecordedStep[]> {
  const { rows } = await sql.query({
    name: 'list-recorded-steps',
    text: `SELECT ordinal, kind, name, result FROM run_steps s WHERE run_id = $1 AND ${FINAL_STEP_CONDITION} ORDER BY ordinal`,
    values: [runId],
  });
  return rows;
}

export interface CompletedStep {
  runId: string;
  durationMs: number;
}

/** Completes pending steps; a run waits for one at a time. @returns the steps that were pending */
export async function completeSteps(
  sql: Sql,
  steps: { runId: string; ordinal: number; result: unknown }[],
): Promise<CompletedStep[]> {
  const { rows } = await sql.query({
    text: `UPDATE run_steps s SET status = 'completed', result = d.result::json, finished_at = now()
           FROM unnest($1::text[], $2::int[], $3::text[]) AS d(run_id, ordinal, result)
           WHERE s.run_id = d.run_id AND s.ordinal = d.ordinal AND s.status = 'pending'
           RETURNING s.run_id AS "runId",
             greatest(0, round(extract(epoch FROM s.finished_at - s.started_at) * 1000))::float8 AS "durationMs"`,
    values: [
      steps.map((s) => s.runId),
      steps.map((s) => s.ordinal),
      steps.map((s) => JSON.stringify(s.result ?? null)),
    ],
  });
  return rows;
}
