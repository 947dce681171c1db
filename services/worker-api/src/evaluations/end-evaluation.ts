import { enqueue, evaluationFailed } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import type { PoolClient } from 'pg';
import { findWorkerHead } from '../workers/worker-queries';
import type { Evaluation } from './evaluation';
import { type Ending, endEvaluation } from './evaluation-repository';

/** The end, and where not every example has passed its announcement. @returns runs that may go on */
export async function endEvaluationWithEvent(
  tx: PoolClient,
  evaluation: Pick<Evaluation, 'id' | 'workspaceId'>,
  ending: Ending,
): Promise<string[]> {
  const runIds = await endEvaluation(tx, evaluation, ending);
  const failure = ending.status === 'stopped' ? undefined : await findFailure(tx, evaluation);
  if (failure) await enqueue(tx, evaluationFailed, evaluation.workspaceId, failure);
  return runIds;
}

interface Failure {
  workerUid: string;
  workerId: string;
  evaluationId: string;
  version: number;
  sha: string;
  passed: number;
  failed: number;
  errors: number;
  total: number;
  error: string | null;
}

/** Sends no alert about a worker that was deleted. */
async function findFailure(
  tx: Sql,
  { id, workspaceId }: Pick<Evaluation, 'id' | 'workspaceId'>,
): Promise<Failure | undefined> {
  const { rows } = await tx.query<Omit<Failure, 'workerId'>>(
    `SELECT e.worker_uid AS "workerUid", e.id AS "evaluationId", e.version, e.sha, e.error,
       count(*) FILTER (WHERE r.status = 'passed')::int AS passed, count(*) FILTER (WHERE r.status = 'failed')::int AS failed,
       count(*) FILTER (WHERE r.status = 'error')::int AS errors, count(*)::int AS total
     FROM evaluations e JOIN evaluation_results r ON r.evaluation_id = e.id
     WHERE e.id = $1 GROUP BY e.id
     HAVING e.status = 'failed' OR bool_or(r.status <> 'passed')`,
    [id],
  );
  const [failure] = rows;
  const worker = failure && (await findWorkerHead(tx, workspaceId, { uid: failure.workerUid }));
  return worker && !worker.isDeleted ? { ...failure, workerId: worker.id } : undefined;
}
