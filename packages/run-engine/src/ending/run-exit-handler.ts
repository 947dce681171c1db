/** Notifies, after the commit, that a run has left its executor: it has ended, or waits without a process. */
import { addChangeHint, type Relay } from '@gantry/events';
import type { Pool } from 'pg';
import { isTerminal, type Run } from '../run';
import type { RunSignals } from '../run-signals';
import type { RunWatchers } from '../waiting/run-watchers';
import type { Waker } from '../waiting/waker';
import type { EndedTree } from './end-run';

export type RunExitHandler = ReturnType<typeof createRunExitHandler>;

export function createRunExitHandler(deps: {
  pool: Pool;
  signals: RunSignals;
  waiters: RunWatchers;
  waker: Waker;
  relay: Relay;
  onSettled: (run: Run) => void;
}) {
  const { pool, signals, waiters, waker, relay, onSettled } = deps;

  function handleExit(run: Run): void {
    if (isTerminal(run.status)) {
      waiters.onSettled(run);
      relay.kick();
      onSettled(run);
      if (run.parentRunId) waker.kick();
    }
    // Local waiters are resolved first: each message costs this process, and wakes another one.
    setImmediate(() => signals.changed(run.id));
    addChangeHint(pool, run.workspaceId, 'runs', run.id);
    if (run.slotKey) signals.hint();
  }

  return {
    left: handleExit,
    /** Handles an ended run, the runs that ended with it, and those to be stopped. */
    handleTreeExit({ run, ended, running }: EndedTree) {
      handleExit(run);
      ended.forEach(handleExit);
      running.forEach(signals.askToStop);
    },
  };
}
