/** Outcomes of runs, as they are judged. Threads load this module, so it imports only types. */
import type { RunError, RunErrorCode } from '@gantry/events';
import type { StoredOutput, TerminalStatus } from '@gantry/run-engine';

export const ERROR_CHARS_MAX = 2_000;

export interface RunOutcome {
  status: TerminalStatus;
  /** Without a code: there was no run. */
  error: (Pick<RunError, 'message'> & Partial<Omit<RunError, 'message'>>) | null;
  /** The whole return value; undefined unless it completed. */
  output: unknown;
  /** The first request of a rehearsal that was not recorded; null: none. */
  unrecorded: string | null;
  /** From start to end; null: it never started. */
  durationMs: number | null;
  costUsd: number;
}

/** An outcome with its output as it is stored. */
export type StoredRunOutcome = Omit<RunOutcome, 'output'> & { output: StoredOutput | undefined };

/** Errors of what surrounds a run: they are no evidence about its code. */
export const EXTERNAL_ERROR_CODES: readonly RunErrorCode[] = [
  ...(['executor_lost', 'sandbox', 'missing_secret', 'missing_connection', 'budget_exceeded'] as const),
  'model_unavailable',
];

/** Builds the outcome of a rehearsal that is no evidence, because it could not run or was deleted. */
export const buildInconclusiveOutcome = (reason: string): StoredRunOutcome => ({
  status: 'cancelled',
  error: { message: reason },
  output: undefined,
  unrecorded: reason,
  durationMs: null,
  costUsd: 0,
});
