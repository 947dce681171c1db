/** Loads the outcome of a run that has ended, to judge it. */
import { isTerminal, listUnrecordedCalls, REHEARSAL, type Run } from '@gantry/run-engine';
import { truncateText } from './compare-outputs';
import type { RehearsalDeps } from './rehearsal-deps';
import { ERROR_CHARS_MAX, type StoredRunOutcome } from './run-outcome';

/** @throws Error for a run that has not ended */
export async function loadRunOutcome(
  { engine, pool }: Pick<RehearsalDeps, 'engine' | 'pool'>,
  run: Run,
): Promise<StoredRunOutcome> {
  const { status, error, costUsd, startedAt, finishedAt } = run;
  if (!isTerminal(status)) throw new Error(`run ${run.id} goes on`);
  const [first] = run.trigger === REHEARSAL ? await listUnrecordedCalls(pool, run) : [];
  return {
    status,
    error,
    output: status === 'completed' ? await engine.loadStoredOutput(run) : undefined,
    unrecorded: first ? truncateText(first.message, ERROR_CHARS_MAX) : null,
    durationMs: startedAt && finishedAt && Math.max(0, finishedAt.getTime() - startedAt.getTime()),
    costUsd,
  };
}
