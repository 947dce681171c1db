/**
 * Bounds the stream of a provider before the AI SDK sees it: the SDK holds what it is sent, compares each
 * call of a tool with the others, and works through all events of a piece in one turn. Every event is read, measured
 * and written anew, so that the SDK reads what was measured; a stream that is faster than any model is slowed down.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createEventMeter, createLimitExceededError, type EventSize } from './event-meter';
import { toWebStream } from './web-stream';

/** An event is a token or more, and an answer at most 400,000 characters. */
const EVENTS_MAX = 200_000;
/** Some providers send the arguments of a call at once. */
const EVENT_BYTES_MAX = 512 * 1024;
/** Bounds a response that is no stream: a refusal. */
const REFUSAL_BYTES_MAX = 256 * 1024;
const STREAM_BYTES_MAX = 64 << 20;
/** 3,200 events a second. The fastest models say 2,000 tokens in that time. */
const EVENTS_PER_TURN = 16;
const TURN_BYTES = 32 * 1024;
/** Arguments of tools that the SDK reads again take less time than bytes that it sees for the first time. */
const REREAD_PER_BYTE = 32;
const TURN_MS = 5;
const LINE_END = /\r\n|\n|\r/;

/**
 * @param send after the response has arrived, its signal is not relied on: `fetch` of Node.js 20 and 22 with
 *   `redirect: 'error'` no longer aborts a body once its request has been garbage-collected
 * @param isEventStream false: the provider's protocol is binary, and only bytes are counted
 */
export const createBoundedFetch =
  (send: typeof fetch, isEventStream: boolean): typeof fetch =>
  async (input, init) => {
    const response = await send(input, init);
    if (!response.body) return response;
    const { status, headers } = response;
    const reader = response.body.getReader();
    const cancel = () => void reader.cancel().catch(() => {});
    const bytesMax = response.ok ? STREAM_BYTES_MAX : REFUSAL_BYTES_MAX;
    const chunks = readChunks(reader, cancel, { bytesMax, signal: init?.signal });
    const bounded = response.ok && isEventStream ? readEvents(chunks) : chunks;
    return new Response(toWebStream(bounded, cancel), { status, headers });
  };

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function* readChunks(
  reader: Reader,
  cancel: () => void,
  { bytesMax, signal }: { bytesMax: number; signal: AbortSignal | null | undefined },
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  const pace = createThrottle();
  signal?.addEventListener('abort', cancel);
  try {
    signal?.throwIfAborted();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      bytes += next.value.length;
      if (bytes > bytesMax) throw createLimitExceededError(`more than ${bytesMax} bytes`);
      yield next.value;
      await pace(next.value.length);
    }
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}

async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const measure = createEventMeter();
  const pace = createThrottle();
  let count = 0;
  let data: string[] = [];
  let bytes = 0;
  for await (const line of readLines(chunks)) {
    bytes += line.length;
    if (bytes > EVENT_BYTES_MAX) throw createLimitExceededError(`an event larger than ${EVENT_BYTES_MAX} bytes`);
    if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    if (line !== '') continue;
    if (++count > EVENTS_MAX) throw createLimitExceededError(`more than ${EVENTS_MAX} events`);
    let cost: EventSize = { parts: 0, reread: 0 };
    if (data.length) {
      cost = measure(data.join('\n'));
      yield Buffer.from(`${data.map((one) => `data: ${one}`).join('\n')}\n\n`);
    }
    await pace(bytes + cost.reread / REREAD_PER_BYTE, 1 + cost.parts);
    data = [];
    bytes = 0;
  }
}

/** Without their ends. What follows the last end belongs to no event. */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun: string[] = [];
  let chars = 0;
  let carriage = '';
  for await (const piece of chunks) {
    const text = carriage + decoder.decode(piece, { stream: true });
    // The next piece may begin with the other half of a line's end.
    carriage = text.endsWith('\r') ? '\r' : '';
    const [first = '', ...others] = text.slice(0, text.length - carriage.length).split(LINE_END);
    begun.push(first);
    chars += first.length;
    if (chars > EVENT_BYTES_MAX) throw createLimitExceededError(`a line longer than ${EVENT_BYTES_MAX} bytes`);
    for (const next of others) {
      yield begun.join('');
      begun = [next];
      chars = next.length;
    }
  }
  if (carriage) yield begun.join('');
}

/** Others have their turn after so many events or bytes; no stream gets more than its share of them in a second. */
function createThrottle(): (bytes: number, count?: number) => Promise<void> {
  let events = 0;
  let size = 0;
  let begunAt = performance.now();
  return async (bytes, count = 1) => {
    events += count;
    size += bytes;
    if (events < EVENTS_PER_TURN && size < TURN_BYTES) return;
    const rest = TURN_MS - (performance.now() - begunAt);
    await sleep(Math.max(0, rest));
    events = 0;
    size = 0;
    begunAt = performance.now();
  };
}
