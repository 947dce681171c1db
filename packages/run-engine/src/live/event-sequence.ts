/**
 * Merges live events of executors and stored events into one sequence without gaps. Both sources have the same events,
 * in any order: events that are ahead are buffered until the missing ones are read.
 */
import type { NewEvent, StoredEvent } from '../run-events';

export type EventSequence = ReturnType<typeof createEventSequence>;

export function createEventSequence(lastSeq: number, emit: (event: StoredEvent) => void) {
  const buffered = new Map<number, StoredEvent>();

  function emitEvent(event: StoredEvent) {
    lastSeq = event.seq;
    emit(event);
  }

  function emitBuffered() {
    for (let next = buffered.get(lastSeq + 1); next; next = buffered.get(lastSeq + 1)) {
      buffered.delete(next.seq);
      emitEvent(next);
    }
  }

  return {
    /** Number of the last emitted event. */
    get lastSeq() {
      return lastSeq;
    },
    /** Returns whether events before the buffered live ones are missing. */
    get isAhead() {
      return buffered.size > 0;
    },
    addLive(events: NewEvent[]) {
      // Closing events count only with the winning ending, which only the table has.
      for (const event of events) if (!event.closes && event.seq > lastSeq) buffered.set(event.seq, event);
      emitBuffered();
    },
    /** @param events consecutive events of the table */
    addStored(events: StoredEvent[]) {
      for (const event of events) if (event.seq > lastSeq) emitEvent(event);
      for (const seq of buffered.keys()) if (seq <= lastSeq) buffered.delete(seq);
      emitBuffered();
    },
  };
}
