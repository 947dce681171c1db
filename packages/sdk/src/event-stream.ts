/** Server-sent events over `fetch`: the browser's own EventSource can't send an Authorization header. */
import { createParser } from 'eventsource-parser';
import { ApiError, readApiError } from './api-error';
import { jitter, sleep } from './sleep';

export interface StreamEvent {
  id: string;
  event: string;
  data: string;
}

/** Parses the data of an event as a JSON object; anything else is an empty one. */
export function parseEventData({ data }: Pick<StreamEvent, 'data'>): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(data);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Returns the events that a chunk completes. One without an id of its own has the last id, as in the browser. */
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

/** A share of the connections that a host allows. */
export interface ConnectionSlot {
  /** Aborted when the stream has to give way. */
  signal: AbortSignal;
  end: () => void;
}

export interface StreamOptions {
  /** Called for each attempt; the last id is null the first time. */
  connect: (lastEventId: string | null, signal: AbortSignal) => Promise<Response>;
  /** Awaited before each attempt. When the turn is over, the stream is closed, and resumed in the next one. */
  takeTurn?: (signal: AbortSignal) => Promise<ConnectionSlot>;
  /** Whether this event is the last one. Absent: the stream has no end. */
  isLast?: (event: StreamEvent) => boolean;
  /** Called whenever the server has responded with a stream. */
  onOpen?: () => void;
  /** The last event of an earlier reading; this one continues after it. */
  lastEventId?: string | null;
  /** Called with the event after which the next reading begins. */
  onId?: (lastEventId: string) => void;
  /** The id that a comment holds, where its text is one. */
  parseCommentId?: (comment: string) => string | null;
  /** Called when a connection is lost and another is about to be tried. */
  onInterrupted: () => void;
  signal: AbortSignal;
  /** Doubled by each failure in a row, up to LAST_RETRY_MS. */
  firstRetryMs?: number;
  /** Failures in a row after which the last one is thrown. Absent: no limit. */
  retriesMax?: number;
}

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;

/**
 * Reads until the last event, or until the server responds that there are no more (204), reconnecting from where it
 * stopped: nothing is lost or repeated. Ends without an error when the signal is aborted.
 * @throws ApiError when the server refuses for good (4xx), or when `retriesMax` is reached
 */
export async function readEventStream(
  options: StreamOptions & { onEvents: (events: StreamEvent[]) => void },
): Promise<void> {
  for await (const events of readEventBatches(options)) options.onEvents(events);
}

/** The same as an iterator over the events that arrive together. */
export async function* readEventBatches(options: StreamOptions): AsyncGenerator<StreamEvent[], void, undefined> {
  const { takeTurn: acquireSlot, isLast, onId, onInterrupted, signal } = options;
  const { firstRetryMs = FIRST_RETRY_MS, retriesMax = Number.POSITIVE_INFINITY } = options;
  let lastId = options.lastEventId ?? null;
  let failures = 0;
  const advanceTo = (id: string | null | undefined) => {
    failures = 0;
    if (!id) return;
    lastId = id;
    onId?.(id);
  };
  while (!signal.aborted) {
    let slot: ConnectionSlot | undefined;
    let failure: unknown;
    try {
      slot = await acquireSlot?.(signal);
      const connection = slot ? AbortSignal.any([signal, slot.signal]) : signal;
      const body = await openStream(options, lastId, connection);
      if (!body) return;
      const parse = createEventParser((comment) => {
        const id = options.parseCommentId?.(comment);
        if (id) advanceTo(id);
      });
      for await (const chunk of readText(body)) {
        const events = parse(chunk);
        if (!events.length) continue;
        yield events;
        advanceTo(events.at(-1)?.id);
        if (isLast && events.some(isLast)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isPermanentError(error)) throw error;
      failure = error;
    } finally {
      slot?.end();
    }
    if (signal.aborted) return;
    if (slot?.signal.aborted) continue;
    failures += 1;
    if (failures > retriesMax) throw failure ?? new ApiError(0, 'unreachable', 'the stream was cut off', [], null);
    onInterrupted();
    await sleep(jitter(Math.min(firstRetryMs * 2 ** (failures - 1), LAST_RETRY_MS)), signal);
  }
}

/** @returns null where there are no more events. @throws ApiError for a response without a stream */
async function openStream(
  { connect, onOpen }: StreamOptions,
  lastEventId: string | null,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | null> {
  const response = await connect(lastEventId, signal);
  if (response.status === 204) return null;
  if (!response.ok || !response.body) throw await readApiError(response);
  onOpen?.();
  return response.body;
}

/** The text of a body as it arrives; a character that is cut in two comes with the second part. */
export async function* readText(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      yield decoder.decode(part.value, { stream: true });
    }
  } finally {
    // Closes the connection where the reader stops before its end.
    await reader.cancel().catch(() => {});
  }
}

const isPermanentError = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 'not_json' || (error.status >= 400 && error.status < 500 && error.status !== 429));
