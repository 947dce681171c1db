/**
 * Puts what executors say live and what the table has into one order without a gap. Both say the same, in any order: what
 * is ahead of its turn is kept until what is missing was read.
 */
import type { NewEvent, StoredEvent } from './run-events';

export type EventSequence = ReturnType<typeof createEventSequence>;

export function createEventSequence(last: number, tell: (event: StoredEvent) => void) {
  const ahead = new Map<number, StoredEvent>();

  function pass(event: StoredEvent) {
    last = event.seq;
    tell(event);
  }

  function passAhead() {
    for (let next = ahead.get(last + 1); next; next = ahead.get(last + 1)) {
      ahead.delete(next.seq);
      pass(next);
    }
  }

  return {
    /** Everything up to here has been told. */
    get last() {
      return last;
    },
    /** Whether something is missing before what came live. */
    get isAhead() {
      return ahead.size > 0;
    },
    live(events: NewEvent[]) {
      // Closing events count only with the ending that wins, and that the table knows.
      for (const event of events) if (!event.closes && event.seq > last) ahead.set(event.seq, event);
      passAhead();
    },
    /** As they follow each other in the table. */
    stored(events: StoredEvent[]) {
      for (const event of events) if (event.seq > last) pass(event);
      for (const seq of ahead.keys()) if (seq <= last) ahead.delete(seq);
      passAhead();
    },
  };
}
