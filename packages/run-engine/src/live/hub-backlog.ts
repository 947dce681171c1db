/** Holds the latest events of a run, for readers that are slightly late. */
import type { StreamEvent } from './reader';

const CHARS_MAX = 512 * 1024;

export type Backlog = ReturnType<typeof createBacklog>;

/** @param from number of the event before the first that will be added */
export function createBacklog(from: number, charsMax = CHARS_MAX) {
  let events: StreamEvent[] = [];
  let chars = 0;

  /** Trims to half, so that it does not happen for each event. */
  function trim() {
    let dropped = 0;
    for (const { seq, body } of events) {
      if (chars <= charsMax / 2) break;
      chars -= body.length;
      from = seq;
      dropped++;
    }
    events = events.slice(dropped);
  }

  return {
    /** The backlog has all events after this number. */
    get from() {
      return from;
    },
    add(event: StreamEvent) {
      events.push(event);
      chars += event.body.length;
      if (chars > charsMax) trim();
    },
    after: (last: number): StreamEvent[] => events.filter(({ seq }) => seq > last),
  };
}
