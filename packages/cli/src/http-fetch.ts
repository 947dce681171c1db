/**
 * fetch over node:http. The first use of Node's own fetch, or of its Request, takes longer than everything else that a
 * short command does: it loads and compiles a client of its own.
 */
import type http from 'node:http';
import { type Body, Headers, Upload } from './http-messages';

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
  const body = (request as { body: unknown }).body as Body;
  const content = body instanceof Upload ? body.bytes : body;
  const headers: Record<string, string | number> =
    content === null ? {} : { 'content-length': Buffer.byteLength(content) };
  request.headers.forEach((value, name) => {
    headers[name] = value;
  });
  const { request: send } = (await (url.startsWith('https:') ? import('node:https') : import('node:http'))).default;
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
    if (body instanceof Upload) sendUpload(outgoing, body);
    else outgoing.end(content);
  });
  if (isRedirect(received)) {
    received.resume();
    // Which requests follow it, and with which headers, are rules that fetch has.
    return fetch(url, { method, headers: request.headers, body: content as never, signal });
  }
  return toResponse(received, request);
}

const CHUNK_BYTES = 64 * 1024;

/** Sends the next piece when the system has taken the one before; without a connection, `outgoing` reports the error. */
async function sendUpload(outgoing: http.ClientRequest, { bytes, onProgress }: Upload): Promise<void> {
  onProgress(0);
  for (let at = 0; at < bytes.length && !outgoing.destroyed; at += CHUNK_BYTES) {
    const piece = bytes.subarray(at, at + CHUNK_BYTES);
    await new Promise((resolve) => outgoing.write(piece, resolve));
    onProgress(at + piece.length);
  }
  outgoing.end();
}

const isRedirect = ({ statusCode: status = 0, headers }: http.IncomingMessage): boolean =>
  status >= 300 && status < 400 && headers.location !== undefined;

/** The parts of a Response that this program and the typed client use. */
function toResponse(received: http.IncomingMessage, { method, url }: Request): Response {
  const { statusCode: status = 0, statusMessage: statusText = '' } = received;
  const hasBody = method !== 'HEAD' && !BODYLESS_STATUSES.has(status);
  if (!hasBody) received.resume();
  const readBody = async () => {
    const chunks: Buffer[] = [];
    if (hasBody) for await (const chunk of received) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const text = async () => new TextDecoder().decode(await readBody());
  const response = {
    ...{ url, status, statusText, ok: status >= 200 && status < 300 },
    headers: toHeaders(received.rawHeaders),
    body: hasBody ? toBody(received) : null,
    text,
    json: async () => JSON.parse(await text()),
    arrayBuffer: async () => new Uint8Array(await readBody()).buffer,
  };
  return response as unknown as Response;
}

/** A stream with one reader. Node's conversion to a ReadableStream loads and compiles a library of streams. */
function toBody(received: http.IncomingMessage) {
  const cancel = async () => void received.destroy();
  return {
    cancel,
    getReader() {
      const chunks = received[Symbol.asyncIterator]();
      return { cancel, read: async () => ({ done: false, ...(await chunks.next()) }) };
    },
  };
}

function toHeaders(raw: string[]): Headers {
  const headers = new Headers();
  for (let index = 0; index < raw.length; index += 2) headers.append(raw[index] as string, raw[index + 1] as string);
  return headers;
}
