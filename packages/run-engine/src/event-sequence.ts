/**
 * Merges live events of executors and stored events into one sequence without gaps. Both sources have the same events,
 * in any order: events that are ahead are buffered until the missing ones are read.
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
    /** Number of the last emitted event. */
    get last() {
      return last;
    },
    /** Returns whether events before the buffered live ones are missing. */
    get isAhead() {
      return ahead.size > 0;
    },
    live(events: NewEvent[]) {
      // Closing events count only with the winning ending, which only the table has.
      for (const event of events) if (!event.closes && event.seq > last) ahead.set(event.seq, event);
      passAhead();
    },
    /** @param events consecutive events of the table */
    stored(events: StoredEvent[]) {
      for (const event of events) if (event.seq > last) pass(event);
      for (const seq of ahead.keys()) if (seq <= last) ahead.delete(seq);
      passAhead();
    },
  };
}
