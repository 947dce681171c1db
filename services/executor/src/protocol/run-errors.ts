/** Run errors caused by the executor rather than by the code. */
import type { Job, RunError } from '@gantry/events';
import { NotPrepared } from '../runners/runner';

export const UNREPORTABLE: RunError = {
  code: 'sandbox',
  message: 'The run ended, and its result could not be written.',
};

export function errorOf(err: unknown, hadStarted: boolean): RunError {
  if (err instanceof NotPrepared) return { code: err.code, message: err.message };
  const deed = hadStarted ? 'carried to its end' : 'prepared';
  return { code: 'sandbox', message: `The run could not be ${deed}: ${(err as Error).message}` };
}

export const wallLimit = ({ limits }: Job): RunError => ({
  code: 'timeout',
  message: `The run took longer than its ${limits.wallMs / 1000} s.`,
});
