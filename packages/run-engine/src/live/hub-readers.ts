/** Holds the readers of one run: new events are sent to all of them after COALESCE_MS, as the same bytes per style. */
import type { Reader, StreamEvent } from './reader';

const COALESCE_MS = 25;

export function createHubReaders() {
  const readers = new Set<Reader>();
  let unsent: StreamEvent[] = [];
  let flushTimer: NodeJS.Timeout | undefined;

  function flush() {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    const events = unsent;
    unsent = [];
    const [first, end] = [events[0]?.seq, events.at(-1)?.seq];
    if (first === undefined || end === undefined) return;
    const renderShared = renderOncePerStyle((reader) => reader.render(events));
    for (const reader of readers) {
      if (reader.last >= end) continue;
      // Bounded: only readers that came within the last COALESCE_MS have some of the events.
      if (reader.last < first) reader.write(renderShared(reader));
      else reader.write(Buffer.from(reader.render(events.filter(({ seq }) => seq > reader.last))));
      reader.last = end;
    }
  }

  return {
    get size() {
      return readers.size;
    },
    add: (reader: Reader) => void readers.add(reader),
    remove: (reader: Reader) => void readers.delete(reader),
    push(event: StreamEvent) {
      unsent.push(event);
      flushTimer ??= setTimeout(flush, COALESCE_MS);
    },
    /** Sends all unsent events at once. */
    flush,
    /** @param last number of the last emitted event */
    comment(last: number) {
      const comment = renderOncePerStyle((reader) => reader.comment(last));
      for (const reader of readers) reader.write(comment(reader));
    },
    end() {
      flush();
      for (const reader of readers) reader.end();
    },
  };
}

function renderOncePerStyle(render: (reader: Reader) => string): (reader: Reader) => Buffer {
  const rendered = new Map<string, Buffer>();
  return (reader) => {
    const bytes = rendered.get(reader.style) ?? Buffer.from(render(reader));
    rendered.set(reader.style, bytes);
    return bytes;
  };
}
