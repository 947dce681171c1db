/**
 * Starts without a waiting caller. One that can't begin for a reason of its worker is kept as a failed run, where
 * people and alerts see it.
 */

import { AppError, isDependencyDown } from '@gantry/errors';
import type { RunError } from '@gantry/events';
import type { Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { type StartRunRequest, startRun } from '../runs/start-run';
import type { TriggerStartDeps } from './trigger-start-deps';

export type UnattendedStart = Pick<StartRunRequest, 'worker' | 'inputs' | 'depth'> &
  ({ trigger: 'schedule'; scheduledFor: Date } | { trigger: 'event' });

/**
 * Inside the caller's transaction. What fails for another reason takes back what it did, and is thrown.
 * @returns null where the fire time has its run already
 */
export async function startUnattendedRun(
  deps: TriggerStartDeps,
  tx: PoolClient,
  unattended: UnattendedStart,
): Promise<'started' | 'refused' | null> {
  const start: StartRunRequest = { ...unattended, createdBy: null, tx };
  const rollBack = () => tx.query('ROLLBACK TO SAVEPOINT start');

  async function attemptStart() {
    try {
      return (await startRun(deps, start)) && 'started';
    } catch (err) {
      if (!(err instanceof AppError) || isUnavailableError(err)) throw err;
      await rollBack();
      return (await insertRefusedRun(deps, tx, unattended, err)) && 'refused';
    }
  }

  await tx.query('SAVEPOINT start');
  try {
    const outcome = await attemptStart();
    await tx.query('RELEASE SAVEPOINT start');
    return outcome;
  } catch (err) {
    if (!isUnavailableError(err)) await rollBack();
    throw err;
  }
}

/** True for an error after which the whole transaction is tried again later. */
export const isUnavailableError = (err: unknown): boolean =>
  isDependencyDown(err) || (err instanceof AppError && err.kind === 'unavailable');

async function insertRefusedRun(
  { engine, runnables }: TriggerStartDeps,
  tx: PoolClient,
  { worker, ...start }: UnattendedStart,
  reason: AppError,
): Promise<Run | null> {
  const { spec } = await runnables.get(tx, worker.uid, worker.currentVersion);
  const run = await engine.submitInTransaction(tx, {
    ...start,
    workspaceId: worker.workspaceId,
    subjectId: worker.uid,
    subjectRef: worker.id,
    kind: 'run',
    version: worker.currentVersion,
    spec,
    createdBy: null,
    held: true,
  });
  return run && engine.endInTransaction(tx, run, { status: 'failed', error: toRunError(reason) });
}

function toRunError({ code, detail: message }: AppError): RunError {
  if (code === 'invalid_inputs' || code === 'budget_exceeded') return { code, message };
  return { code: 'exception', type: 'NotStarted', message };
}
