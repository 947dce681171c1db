/**
 * fetch over node:http. The first call of Node's own fetch takes longer than everything else that a short command does:
 * it loads and compiles a client of its own.
 */
import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';

const BODYLESS_STATUSES = new Set([204, 205, 304]);

/** As long as Node's own fetch waits: a chat that is not streamed may take minutes. */
const RESPONSE_MS_MAX = 300_000;

/**
 * The returned function throws where the connection fails, nothing responds or the signal is aborted, also while the
 * body is read.
 * @param responseMsMax how long the server may take to respond, from the end of the request
 */
export const createHttpFetch = (responseMsMax: number) => (request: Request) => fetchOnce(request, responseMsMax);

export const fetchOverHttp = createHttpFetch(RESPONSE_MS_MAX);

async function fetchOnce(request: Request, responseMsMax: number): Promise<Response> {
  const { method, url, signal } = request;
  const body = request.body ? Buffer.from(await request.clone().arrayBuffer()) : null;
  const headers: Record<string, string> = body ? { 'content-length': String(body.length) } : {};
  request.headers.forEach((value, name) => {
    headers[name] = value;
  });
  const { request: send } = url.startsWith('https:') ? https : http;
  const received = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const outgoing = send(url, { method, headers, signal }, resolve);
    outgoing.on('error', reject);
    outgoing.on('finish', () => {
      const timer = setTimeout(
        () => outgoing.destroy(new Error(`no response after ${responseMsMax} ms`)),
        responseMsMax,
      );
      outgoing.on('response', () => clearTimeout(timer)).on('close', () => clearTimeout(timer));
    });
    outgoing.end(body);
  });
  const { statusCode: status = 0, statusMessage: statusText = '' } = received;
  if (status >= 300 && status < 400 && received.headers.location) {
    received.resume();
    // Which requests follow it, and with which headers, are rules that fetch has.
    return fetch(request);
  }
  const hasBody = method !== 'HEAD' && !BODYLESS_STATUSES.has(status);
  if (!hasBody) received.resume();
  const response = new Response(hasBody ? (Readable.toWeb(received) as ReadableStream) : null, {
    status,
    statusText,
    headers: toHeaders(received.rawHeaders),
  });
  // A Response that code constructs has no address.
  return Object.defineProperty(response, 'url', { value: url });
}

function toHeaders(raw: string[]): Headers {
  const headers = new Headers();
  for (let index = 0; index < raw.length; index += 2) headers.append(raw[index] as string, raw[index + 1] as string);
  return headers;
}
