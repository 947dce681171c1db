/** Ending runs on request. */
import type { RunSource } from '@gantry/events';
import { conflict } from '@gantry/http';
import type { Pool } from 'pg';
import type { Departures } from './departures';
import { type Alongside, cancelRun } from './end-run';
import { isTerminal, type Run } from './run';
import { getRun, listCancellable } from './run-queries';

export type Cancellation = ReturnType<typeof createCancellation>;

export function createCancellation(pool: Pool, source: RunSource, { leftTogether }: Departures) {
  /** Null for one that has ended. */
  async function cancelOne(run: Run, alongside?: Alongside): Promise<Run | null> {
    const tree = isTerminal(run.status) ? null : await cancelRun(pool, source, run.id, alongside);
    if (tree) leftTogether(tree);
    return tree?.run ?? null;
  }

  return {
    /**
     * Ends a queued, suspended or pending_approval run at once, and what it has called with it; a running one is told to stop.
     * @param alongside commits with the first request; later ones leave it out
     * @throws AppError 404, 409 when it has ended
     */
    async cancel(workspaceId: string, runId: string, alongside?: Alongside): Promise<Run> {
      const run = await cancelOne(await getRun(pool, workspaceId, runId), alongside);
      if (run && isTerminal(run.status)) return run;
      const now = await getRun(pool, workspaceId, runId);
      if (run) return now;
      throw conflict('already_ended', `this run has already ended: ${now.status}`);
    },

    /** Cancels all runs of a subject that have not ended. */
    async cancelAllOf(workspaceId: string, subjectId: string) {
      for (;;) {
        const runs = await listCancellable(pool, workspaceId, subjectId);
        if (!runs.length) return;
        for (const run of runs) await cancelOne(run);
      }
    },
  };
}
