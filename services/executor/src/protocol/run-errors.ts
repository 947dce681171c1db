/** Run errors caused by the executor rather than by the code. */
import type { Job, RunError } from '@gantry/events';
import { NotPreparedError } from '../runners/runner';

export const UNREPORTABLE: RunError = {
  code: 'sandbox',
  message: 'The run ended, but its result could not be written.',
};

export function toRunError(err: unknown, hadStarted: boolean): RunError {
  if (err instanceof NotPreparedError) return { code: err.code, message: err.message };
  const reached = hadStarted ? 'completed' : 'prepared';
  return { code: 'sandbox', message: `The run could not be ${reached}: ${(err as Error).message}` };
}

export const buildWallLimitError = ({ limits }: Job): RunError => ({
  code: 'timeout',
  message: `The run exceeded its time limit of ${limits.wallMs / 1000} s.`,
});
