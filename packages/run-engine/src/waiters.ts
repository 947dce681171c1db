/** Requests that wait for a run to end, on whichever replica the end is written. */
import { type Bus, listen, type RunSource, runSettled, runSubjects } from '@gantry/events';
import type { Subscription } from 'nats';
import type { Logger } from 'pino';
import type { Run } from './run';

/** A run as it ended here; undefined when another replica wrote the end, and the row has to be read. */
type Ended = Run | undefined;

export interface Waiters {
  /** Resolves when the run ends, or with null after `ms`. Watching begins with the call. */
  watch(runId: string): { ended: (ms: number) => Promise<{ run: Ended } | null>; close: () => void };
  /** This replica has committed the run's end. */
  settled(run: Run): void;
}

export function createWaiters(bus: Bus, source: RunSource, log: Logger): Waiters {
  const byRun = new Map<string, Set<(run: Ended) => void>>();

  function wake(runId: string, run: Ended) {
    for (const resolve of byRun.get(runId) ?? []) resolve(run);
  }

  return {
    watch(runId) {
      let resolveEnd: (run: Ended) => void = () => {};
      const end = new Promise<{ run: Ended }>((resolve) => {
        resolveEnd = (run) => resolve({ run });
      });
      const resolvers = byRun.get(runId) ?? new Set();
      byRun.set(runId, resolvers.add(resolveEnd));
      const subscription: Subscription = listen(
        bus,
        runSubjects.settled(source, runId),
        runSettled,
        () => wake(runId, undefined),
        { log },
      );
      return {
        ended: async (ms) => {
          let timer: NodeJS.Timeout | undefined;
          const late = new Promise<null>((resolve) => {
            timer = setTimeout(resolve, ms, null);
          });
          return Promise.race([end, late]).finally(() => clearTimeout(timer));
        },
        close: () => {
          subscription.unsubscribe();
          resolvers.delete(resolveEnd);
          if (!resolvers.size) byRun.delete(runId);
        },
      };
    },
    settled: (run) => wake(run.id, run),
  };
}
