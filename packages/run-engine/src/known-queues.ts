/** Runners whose queues are known to be empty: nobody need look into the table for them, and a run may go past it. */

/** Executors may name anything. */
const REMEMBERED_MAX = 1_000;

export function createKnownQueues() {
  const empty = new Set<string>();
  return {
    mayHave: (runner: string): boolean => !empty.has(runner),
    /** The table is about to be asked for runs of these. Before the query: a hint that comes while it runs must not be lost. */
    asked(runners: string[]) {
      if (empty.size > REMEMBERED_MAX) empty.clear();
      for (const runner of runners) empty.add(runner);
    },
    /** Runs of this runner were queued, or the table may hold more than it gave. Empty: of any runner. */
    queued(runner: string) {
      if (runner) empty.delete(runner);
      else empty.clear();
    },
  };
}
