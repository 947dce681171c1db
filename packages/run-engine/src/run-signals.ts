/** Publishes messages about runs without a reply. Each may be lost: the table has the same information. */
import { type Bus, type CancelRequest, encode, publishIfOpen, type RunSource, runSubjects } from '@gantry/events';
import type { Run } from './run';
import type { RunTokens } from './run-tokens';

export type RunSignals = ReturnType<typeof createRunSignals>;

export function createRunSignals(bus: Bus, source: RunSource, tokens: RunTokens) {
  const publish = (subject: string, data: Uint8Array) => publishIfOpen(bus, subject, data);
  return {
    /** Makes watchers of a run read it again. */
    changed: (runId: string) => publish(runSubjects.settled(source, runId), encode({ runId })),
    /**
     * Makes all replicas check for queued runs, including this one.
     * @param runner the runner of the queued run; absent: any
     */
    hint: (runner = '') => publish(runSubjects.hint(source), Buffer.from(runner)),
    /** Asks the executor that holds the run to stop it; does nothing without one. */
    askToStop({ id: runId, attempt, executorId }: Pick<Run, 'id' | 'attempt' | 'executorId'>) {
      if (!executorId) return;
      const cancel: CancelRequest = { token: tokens.issue({ runId, attempt, executorId }) };
      publish(runSubjects.cancel(executorId, runId), encode(cancel));
    },
  };
}
