/**
 * `fetch` for the SDK's client, by packages/safe-fetch: each address is checked, and all requests of one exchange share
 * a time and a number of bytes. A stream is read to the answer of its request, since servers may leave it open.
 */
import { StringDecoder } from 'node:string_decoder';
import { OutboundError, type OutboundRequest, safeFetch, toPlainHeaders } from '@gantry/safe-fetch';
import type { FetchLike } from '@modelcontextprotocol/client';

export interface FetchBounds {
  timeoutMs: number;
  /** The bytes of all responses together. */
  bytesMax: number;
  /** Private networks that may be reached. */
  allow: string[];
}

export function createBoundedFetch({ timeoutMs, bytesMax, allow }: FetchBounds) {
  const endsAt = Date.now() + timeoutMs;
  let bytesLeft = bytesMax;
  let failed: unknown;
  const fetchBounded = async (url: URL | string, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET', body } = init;
    // The stream of unsolicited messages of a server, which are not used here.
    if (method === 'GET') return new Response(null, { status: 405 });
    if (typeof body !== 'string' && body !== undefined && body !== null) throw new TypeError('body must be text');
    const label = new URL(url).host;
    if (Date.now() >= endsAt) throw new OutboundError('timeout', `${label} did not respond within ${timeoutMs} ms`);
    const answer = await safeFetch(String(url), {
      method: method as NonNullable<OutboundRequest['method']>,
      headers: { ...toPlainHeaders(init.headers), 'accept-encoding': 'identity' },
      ...(body && { body, isEnough: createResponseEndDetector(body) }),
      timeoutMs: endsAt - Date.now(),
      responseBytesMax: bytesLeft,
      allow,
    });
    bytesLeft -= answer.body.byteLength;
    if (answer.truncated) throw new OutboundError('too_large', `${label} sent more than ${bytesMax} bytes`);
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined) headers.set(name, String(value));
    const hasBody = answer.body.byteLength > 0 && ![204, 205, 304].includes(answer.status);
    return new Response(hasBody ? new Uint8Array(answer.body) : null, { status: answer.status, headers });
  };
  const fetch: FetchLike = (url, init) =>
    fetchBounded(url, init).catch((err) => {
      failed ??= err;
      throw err;
    });
  /** The SDK wraps what a fetch throws: the first failure, as it was. */
  return { fetch, failure: () => failed };
}

/** @returns true once a piece ends the event that answers this request; JSON answers end by themselves */
function createResponseEndDetector(request: string): (piece: Buffer) => boolean {
  const { id } = JSON.parse(request) as { id?: unknown };
  const decoder = new StringDecoder('utf8');
  let line: string[] = [];
  let data: string[] = [];
  return (piece) => {
    if (id === undefined) return false;
    const [first = '', ...rest] = decoder.write(piece).split(/\r?\n/);
    line.push(first);
    for (const next of rest) {
      const text = line.join('');
      line = [next];
      if (text.startsWith('data:')) data.push(text.slice('data:'.length));
      else if (text === '') {
        const event = data.join('\n');
        data = [];
        if (event && isResponseTo(event, id)) return true;
      }
    }
    return false;
  };
}

function isResponseTo(event: string, id: unknown): boolean {
  try {
    const message = JSON.parse(event) as { id?: unknown; method?: unknown };
    return message.id === id && message.method === undefined;
  } catch {
    // The SDK will say so.
    return false;
  }
}
