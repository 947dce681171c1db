/** Implements `context.call()`: a run starts another worker's run and waits for it without a process. */

import { AppError } from '@gantry/errors';
import type { RunError, Suspension } from '@gantry/events';
import type { Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { buildCallableWorkerSql, type StartableWorker } from '../workers/startable-worker';
import type { StartRunDeps } from './run-deps';
import { startRun } from './start-run';
import type { TokenBudgets } from './token-budget';

/** Limits nested calls: a cycle of workers ends here. */
const DEPTH_MAX = 16;

type RunCall = Extract<Suspension, { kind: 'call' }>;
/** Starts the run in the transaction that suspends the caller, so no run waits for one that does not exist. */
export async function startCalledRun(
  deps: StartRunDeps,
  tx: PoolClient,
  run: Run,
  { workerId, inputs }: RunCall,
): Promise<{ ref: string } | { refused: RunError }> {
  const buildRefusal = (message: string, code: RunError['code'] = 'exception') => ({
    refused: { code, type: 'CallRefused', message: `context.call(${JSON.stringify(workerId)}): ${message}` },
  });
  const { onlyWorkers } = run.spec;
  if (onlyWorkers?.includes(workerId) === false)
    return buildRefusal('the token that started this run does not allow that worker');
  if (run.depth + 1 > DEPTH_MAX) return buildRefusal(`runs can call other runs at most ${DEPTH_MAX} levels deep`);
  const { rows } = await tx.query<StartableWorker & { budgets: TokenBudgets | null }>(
    `SELECT w.*, (SELECT budgets FROM token_runs WHERE run_id = $4) AS budgets
     FROM (${buildCallableWorkerSql('$1', '$2', '$3')}) w`,
    [run.workspaceId, workerId, run.subjectId, run.id],
  );
  const [worker] = rows;
  if (!worker) return buildRefusal('there is no such worker in this workspace');
  try {
    const called = await startRun(deps, {
      worker,
      inputs,
      trigger: 'call',
      createdBy: run.createdBy,
      // The approver of the calling run has approved what it calls.
      restriction: {
        ...(worker.budgets && { budgets: worker.budgets }),
        ...(onlyWorkers && { workers: onlyWorkers }),
      },
      tx,
      parentRunId: run.id,
      depth: run.depth + 1,
      priority: run.priority,
      requestId: run.requestId ?? undefined,
      traceparent: run.traceparent ?? undefined,
    });
    return { ref: called.id };
  } catch (err) {
    if (!(err instanceof AppError)) throw err;
    if (err.code === 'invalid_inputs' || err.code === 'budget_exceeded') return buildRefusal(err.detail, err.code);
    return buildRefusal(err.detail);
  }
}
