/** Changes runs inside services' transactions; executors and watchers are notified after the commit. */
import { addChangeHint, type RunSource } from '@gantry/events';
import { afterCommit } from '@gantry/postgres';
import type { PoolClient } from 'pg';
import { endIdleRun, type IdleRunResult } from './ending/end-run';
import type { RunExitHandler } from './ending/run-exit-handler';
import { isIdle, type NewRun, type Run } from './run';
import { appendServiceEvents, type ServiceEvent } from './run-events';
import { insertRun } from './run-row';
import type { RunSignals } from './run-signals';
import { type ResumeOptions, resumeRun } from './waiting/resume-runs';

export function createRunTransactions(
  source: RunSource,
  signals: RunSignals,
  { handleTreeExit: onTreeLeft }: RunExitHandler,
) {
  /** One of these for all that a transaction queues. */
  const hint = () => signals.hint();

  return {
    /**
     * Null if there is a run for scheduledFor already, or that time came in a closed workspace.
     * @throws as submitAndWait
     */
    async submitInTransaction(tx: PoolClient, newRun: NewRun): Promise<Run | null> {
      afterCommit(tx, hint);
      const run = await insertRun(tx, newRun, null);
      if (run) addChangeHint(tx, run.workspaceId, 'runs', run.id);
      return run;
    },

    /**
     * A run that waits for a decision goes on, and the step that it waits for gets its result. A run that is held
     * before its first start has no step.
     * @returns null, and nothing is changed, when it is elsewhere meanwhile or waits for another step
     */
    async resumeInTransaction(tx: PoolClient, runId: string, options: ResumeOptions): Promise<Run | null> {
      const resumed = await resumeRun(tx, runId, options);
      if (resumed) {
        afterCommit(tx, () => signals.changed(runId));
        afterCommit(tx, hint);
        addChangeHint(tx, resumed.workspaceId, 'runs', runId);
      }
      return resumed;
    },

    /**
     * Ends a run that no executor holds, as the caller has read it; a run that it has called is cancelled with it.
     * @returns null when it is elsewhere meanwhile
     */
    async endInTransaction(tx: PoolClient, run: Run, ending: IdleRunResult): Promise<Run | null> {
      const tree = await endIdleRun(tx, source, run, ending);
      if (tree) afterCommit(tx, () => onTreeLeft(tree));
      return tree?.run ?? null;
    },

    /**
     * Adds to what those who watch a run see.
     * @returns false, and nothing is added, when an executor holds the run or it has ended
     */
    async appendEventInTransaction(
      tx: PoolClient,
      runId: string,
      event: Pick<ServiceEvent, 'type' | 'data'>,
    ): Promise<boolean> {
      const { rows } = await tx.query('SELECT status, attempt FROM runs WHERE id = $1 FOR UPDATE', [runId]);
      if (!rows[0] || !isIdle(rows[0].status)) return false;
      await appendServiceEvents(tx, [{ ...event, runId, attempt: rows[0].attempt }]);
      afterCommit(tx, () => signals.changed(runId));
      return true;
    },
  };
}
