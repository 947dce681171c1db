/** Evaluations as they are stored and shown. */
import { toApiFields } from '@gantry/http';
import type { ExampleContent } from '../examples/example';
import type { EvaluationResult, Evaluation as EvaluationRow } from '../generated/prisma/client';
import type { Verdict } from '../rehearsals/check-outcome';

export type EvaluationStatus = 'running' | 'completed' | 'stopped' | 'failed';

/** Statuses of results that have been judged. */
export const VERDICT_STATUSES = ['passed', 'failed', 'error'] as const;
export type VerdictStatus = (typeof VERDICT_STATUSES)[number];

/** The total includes those that have not ended. */
export type Totals = Record<VerdictStatus | 'total', number>;

export interface Evaluation extends Omit<EvaluationRow, 'underWay' | 'savedVersion'> {
  status: EvaluationStatus;
  trigger: 'person' | 'save';
  totals: Totals;
  /** Cost of its runs and judges so far, in US dollars. */
  usd: number;
}

/**
 * `pending` has no run; `running` has one; that of `judging` has ended. The others are final; `stopped` ones were
 * neither run nor judged.
 */
export type ResultStatus = 'pending' | 'running' | 'judging' | VerdictStatus | 'stopped';

/** The example as it was when the evaluation began, and what came of it. */
export interface Result
  extends ExampleContent,
    Pick<EvaluationResult, 'evaluationId' | 'exampleId' | 'runId' | 'output' | 'error' | 'durationMs' | 'usd'> {
  status: ResultStatus;
  verdicts: Verdict[];
}

/** @param workerId the slug */
export function evaluationToApi(evaluation: Evaluation, workerId: string) {
  const { sha, createdAt, endedAt } = evaluation;
  return {
    ...toApiFields(evaluation, 'id', 'version', 'status', 'error', 'trigger', 'usd', 'totals'),
    ...toApiFields(evaluation, 'createdBy', 'createdAt', 'endedAt'),
    worker_id: workerId,
    version_sha: sha,
    duration_ms: endedAt && Math.max(0, endedAt.getTime() - createdAt.getTime()),
  };
}

export const statusToApi = (status: ResultStatus): Exclude<ResultStatus, 'judging'> =>
  status === 'judging' ? 'running' : status;

export const resultToApi = (result: Result) => ({
  ...toApiFields(result, 'exampleId', 'runId', 'output', 'error', 'durationMs', 'usd'),
  example_name: result.name,
  status: statusToApi(result.status),
  checks: result.verdicts,
});
