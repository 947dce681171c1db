/** Loads steps for display, including failed ones with their reasons. */
import { type FailedStep, type RunError, STEP_FAILED } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { isTerminal, type Run } from '../run';
import type { StepRow } from '../run-steps';
import { buildSmallJsonSql } from './small-json';

/** Results of steps up to this size, in bytes of JSON, are shown with the run. */
const RESULT_BYTES_MAX = 4_096;

export interface StepView extends StepRow {
  /** `pending`: the run is suspended for it, or waits for a tool's result. */
  status: Exclude<StepRow['status'], 'calling'>;
  error: { type: string | null; message: string } | null;
}

interface Row extends StepView {
  /** The failure that the code caught. */
  failure: { type: string; message: string } | null;
  /** The end of the called run. */
  called: { status: string; error: RunError | null } | null;
}

export async function loadStepViews(sql: Sql, run: Run): Promise<StepView[]> {
  const { rows } = await sql.query<Row>(
    `SELECT ordinal, kind, name, CASE status WHEN 'calling' THEN 'pending' ELSE status END AS status, ref, started_at AS "startedAt", finished_at AS "finishedAt",
       CASE WHEN ${buildSmallJsonSql('result', RESULT_BYTES_MAX)} THEN result END AS result,
       CASE WHEN json_typeof(result) = 'object' THEN result -> '${STEP_FAILED}' END AS failure,
       CASE WHEN kind = 'call' AND json_typeof(result) = 'object'
         THEN json_build_object('status', result -> 'status', 'error', result -> 'error') END AS called
     FROM run_steps WHERE run_id = $1 ORDER BY ordinal`,
    [run.id],
  );
  const steps = rows.map((row) => toStepView(row, run));
  const last = (run.error ?? (run.suspension?.kind === 'retry' ? run.suspension.error : null))?.step;
  return last && !steps.some(({ ordinal }) => ordinal === last.ordinal) ? [...steps, toFailedStepView(last)] : steps;
}

function toStepView({ failure, called, ...step }: Row, run: Run): StepView {
  const error = findStepError(step, { failure, called }, run);
  return error ? { ...step, status: 'failed', result: null, error } : { ...step, error: null };
}

function findStepError(
  { status }: Pick<Row, 'status'>,
  { failure, called }: Pick<Row, 'failure' | 'called'>,
  run: Run,
): StepView['error'] {
  if (failure) return { type: failure.type, message: failure.message };
  if (called && called.status !== 'completed') {
    return { type: null, message: called.error?.message ?? `the called run ended with status ${called.status}` };
  }
  // No longer pending: it was rejected, or cancelled with the run.
  return status === 'pending' && isTerminal(run.status) && run.error
    ? { type: null, message: run.error.message }
    : null;
}

/** Converts the step that failed the run, which is not recorded: a retry executes it again. */
const toFailedStepView = ({ ordinal, name, type, message, startedAt, finishedAt }: FailedStep): StepView => ({
  ordinal,
  kind: 'step',
  name,
  status: 'failed',
  result: null,
  error: { type, message },
  ref: null,
  startedAt: new Date(startedAt),
  finishedAt: new Date(finishedAt),
});
