/** Server-sent events over `fetch`: the browser's own EventSource can't send an Authorization header. */
import { createParser } from 'eventsource-parser';
import type { Turn } from './stream-turns';

export interface StreamEvent {
  id: string;
  event: string;
  data: string;
}

/** The JSON object that an event tells; an empty one where it tells something else. */
export function bodyOf({ data }: Pick<StreamEvent, 'data'>): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(data);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Gives the events that a chunk completes. One without an id of its own has the last id, as in the browser. */
export function createEventParser(onComment?: (comment: string) => void): (chunk: string) => StreamEvent[] {
  let lastId = '';
  let events: StreamEvent[] = [];
  const parser = createParser({
    ...(onComment && { onComment }),
    onEvent({ id = lastId, event = 'message', data }) {
      lastId = id;
      events.push({ id, event, data });
    },
  });
  return (chunk) => {
    events = [];
    parser.feed(chunk);
    return events;
  };
}

export interface StreamOptions {
  /** Called for each attempt; the last id is null the first time. */
  connect: (lastEventId: string | null, signal: AbortSignal) => Promise<Response>;
  /** Waited for before each attempt. When the turn is over, the stream is closed, and resumed in the next one. */
  takeTurn?: (signal: AbortSignal) => Promise<Turn>;
  onEvents: (events: StreamEvent[]) => void;
  /** Whether this event is the last one. Absent: it goes on for ever. */
  isLast?: (event: StreamEvent) => boolean;
  /** Called whenever the server has answered with a stream. */
  onOpen?: () => void;
  /** The last event of an earlier reading; this one continues after it. */
  lastEventId?: string | null;
  /** Called with the event after which the next reading begins. */
  onId?: (lastEventId: string) => void;
  /** The id that a comment tells, where its text is one. */
  idOfComment?: (comment: string) => string | null;
  /** Called when a connection is lost and another is about to be tried. */
  onInterrupted: () => void;
  signal: AbortSignal;
  /** Doubled by each failure in a row, up to LAST_RETRY_MS. */
  firstRetryMs?: number;
}

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;

/**
 * Reads until the last event, or until the server answers that there are no more (204), reconnecting from where it stopped:
 * nothing is lost or repeated.
 * @throws RefusedStream when the server refuses for good (4xx)
 */
export async function readEventStream(options: StreamOptions): Promise<void> {
  const { connect, takeTurn, onEvents, isLast, onOpen, onId, idOfComment, onInterrupted, signal } = options;
  const { firstRetryMs = FIRST_RETRY_MS } = options;
  let lastId = options.lastEventId ?? null;
  let retryMs = firstRetryMs;
  const reached = (id: string | null | undefined) => {
    if (!id) return;
    lastId = id;
    retryMs = firstRetryMs;
    onId?.(id);
  };
  while (!signal.aborted) {
    let turn: Turn | undefined;
    try {
      turn = await takeTurn?.(signal);
      const response = await connect(lastId, turn ? AbortSignal.any([signal, turn.signal]) : signal);
      if (response.status >= 400 && response.status < 500 && response.status !== 429)
        throw new RefusedStream(response.status);
      if (response.status === 204) return;
      if (response.ok && response.body) {
        onOpen?.();
        const parse = createEventParser((comment) => reached(idOfComment?.(comment)));
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          const events = parse(part.value);
          const last = events.at(-1);
          if (!last) continue;
          retryMs = firstRetryMs;
          onEvents(events);
          reached(last.id);
          if (isLast && events.some(isLast)) return;
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RefusedStream) throw error;
    } finally {
      turn?.end();
    }
    if (signal.aborted) return;
    if (turn?.signal.aborted) continue;
    onInterrupted();
    // Not all tabs at once after a server has gone.
    await pause(retryMs * (0.5 + Math.random() / 2), signal);
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }
}

export class RefusedStream extends Error {
  constructor(readonly status: number) {
    super(`the server refused the event stream (${status})`);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
