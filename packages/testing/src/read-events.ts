/** Reading a run's live streams as a client does that loses its connection now and then. */

export interface ReadEvent {
  seq: number;
  type: string;
  /** The event's own fields: the same in both formats. */
  data: Record<string, unknown>;
}

export interface ReadEventsOptions {
  /** Replicas, which are asked in turn: another one after each break. */
  urls: string[];
  token: string;
  path: string;
  format: 'sse' | 'ndjson';
  /** The connection is broken off when so many events have come since the last break, as often as there are numbers. */
  breaks: number[];
}

/** Follows to the end of the stream, over every break. Whole events count, whatever the cut left of the next one. */
export async function readEvents({ urls, token, path, format, breaks }: ReadEventsOptions): Promise<ReadEvent[]> {
  const events: ReadEvent[] = [];
  for (const [connection, most] of [...breaks, Number.POSITIVE_INFINITY].entries()) {
    const before = events.length;
    const cut = new AbortController();
    const last = events.at(-1)?.seq;
    const response = await fetch(new URL(path, urls[connection % urls.length]), {
      headers: {
        Authorization: `Bearer ${token}`,
        Accept: format === 'sse' ? 'text/event-stream' : 'application/x-ndjson',
        ...(last !== undefined && { 'Last-Event-ID': String(last) }),
      },
      signal: cut.signal,
    });
    // Everything was read before the connection was cut.
    if (response.status === 204) break;
    if (!response.ok || !response.body) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const whole = (rest + decoder.decode(chunk, { stream: true })).split(format === 'sse' ? '\n\n' : '\n');
      rest = whole.pop() ?? '';
      events.push(...whole.map(format === 'sse' ? parseSseBlock : parseNdjsonLine).filter((event) => event !== null));
      if (events.length - before >= most) break;
    }
    cut.abort();
  }
  return events;
}

function parseSseBlock(block: string): ReadEvent | null {
  const [, seq, type, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(block) ?? [];
  return data === undefined ? null : { seq: Number(seq), type: String(type), data: JSON.parse(data) };
}

/** Empty lines are heartbeats. */
function parseNdjsonLine(line: string): ReadEvent | null {
  if (!line) return null;
  const { id, ...data } = JSON.parse(line);
  return { seq: id, type: data.type, data };
}
