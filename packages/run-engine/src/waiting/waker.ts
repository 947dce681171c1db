/** Queues due runs, on every replica: they skip each other's rows. */
import { pollForWork } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { RunSignals } from '../run-signals';
import { SUSPENDED_RUNS_DUE_AT, wakeDueRuns } from './resume-runs';

export type Waker = ReturnType<typeof startWaker>;

export function startWaker({ pool, signals, log }: { pool: Pool; signals: RunSignals; log: Logger }) {
  let stopped = false;
  let waking: Promise<void> | null = null;
  let isRequested = false;
  const polling = pollForWork({ pool, dueAt: SUSPENDED_RUNS_DUE_AT, work: wake, what: 'due runs', log });

  function wake() {
    isRequested = Boolean(waking);
    if (stopped || waking) return;
    waking = wakeAll()
      .catch((err) => log.warn({ err }, 'could not queue due runs: will try again'))
      .finally(() => {
        waking = null;
        if (isRequested) wake();
      });
  }

  async function wakeAll() {
    for (let more = true; more && !stopped; ) {
      const woken = await wakeDueRuns(pool);
      more = woken.more;
      for (const { id } of woken.runs) signals.changed(id);
      if (woken.runs.length) signals.hint();
    }
  }

  return {
    /** Something may be due now. */
    kick: wake,
    stop: async () => {
      stopped = true;
      await polling.stop();
      await waking;
    },
  };
}
