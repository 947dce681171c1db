/**
 * Submits runs in their own transactions, and waits for their ends.
 *
 * A run with a standing claim is inserted already leased to that executor, and its job is built meanwhile; any other is
 * inserted as queued, and a hint notifies the replicas. Subscribes before the run is visible, so that no end is missed.
 */
import { addChangeHint } from '@gantry/events';
import type { Pool } from 'pg';
import { isTerminal, type NewRun, type Run } from '../run';
import { getRun } from '../run-queries';
import { buildRun, type IsCurrentSql, toNewRow } from '../run-row';
import type { RunSignals } from '../run-signals';
import type { RunWatchers, Watch } from '../waiting/run-watchers';
import type { Dispatcher } from './dispatcher';
import { createRunWriter } from './run-writer';

export function createRunSubmitter(deps: {
  pool: Pool;
  dispatcher: Pick<Dispatcher, 'claimFor' | 'dispatchNew'>;
  signals: Pick<RunSignals, 'hint'>;
  waiters: RunWatchers;
  leaseMs: number;
  isCurrent: IsCurrentSql | undefined;
}) {
  const { pool, dispatcher, signals, waiters, leaseMs } = deps;
  const write = createRunWriter(pool, deps.isCurrent);

  /** Waits for the end, because suspensions wake watchers too. */
  async function waitForRunEnd(run: Run, watch: Watch, waitMs: number): Promise<Run> {
    const deadline = Date.now() + waitMs;
    for (;;) {
      const change = await watch.next(deadline - Date.now());
      const now = change?.run ?? (await getRun(pool, run.workspaceId, run.id));
      if (!change || isTerminal(now.status)) return now;
    }
  }

  return {
    /**
     * Inserts the run, and hands it to a waiting executor if there is one. Without `waitMs`, the run is returned queued
     * or running.
     * @param waitMs as for waitForEnd; default: not at all
     * @throws SubjectChangedError; AppError 409 in a closed workspace, and where another request has the run's
     * Idempotency-Key by now
     */
    async submitAndWait(newRun: NewRun, waitMs = 0): Promise<Run> {
      const { runner } = newRun.spec;
      // A run with a slot is always queued: see claim-runs.ts.
      const isQueued = newRun.held || newRun.slot;
      const claim = isQueued
        ? undefined
        : await dispatcher.claimFor(runner, waitMs > 0 ? 'answeredAtEnd' : 'answeredAtOnce');
      const lease = claim ? { executorId: claim.executorId, leaseMs } : null;
      const run = buildRun(newRun, lease);
      const watch = waitMs > 0 ? waiters.watch(run.id) : undefined;
      try {
        const insertion = write(toNewRow(newRun, lease, run));
        if (claim) await dispatcher.dispatchNew(run, claim, insertion);
        else {
          await insertion;
          signals.hint(runner);
        }
        addChangeHint(pool, run.workspaceId, 'runs', run.id);
        return watch ? await waitForRunEnd(run, watch, waitMs) : run;
      } finally {
        watch?.close();
      }
    },

    /** Resolves when the run is terminal, or with its state after `waitMs`. */
    async waitForEnd(run: Run, waitMs: number): Promise<Run> {
      if (waitMs <= 0 || isTerminal(run.status)) return run;
      const watch = waiters.watch(run.id);
      try {
        const now = await getRun(pool, run.workspaceId, run.id);
        return isTerminal(now.status) ? now : await waitForRunEnd(now, watch, waitMs);
      } finally {
        watch.close();
      }
    },
  };
}
