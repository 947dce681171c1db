/** Notifies requests that wait for a run's end, whichever replica writes it. */
import { type Bus, type RunSource, runSubjects } from '@gantry/events';
import type { Run } from './run';

/** A run as it ended here; undefined where it has changed on another replica or without ending, and has to be read. */
type News = { run: Run | undefined };

export interface Watch {
  /** Resolves with the next news of the run, also if they came between two calls, or with null after `ms`. */
  next(ms: number): Promise<News | null>;
  /** Ends a `next` that waits. */
  close(): void;
}

export type Waiters = ReturnType<typeof createWaiters>;

export function createWaiters(bus: Bus, source: RunSource, onChanged: (runId: string) => void) {
  const byRun = new Map<string, Set<(news: News) => void>>();

  function tell(runId: string, run: Run | undefined) {
    for (const hear of byRun.get(runId) ?? []) hear({ run });
  }

  // One subscription for all runs, and the subject says which: a subscription for each run would cost more than reading
  // the ends of other replicas' runs.
  const subscription = bus.nc.subscribe(runSubjects.settled(source, '*'), {
    callback: (_err, message) => {
      const runId = message.subject.slice(message.subject.lastIndexOf('.') + 1);
      tell(runId, undefined);
      onChanged(runId);
    },
  });

  return {
    /** Subscribes at once. */
    watch(runId: string): Watch {
      let unread: News | null = null;
      let wake: (news: News) => void = () => {};
      const hear = (news: News) => {
        // An end is not forgotten for a later "look again".
        if (!unread?.run) unread = news;
        wake(unread);
      };
      const hearers = byRun.get(runId) ?? new Set();
      byRun.set(runId, hearers.add(hear));
      return {
        next: async (ms) => {
          let timer: NodeJS.Timeout | undefined;
          await new Promise<void>((resolve) => {
            if (unread) return resolve();
            wake = () => resolve();
            timer = setTimeout(resolve, Math.max(0, ms));
          });
          clearTimeout(timer);
          const news = unread;
          unread = null;
          return news;
        },
        close: () => {
          hearers.delete(hear);
          wake({ run: undefined });
          if (!hearers.size) byRun.delete(runId);
        },
      };
    },
    /** This replica has committed the run's end. */
    settled: (run: Run) => tell(run.id, run),
    close: () => subscription.unsubscribe(),
  };
}
