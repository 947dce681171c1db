import { enqueue, evaluationFailed } from '@gantry/events';
import type { PoolClient } from 'pg';
import { findWorkerSummary } from '../workers/worker-queries';
import type { Evaluation } from './evaluation';
import { type EvaluationEnd, endEvaluation, getEvaluation } from './evaluation-repository';

/** An end without a person: the one who stops an evaluation needs no event. */
export type AutomaticEnd = EvaluationEnd & { status: 'completed' | 'failed' };

/** Ends it, and announces where not every example has passed; not for a deleted worker. */
export async function endEvaluationWithEvent(
  tx: PoolClient,
  { id, workspaceId, workerUid }: Pick<Evaluation, 'id' | 'workspaceId' | 'workerUid'>,
  ending: AutomaticEnd,
): Promise<void> {
  await endEvaluation(tx, { id, workspaceId }, ending);
  const { version, sha, status, error, totals } = await getEvaluation(tx, { workspaceId, uid: workerUid }, id);
  const { passed, failed, error: errors, total } = totals;
  if (status !== 'failed' && passed === total) return;
  const worker = await findWorkerSummary(tx, workspaceId, { uid: workerUid });
  if (!worker || worker.isDeleted) return;
  const counts = { passed, failed, errors, total };
  const about = { workerUid, workerId: worker.id, evaluationId: id, version, sha };
  await enqueue(tx, evaluationFailed, workspaceId, { ...about, ...counts, error });
}
