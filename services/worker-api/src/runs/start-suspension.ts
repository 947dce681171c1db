import type { RunError } from '@gantry/events';
import type { RequestedSuspension, Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { suspendForApproval } from '../approvals/request-approval';
import { startCalledRun } from './called-run';
import type { StartRunDeps } from './run-deps';

/** Creates what a suspended run waits for, an approval or a called run, in the transaction that suspends it. */
export function startSuspension(
  deps: StartRunDeps,
  tx: PoolClient,
  run: Run,
  suspension: RequestedSuspension,
): Promise<{ ref: string } | { refused: RunError }> {
  return suspension.kind === 'approve'
    ? suspendForApproval(deps, tx, run, suspension)
    : startCalledRun(deps, tx, run, suspension);
}
