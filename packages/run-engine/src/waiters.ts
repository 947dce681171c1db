/** Requests that wait for a run to end, on whichever replica the end is written. */
import { type Bus, type RunSource, runSubjects } from '@gantry/events';
import type { Run } from './run';

/** A run as it ended here; undefined when another replica wrote the end, and the row has to be read. */
type Ended = Run | undefined;

export interface Waiters {
  /** Resolves when the run ends, or with null after `ms`. Watching begins with the call. */
  watch(runId: string): { ended: (ms: number) => Promise<{ run: Ended } | null>; close: () => void };
  /** This replica has committed the run's end. */
  settled(run: Run): void;
  close(): void;
}

export function createWaiters(bus: Bus, source: RunSource): Waiters {
  const byRun = new Map<string, Set<(run: Ended) => void>>();

  function wake(runId: string, run: Ended) {
    for (const resolve of byRun.get(runId) ?? []) resolve(run);
  }

  // One subscription for all runs, and the subject says which: a subscription for each run would cost more than reading
  // the ends of other replicas' runs.
  const subscription = bus.nc.subscribe(runSubjects.settled(source, '*'), {
    callback: (_err, message) => wake(message.subject.slice(message.subject.lastIndexOf('.') + 1), undefined),
  });

  return {
    watch(runId) {
      let resolveEnd: (run: Ended) => void = () => {};
      const end = new Promise<{ run: Ended }>((resolve) => {
        resolveEnd = (run) => resolve({ run });
      });
      const resolvers = byRun.get(runId) ?? new Set();
      byRun.set(runId, resolvers.add(resolveEnd));
      return {
        ended: async (ms) => {
          let timer: NodeJS.Timeout | undefined;
          const late = new Promise<null>((resolve) => {
            timer = setTimeout(resolve, ms, null);
          });
          return Promise.race([end, late]).finally(() => clearTimeout(timer));
        },
        close: () => {
          resolvers.delete(resolveEnd);
          if (!resolvers.size) byRun.delete(runId);
        },
      };
    },
    settled: (run) => wake(run.id, run),
    close: () => subscription.unsubscribe(),
  };
}
