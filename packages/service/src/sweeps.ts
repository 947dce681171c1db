/**
 * Housekeeping: what has had its time is removed now and then.
 *
 * Each folder exports sweeps of its own tables, and a service lists them. Every replica runs them, at any moment.
 */
import type { Logger } from 'pino';

export interface Sweep {
  /** Of what, for the log. */
  what: string;
  run: () => Promise<unknown>;
}

const EVERY_MS = 3_600_000;

/** Begins at once. One that fails is logged, tried again in an hour, and keeps nothing from the others. */
export function startSweeps(sweeps: Sweep[], log: Logger): { stop(): void } {
  let stopped = false;
  const round = async () => {
    for (const { what, run } of sweeps) {
      if (stopped) return;
      // A pool that is closed under a sweep is no news.
      await run().catch((err) => stopped || log.warn({ err, sweep: what }, 'housekeeping: will try again'));
    }
  };
  void round();
  const timer = setInterval(round, EVERY_MS).unref();
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
    },
  };
}
