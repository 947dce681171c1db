/** Loads the end of a run for comparison. */
import { isTerminal, listUnrecordedCalls, REHEARSAL, type Run } from '@gantry/run-engine';
import type { CandidateDeps } from './candidate-deps';
import { truncateText } from './compare-outputs';
import { ERROR_CHARS_MAX, type StoredEnding } from './judge-endings';

/** @throws Error for a run that has not ended */
export async function loadEnding(
  { engine, pool }: Pick<CandidateDeps, 'engine' | 'pool'>,
  run: Run,
): Promise<StoredEnding> {
  const { status, error } = run;
  if (!isTerminal(status)) throw new Error(`run ${run.id} goes on`);
  return {
    status,
    error: error?.message ?? null,
    errorCode: error?.code ?? null,
    errorType: error?.type ?? null,
    output: status === 'completed' ? await engine.loadStoredOutput(run) : undefined,
    unrecorded: await findUnrecordedReason(pool, run),
  };
}

async function findUnrecordedReason(pool: CandidateDeps['pool'], run: Run): Promise<string | null> {
  if (run.trigger !== REHEARSAL) return null;
  const [first] = await listUnrecordedCalls(pool, run);
  return first ? truncateText(first.message, ERROR_CHARS_MAX) : null;
}

/** Builds the ending of a rehearsal that is no evidence, because it could not run or was deleted. */
export const buildInconclusiveEnding = (reason: string): StoredEnding => ({
  status: 'cancelled',
  error: reason,
  errorCode: null,
  errorType: null,
  output: undefined,
  unrecorded: reason,
});
