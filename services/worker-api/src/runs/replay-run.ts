/** A run again: by default with its own inputs and the code of today. */
import { conflict } from '@gantry/errors';
import { isTerminal, REHEARSAL, type Run } from '@gantry/run-engine';
import type { Worker } from '../generated/prisma/client';
import type { RequestOrigin } from './requested-run';
import type { StartRunDeps } from './run-deps';
import { type StartRunRequest, startRun } from './start-run';

export interface ReplayRequest {
  /** `same`: the version that the run had. Default: the current one. */
  version?: 'current' | 'same';
  /** Instead of the run's own; checked like those of a request. */
  inputs?: Record<string, unknown> | undefined;
  origin: RequestOrigin & Pick<StartRunRequest, 'idempotencyKey' | 'waitMs' | 'tx'>;
}

/** @throws AppError 409 before it has ended; what startRun throws */
export async function replayRun(deps: StartRunDeps, worker: Worker, run: Run, replay: ReplayRequest): Promise<Run> {
  const { version, inputs, origin } = replay;
  if (run.trigger === REHEARSAL) {
    throw conflict('test_run', "this run was a rehearsal, which can't be replayed; replay the original run");
  }
  if (run.kind === 'test') {
    throw conflict(
      'test_run',
      'this run tested code that is not in any version; test the code again, or save it and run the new version',
    );
  }
  if (!isTerminal(run.status)) throw conflict('not_ended', `this run has not ended yet: its status is ${run.status}`);
  return startRun(deps, {
    worker,
    ...(version === 'same' && run.version !== null && { version: run.version }),
    inputs: inputs ?? run.inputs,
    trigger: 'replay',
    parentRunId: run.id,
    replayOf: run,
    priority: run.priority,
    ...origin,
  });
}
