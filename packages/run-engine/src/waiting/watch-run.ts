/**
 * Aborts calls that no attempt of their run will read: the run was cancelled, has ended or was deleted, on whichever
 * replica.
 */
import { hasRow } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { terminalStatuses } from '../run';
import type { RunWatchers } from './run-watchers';

/** Signals may be lost: the table is read so often as well. */
const POLL_MS = 5_000;

/** The reason of the signal. */
export class RunEndedError extends Error {
  constructor() {
    super('the run was cancelled or has ended');
    this.name = 'AbortError';
  }
}

export type RunWatch = ReturnType<typeof watchRun>;

const IS_ACTIVE = {
  name: 'run-is-wanted',
  text: `SELECT FROM runs WHERE id = $1 AND cancel_requested_at IS NULL AND status NOT IN ('${terminalStatuses.join("', '")}')`,
};

/** A run that waits for its next attempt still wants its calls: their results are on record for it. */
export function watchRun({ pool, waiters, log }: { pool: Pool; waiters: RunWatchers; log: Logger }, runId: string) {
  const ended = new AbortController();
  const watch = waiters.watch(runId);
  let isOpen = true;

  async function follow(): Promise<void> {
    while (isOpen) {
      await watch.next(POLL_MS);
      if (!isOpen) return;
      try {
        if (!(await hasRow(pool, IS_ACTIVE, [runId]))) return ended.abort(new RunEndedError());
      } catch (err) {
        log.warn({ err, runId }, 'could not check whether a run still needs its call: will try again');
      }
    }
  }
  void follow();
  return {
    signal: ended.signal,
    close() {
      isOpen = false;
      watch.close();
    },
  };
}
