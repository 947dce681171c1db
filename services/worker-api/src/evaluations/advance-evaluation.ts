import { isDeepStrictEqual } from 'node:util';
import { AppError, isDependencyDown } from '@gantry/errors';
import { transaction } from '@gantry/postgres';
import { findRun } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { startRehearsal } from '../rehearsals/rehearse';
import { findWorkerByUid, type WorkerWithTriggers } from '../workers/worker-repository';
import { type AutomaticEnd, endEvaluationWithEvent } from './end-evaluation';
import type { Result } from './evaluation';
import type { EvaluationDeps } from './evaluation-deps';
import { type LockedEvaluation, lockRunningEvaluation } from './evaluation-repository';
import { countRunningResults, listPendingResults, startResult } from './result-repository';

/** Examples of one evaluation that are run or judged at once. */
export const CONCURRENCY_MAX = 4;

/**
 * Runs as many of its examples as may be under way, and ends it after the last. Nothing happens where it has ended, or
 * another replica does it. @throws what keeps it from being done now, and nothing that an example is the reason of
 */
export async function advanceEvaluation(deps: EvaluationDeps, id: string): Promise<void> {
  await transaction(deps.pool, async (tx) => {
    const evaluation = await lockRunningEvaluation(tx, id, { wait: false });
    if (!evaluation) return;
    const worker = await findWorkerByUid(deps.prisma, evaluation.workspaceId, evaluation.workerUid);
    const underWay = await countRunningResults(tx, id);
    if (!worker || worker.status === 'archived') {
      // Runs of a worker that was deleted are cancelled with it.
      if (underWay === 0) await endEvaluationWithEvent(tx, evaluation, buildWorkerGoneEnd(worker));
      return;
    }
    let started = 0;
    // An example that could not be started leaves its place to the next.
    while (underWay + started < CONCURRENCY_MAX) {
      const pending = await listPendingResults(tx, id, CONCURRENCY_MAX - underWay - started);
      if (!pending.length) break;
      for (const result of pending) if (await startResultRun(deps, tx, { evaluation, worker, result })) started++;
    }
    if (underWay + started === 0) await endEvaluationWithEvent(tx, evaluation, { status: 'completed' });
  });
}

const buildWorkerGoneEnd = (worker: WorkerWithTriggers | null): AutomaticEnd => ({
  status: 'failed',
  error: `the worker was ${worker ? 'archived' : 'deleted'} in the meantime`,
});

/** @returns whether it has a run now */
async function startResultRun(
  deps: EvaluationDeps,
  tx: PoolClient,
  { evaluation, worker, result }: { evaluation: LockedEvaluation; worker: WorkerWithTriggers; result: Result },
): Promise<boolean> {
  const { version, createdBy } = evaluation;
  const { inputs, ofRunId } = result;
  const of = ofRunId === null ? null : await findRun(tx, worker.workspaceId, ofRunId);
  if (ofRunId !== null && !of) {
    await startResult(tx, result, { error: `run ${ofRunId}, whose records are needed, no longer exists` });
    return false;
  }
  // Those of the run itself are not checked as if a person had written them.
  const checkedInputs = of && isDeepStrictEqual(of.inputs, inputs) ? of.inputs : inputs;
  const started = await startRehearsal(deps, tx, { worker, version, inputs: checkedInputs, of, createdBy });
  if (!(started instanceof AppError)) {
    await startResult(tx, result, { runId: started.id });
    return true;
  }
  if (started.kind === 'unavailable' || isDependencyDown(started)) throw started;
  await startResult(tx, result, { error: started.detail });
  return false;
}
