/** Notifies requests that wait for a run's end, whichever replica writes it. */
import { type Bus, type RunSource, runSubjects } from '@gantry/events';
import type { Run } from '../run';

/** A run as it ended here; undefined where it has changed on another replica or without ending, and has to be read. */
type RunChange = { run: Run | undefined };

export type RunWatchers = ReturnType<typeof createRunWatchers>;
export type Watch = ReturnType<RunWatchers['watch']>;

export function createRunWatchers(bus: Bus, source: RunSource, onChanged: (runId: string) => void) {
  const byRun = new Map<string, Set<(news: RunChange) => void>>();

  function notify(runId: string, run: Run | undefined) {
    for (const onChange of byRun.get(runId) ?? []) onChange({ run });
  }

  // One subscription for all runs, and the subject says which: a subscription for each run would cost more than reading
  // the ends of other replicas' runs.
  const subscription = bus.nc.subscribe(runSubjects.settled(source, '*'), {
    callback: (_err, message) => {
      const runId = message.subject.slice(message.subject.lastIndexOf('.') + 1);
      notify(runId, undefined);
      onChanged(runId);
    },
  });

  return {
    /** Subscribes at once. */
    watch(runId: string) {
      let pending: RunChange | null = null;
      let wake: (news: RunChange) => void = () => {};
      const onChange = (change: RunChange) => {
        // An end is not forgotten for a later "look again".
        if (!pending?.run) pending = change;
        wake(pending);
      };
      const listeners = byRun.get(runId) ?? new Set();
      byRun.set(runId, listeners.add(onChange));
      return {
        /** Resolves with the next news of the run, also if they came between two calls, or with null after `ms`. */
        next: async (ms: number): Promise<RunChange | null> => {
          let timer: NodeJS.Timeout | undefined;
          await new Promise<void>((resolve) => {
            if (pending) return resolve();
            wake = () => resolve();
            timer = setTimeout(resolve, Math.max(0, ms));
          });
          clearTimeout(timer);
          const news = pending;
          pending = null;
          return news;
        },
        /** Ends a `next` that waits. */
        close: () => {
          listeners.delete(onChange);
          wake({ run: undefined });
          if (!listeners.size) byRun.delete(runId);
        },
      };
    },
    /** This replica has committed the run's end. */
    onSettled: (run: Run) => notify(run.id, run),
    close: () => subscription.unsubscribe(),
  };
}
