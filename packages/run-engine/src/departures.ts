/** Notifies, after the commit, that a run has left its executor: it has ended, or waits without a process. */
import { hintChange, type Relay } from '@gantry/events';
import type { Pool } from 'pg';
import type { EndedTree } from './end-run';
import { isTerminal, type Run } from './run';
import type { RunSignals } from './run-signals';
import type { Waiters } from './waiters';
import type { Waker } from './waker';

export type Departures = ReturnType<typeof createDepartures>;

export function createDepartures(deps: {
  pool: Pool;
  signals: RunSignals;
  waiters: Waiters;
  waker: Waker;
  relay: Relay;
  onSettled: (run: Run) => void;
}) {
  const { pool, signals, waiters, waker, relay, onSettled } = deps;

  function left(run: Run): void {
    if (isTerminal(run.status)) {
      waiters.settled(run);
      relay.kick();
      onSettled(run);
      if (run.parentRunId) waker.kick();
    }
    // Local waiters are resolved first: each message costs this process, and wakes another one.
    setImmediate(() => signals.changed(run.id));
    hintChange(pool, run.workspaceId, 'runs', run.id);
    if (run.slotKey) signals.hint();
  }

  return {
    left,
    /** Handles an ended run, the runs that ended with it, and those to be stopped. */
    leftTogether({ run, ended, running }: EndedTree) {
      left(run);
      ended.forEach(left);
      running.forEach(signals.askToStop);
    },
  };
}
