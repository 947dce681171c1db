/** Cancels runs on request. */

import { conflict } from '@gantry/errors';
import type { RunSource } from '@gantry/events';
import { execute, type Tx } from '@gantry/postgres';
import type { Pool } from 'pg';
import { isTerminal, type Run } from '../run';
import { getRun, listCancellable } from '../run-queries';
import { cancelRun, type RunInTransaction } from './end-run';
import type { RunExitHandler } from './run-exit-handler';

/**
 * Withholds a subject's runs in the transaction that deletes it: none is handed out after the commit, however long it
 * takes to end them one by one. Runs that are being handed out or ended at this moment are skipped.
 */
export async function requestCancelOfIdleRuns(tx: Tx, workspaceId: string, subjectId: string): Promise<void> {
  await execute(
    tx,
    `UPDATE runs SET cancel_requested_at = now() WHERE id = ANY(ARRAY(
       SELECT id FROM runs WHERE workspace_id = $1 AND subject_id = $2 AND cancel_requested_at IS NULL
         AND status IN ('queued', 'suspended', 'pending_approval') FOR UPDATE SKIP LOCKED))`,
    [workspaceId, subjectId],
  );
}

export function createRunCanceller(pool: Pool, source: RunSource, { handleTreeExit }: RunExitHandler) {
  /** Returns null if the run has ended. */
  async function cancelRunTree(run: Run, runInTransaction?: RunInTransaction): Promise<Run | null> {
    const endedTree = isTerminal(run.status) ? null : await cancelRun(pool, source, run.id, runInTransaction);
    if (endedTree) handleTreeExit(endedTree);
    return endedTree?.run ?? null;
  }

  return {
    /**
     * Ends a queued, suspended or pending_approval run and its called runs at once; asks a running one to stop.
     * @param runInTransaction commits with the first request; later ones skip it
     * @throws AppError 404, 409 when it has ended
     */
    async cancel(workspaceId: string, runId: string, runInTransaction?: RunInTransaction): Promise<Run> {
      const run = await cancelRunTree(await getRun(pool, workspaceId, runId), runInTransaction);
      if (run && isTerminal(run.status)) return run;
      const now = await getRun(pool, workspaceId, runId);
      if (run) return now;
      throw conflict('already_ended', `this run has already ended with status ${now.status}`);
    },

    /** Cancels all runs of a subject that have not ended. */
    async cancelAll(workspaceId: string, subjectId: string) {
      for (;;) {
        const runs = await listCancellable(pool, workspaceId, subjectId);
        if (!runs.length) return;
        for (const run of runs) await cancelRunTree(run);
      }
    },
  };
}
