/**
 * Merges live events of executors and stored events into one sequence without gaps. Both sources have the same events,
 * in any order: events that are ahead are buffered until the missing ones are read.
 */
import type { NewEvent, StoredEvent } from './run-events';

export type EventSequence = ReturnType<typeof createEventSequence>;

export function createEventSequence(last: number, emit: (event: StoredEvent) => void) {
  const buffered = new Map<number, StoredEvent>();

  function emitEvent(event: StoredEvent) {
    last = event.seq;
    emit(event);
  }

  function emitBuffered() {
    for (let next = buffered.get(last + 1); next; next = buffered.get(last + 1)) {
      buffered.delete(next.seq);
      emitEvent(next);
    }
  }

  return {
    /** Number of the last emitted event. */
    get last() {
      return last;
    },
    /** Returns whether events before the buffered live ones are missing. */
    get isAhead() {
      return buffered.size > 0;
    },
    live(events: NewEvent[]) {
      // Closing events count only with the winning ending, which only the table has.
      for (const event of events) if (!event.closes && event.seq > last) buffered.set(event.seq, event);
      emitBuffered();
    },
    /** @param events consecutive events of the table */
    stored(events: StoredEvent[]) {
      for (const event of events) if (event.seq > last) emitEvent(event);
      for (const seq of buffered.keys()) if (seq <= last) buffered.delete(seq);
      emitBuffered();
    },
  };
}
