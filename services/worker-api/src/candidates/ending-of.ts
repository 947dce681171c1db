/** The end of a run: whole for comparing, shortened for the report. */
import { isTerminal, listUnrecorded, REHEARSAL, type Run } from '@gantry/run-engine';
import type { Deps } from '../deps';
import { apiStatus } from '../run-status';
import type { ShownEnding } from './candidate';
import { shortened, shownJson } from './compare-outputs';
import type { Ending } from './judge-case';

const ERROR_CHARS_MAX = 2_000;
const OUTPUT_CHARS_MAX = 4_000;

/** @throws Error for a run that goes on */
export async function endingOf({ engine, pool }: Pick<Deps, 'engine' | 'pool'>, run: Run): Promise<Ending> {
  const { status, error } = run;
  if (!isTerminal(status)) throw new Error(`run ${run.id} goes on`);
  return {
    status,
    error: error?.message ?? null,
    errorCode: error?.code ?? null,
    errorType: error?.type ?? null,
    output: status === 'completed' ? await engine.output(run) : undefined,
    unrecorded: await unrecordedOf(pool, run),
  };
}

async function unrecordedOf(pool: Deps['pool'], run: Run): Promise<string | null> {
  if (run.trigger !== REHEARSAL) return null;
  const [first] = await listUnrecorded(pool, run);
  return first ? shortened(first.message, ERROR_CHARS_MAX) : null;
}

/** Of a rehearsal that says nothing, because it could not be made or is gone. */
export const silent = (why: string): Ending => ({
  ...{ status: 'cancelled', error: why, errorCode: null, errorType: null, output: undefined },
  unrecorded: why,
});

export const shownEnding = ({ status, error, errorCode, output }: Ending): ShownEnding => ({
  status: apiStatus(status),
  error: error === null ? null : shortened(error, ERROR_CHARS_MAX),
  error_code: errorCode,
  output: status === 'completed' ? shownJson(output, OUTPUT_CHARS_MAX) : null,
});
