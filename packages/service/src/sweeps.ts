/**
 * Housekeeping: periodic removal of expired rows.
 *
 * Each folder exports sweeps of its own tables, and a service lists them. Every replica runs them, at any time.
 */
import type { Logger } from 'pino';

export interface Sweep {
  /** Name of the swept data, for the log. */
  what: string;
  run: () => Promise<unknown>;
}

const EVERY_MS = 3_600_000;

/** Begins at once. A failed sweep is logged, retried in an hour, and does not delay the others. */
export function startSweeps(sweeps: Sweep[], log: Logger): { stop(): void } {
  let stopped = false;
  const runSweeps = async () => {
    for (const { what, run } of sweeps) {
      if (stopped) return;
      // An error is expected if the pool was closed during a sweep.
      await run().catch((err) => stopped || log.warn({ err, sweep: what }, 'housekeeping failed: will try again'));
    }
  };
  void runSweeps();
  const timer = setInterval(runSweeps, EVERY_MS).unref();
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
    },
  };
}
