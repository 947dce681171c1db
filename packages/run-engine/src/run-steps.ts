/** What a run has done for good. A step is known by its run and its place; its first record stands. */
import type { RecordedStep, StepKind } from '@gantry/events';
import type { Sql } from './run-row';

export interface StepRow {
  ordinal: number;
  kind: StepKind;
  name: string;
  /** `pending`: the run is suspended for it. */
  status: 'pending' | 'completed';
  /** Null while pending. */
  result: unknown;
  /** The called run, the approval. */
  ref: string | null;
  startedAt: Date;
  finishedAt: Date | null;
}

/** In the order in which the code first asked for them; there are at most STEPS_MAX. */
export async function listSteps(sql: Sql, runId: string): Promise<StepRow[]> {
  const { rows } = await sql.query({
    name: 'list-run-steps',
    text: `SELECT ordinal, kind, name, status, result, ref, started_at AS "startedAt", finished_at AS "finishedAt"
           FROM run_steps WHERE run_id = $1 ORDER BY ordinal`,
    values: [runId],
  });
  return rows;
}

/** What the next attempt answers from the record. */
export async function recordedSteps(sql: Sql, runId: string): Promise<RecordedStep[]> {
  const steps = await listSteps(sql, runId);
  return steps.flatMap(({ status, ordinal, kind, name, result }) =>
    status === 'completed' ? [{ ordinal, kind, name, result }] : [],
  );
}

/** @returns false where it is completed already, or was never begun */
export async function completeStep(sql: Sql, runId: string, ordinal: number, result: unknown): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `UPDATE run_steps SET status = 'completed', result = $3, finished_at = now()
           WHERE run_id = $1 AND ordinal = $2 AND status = 'pending'`,
    values: [runId, ordinal, JSON.stringify(result ?? null)],
  });
  return Boolean(rowCount);
}
