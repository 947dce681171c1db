/** Tracks runners whose queues are empty: the table need not be queried for them, and a new run may bypass it. */

/** Limit, because executors may send any name. */
const RUNNERS_MAX = 1_000;

export function createEmptyQueueCache() {
  const empty = new Set<string>();
  return {
    canHaveRuns: (runner: string): boolean => !empty.has(runner),
    /** Called before the table is queried for runs of these: a hint during the query must not be lost. */
    markEmpty(runners: string[]) {
      if (empty.size > RUNNERS_MAX) empty.clear();
      for (const runner of runners) empty.add(runner);
    },
    /** Runs of this runner were queued, or the table may have more than it returned. Empty: any runner. */
    markQueued(runner: string) {
      if (runner) empty.delete(runner);
      else empty.clear();
    },
  };
}
