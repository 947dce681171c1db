/** A run that nobody waits for and that can't begin is kept as a failed one, where people and alerts see it. */
import type { RunError } from '@gantry/events';
import type { AppError } from '@gantry/http';
import type { Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import type { Deps } from '../deps';
import type { Start } from '../runs/start-run';

type RefusedStart = Pick<Start, 'worker' | 'inputs' | 'trigger' | 'scheduledFor' | 'depth'>;

/**
 * Inside the caller's transaction.
 * @returns null where the fire time has its run already
 */
export async function insertRefusedRun(
  { engine, runnables }: Deps,
  tx: PoolClient,
  { worker, inputs, trigger, scheduledFor, depth }: RefusedStart,
  reason: AppError,
): Promise<Run | null> {
  const { spec } = await runnables.get(tx, worker.uid, worker.currentVersion);
  const run = await engine.submitIn(tx, {
    workspaceId: worker.workspaceId,
    subjectId: worker.uid,
    subjectRef: worker.id,
    kind: 'run',
    trigger,
    version: worker.currentVersion,
    inputs,
    spec,
    createdBy: null,
    held: true,
    ...(scheduledFor && { scheduledFor }),
    ...(depth && { depth }),
  });
  return run && engine.endIn(tx, run, { status: 'failed', error: errorOf(reason) });
}

function errorOf({ code, detail: message }: AppError): RunError {
  if (code === 'invalid_inputs' || code === 'budget_exceeded') return { code, message };
  return { code: 'exception', type: 'NotStarted', message };
}
