/** Messages about runs that nobody answers. Each may be lost: the table says the same to whoever looks. */
import { type Bus, encode, type RunCancel, type RunSource, runSubjects } from '@gantry/events';
import type { Run } from './run';
import type { RunTokens } from './run-tokens';

export interface RunSignals {
  /** Those who watch a run look at it again. */
  changed(runId: string): void;
  /**
   * All replicas look for queued runs, this one as well.
   * @param runner of what is queued; absent: it may be any
   */
  hint(runner?: string): void;
  /** To the executor that holds it; nobody is told of a run that nobody holds. */
  askToStop(run: Pick<Run, 'id' | 'attempt' | 'executorId'>): void;
}

export function createRunSignals({ nc }: Bus, source: RunSource, tokens: RunTokens): RunSignals {
  const publish = (subject: string, data: Uint8Array) => {
    if (!nc.isClosed()) nc.publish(subject, data);
  };
  return {
    changed: (runId) => publish(runSubjects.settled(source, runId), encode({ runId })),
    hint: (runner = '') => publish(runSubjects.hint(source), Buffer.from(runner)),
    askToStop({ id: runId, attempt, executorId }) {
      if (!executorId) return;
      const cancel: RunCancel = { token: tokens.give({ runId, attempt, executorId }) };
      publish(runSubjects.cancel(executorId, runId), encode(cancel));
    },
  };
}
