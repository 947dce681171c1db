/** Messages about runs that nobody answers. Each may be lost: the table says the same to whoever looks. */
import { type Bus, encode, type RunCancel, type RunSource, runSubjects } from '@gantry/events';
import type { Run } from './run';
import type { RunTokens } from './run-tokens';

export type RunSignals = ReturnType<typeof createRunSignals>;

export function createRunSignals({ nc }: Bus, source: RunSource, tokens: RunTokens) {
  const publish = (subject: string, data: Uint8Array) => {
    if (!nc.isClosed()) nc.publish(subject, data);
  };
  return {
    /** Those who watch a run look at it again. */
    changed: (runId: string) => publish(runSubjects.settled(source, runId), encode({ runId })),
    /**
     * All replicas look for queued runs, this one as well.
     * @param runner of what is queued; absent: it may be any
     */
    hint: (runner = '') => publish(runSubjects.hint(source), Buffer.from(runner)),
    /** To the executor that holds it; nobody is told of a run that nobody holds. */
    askToStop({ id: runId, attempt, executorId }: Pick<Run, 'id' | 'attempt' | 'executorId'>) {
      if (!executorId) return;
      const cancel: RunCancel = { token: tokens.give({ runId, attempt, executorId }) };
      publish(runSubjects.cancel(executorId, runId), encode(cancel));
    },
  };
}
