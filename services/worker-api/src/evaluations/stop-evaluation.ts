import type { Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../audit/audit-entry';
import { cancelRehearsals } from '../rehearsals/rehearse';
import { getVisibleWorker } from '../workers/worker-repository';
import type { Evaluation } from './evaluation';
import type { EvaluationDeps } from './evaluation-deps';
import { endEvaluation, getEvaluation, lockRunningEvaluation } from './evaluation-repository';

/** Nothing happens where it has ended. Its runs are told to stop after the commit. @throws AppError 404 */
export async function stopEvaluation(
  deps: EvaluationDeps,
  { caller, actor }: Pick<Requester, 'caller' | 'actor'>,
  workerId: string,
  evaluationId: string,
): Promise<Evaluation> {
  const worker = await getVisibleWorker(deps.prisma, caller, workerId);
  await getEvaluation(deps.pool, worker, evaluationId);
  const { workspaceId } = worker;
  const runIds = await transaction(deps.pool, async (tx) => {
    const held = await lockRunningEvaluation(tx, evaluationId, { wait: true });
    if (!held) return [];
    await recordChange(tx, actor, 'evaluation.stopped', { workspaceId, id: evaluationId }, { worker_id: worker.id });
    return endEvaluation(tx, held, { status: 'stopped' });
  });
  await cancelRehearsals(deps, workspaceId, runIds);
  return getEvaluation(deps.pool, worker, evaluationId);
}
