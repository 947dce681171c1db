/** Holds the readers of one run: new events are sent to all of them after COALESCE_MS, as the same bytes per style. */
import type { Reader, Told } from './reader';

const COALESCE_MS = 25;

export type Audience = ReturnType<typeof createAudience>;

export function createAudience() {
  const readers = new Set<Reader>();
  let unsent: Told[] = [];
  let flushing: NodeJS.Timeout | undefined;

  function flush() {
    clearTimeout(flushing);
    flushing = undefined;
    const events = unsent;
    unsent = [];
    const [first, end] = [events[0]?.seq, events.at(-1)?.seq];
    if (first === undefined || end === undefined) return;
    const renderedOnce = oncePerStyle((reader) => reader.render(events));
    for (const reader of readers) {
      if (reader.last >= end) continue;
      // Bounded: only readers that came within the last COALESCE_MS have some of the events.
      if (reader.last < first) reader.write(renderedOnce(reader));
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
    tell(told: Told) {
      unsent.push(told);
      flushing ??= setTimeout(flush, COALESCE_MS);
    },
    /** Sends all unsent events at once. */
    flush,
    /** @param last number of the last emitted event */
    comment(last: number) {
      const comment = oncePerStyle((reader) => reader.comment(last));
      for (const reader of readers) reader.write(comment(reader));
    },
    end() {
      flush();
      for (const reader of readers) reader.end();
    },
  };
}

function oncePerStyle(render: (reader: Reader) => string): (reader: Reader) => Buffer {
  const rendered = new Map<string, Buffer>();
  return (reader) => {
    const bytes = rendered.get(reader.style) ?? Buffer.from(render(reader));
    rendered.set(reader.style, bytes);
    return bytes;
  };
}
