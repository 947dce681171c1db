/**
 * Sends requests to the host of an intercepted tunnel, written by undici from method, target, headers and body. No byte
 * of the run's own framing is in them: a length or chunks that the host could read otherwise than this proxy would be a
 * second request.
 */
import { type Duplex, Readable } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import { EgressRefusedError, FAILED, getErrorCode } from './egress-refused-error';
import { type Field, toFields } from './header-fields';
import { connectVerified, type UpstreamHost } from './upstream-tls';

const IDLE_MS = 120_000;
const HEAD_BYTES_MAX = 64 * 1024;
/** Safe to send again, as far as HTTP goes (RFC 9110, section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

export interface UpstreamRequest {
  method: string;
  /** In origin form. */
  target: string;
  /** Names and values in turn, without hop-by-hop fields and the length. */
  headers: string[];
  /** A stream has a length if the run announced one, otherwise it is sent in chunks. */
  body?: Buffer | { stream: Readable; length: number | undefined };
  isWebSocket?: boolean;
  signal: AbortSignal;
}

export interface UpstreamResponse {
  status: number;
  /** Latin1. */
  statusText: string;
  fields: Field[];
  body: Readable;
  /** After a 101. */
  socket?: Duplex;
}

/** Creates a client with one connection at a time, reused for the next request of the same tunnel. */
export function createUpstreamClient(host: UpstreamHost) {
  let connections = 0;
  const client = new Client(`https://${formatAuthority(host)}`, {
    pipelining: 1,
    maxHeaderSize: HEAD_BYTES_MAX,
    headersTimeout: IDLE_MS,
    bodyTimeout: IDLE_MS,
    connect(_, done) {
      connections++;
      connectVerified(host).then(
        (socket) => done(null, socket),
        (err) => done(err, null),
      );
    },
  });
  return {
    /** Resolves with the head of the answer. @throws Refused */
    async send(request: UpstreamRequest): Promise<UpstreamResponse> {
      const before = connections;
      try {
        return await dispatch(client, host, request);
      } catch (err) {
        // The host may close an idle connection just when it is reused.
        const canRetry = connections === before && before > 0 && !request.body && IDEMPOTENT.has(request.method);
        if (!canRetry || request.signal.aborted || !isConnectionClosed(err)) throw toUpstreamError(err);
      }
      return dispatch(client, host, request).catch((err) => {
        throw toUpstreamError(err);
      });
    },
    close: () => void client.destroy().catch(() => {}),
  };
}

function dispatch(client: Client, host: UpstreamHost, request: UpstreamRequest): Promise<UpstreamResponse> {
  const { method, target: path, body, signal, isWebSocket } = request;
  const headers = ['Host', formatAuthority(host), ...request.headers];
  if (body && !Buffer.isBuffer(body) && body.length !== undefined) headers.push('Content-Length', String(body.length));
  return new Promise((resolve, reject) => {
    let answer: Readable | undefined;
    let stop = () => {};
    const fail = (err: Error) => {
      signal.removeEventListener('abort', stop);
      if (answer) answer.destroy(err);
      else reject(err);
    };
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        stop = () => controller.abort(new Error('the code closed its connection'));
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
      },
      onRequestUpgrade({ rawHeaders }, status, _, socket) {
        signal.removeEventListener('abort', stop);
        const fields = toFields(rawHeaders as Buffer[]);
        resolve({ status, statusText: 'Switching Protocols', fields, body: Readable.from([]), socket });
      },
      onResponseStart(controller, status, _, statusText = '') {
        if (status < 200) return;
        answer = new Readable({ read: () => controller.resume() });
        // A later reader notices the error by the destroyed stream.
        answer.on('error', () => {}).once('close', () => answer?.readableEnded || stop());
        const fields = toFields(controller.rawHeaders as Buffer[]);
        resolve({ status, statusText: Buffer.from(statusText).toString('latin1'), fields, body: answer });
      },
      onResponseData(controller, chunk) {
        if (!answer?.push(chunk)) controller.pause();
      },
      onResponseEnd() {
        signal.removeEventListener('abort', stop);
        answer?.push(null);
      },
      onResponseError: (_, err) => fail(err),
    };
    const sent = body && !Buffer.isBuffer(body) ? body.stream : (body ?? null);
    client.dispatch({ path, method, headers, body: sent, ...(isWebSocket && { upgrade: 'websocket' }) }, handler);
  });
}

const formatAuthority = ({ host, port }: UpstreamHost): string => {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 443 ? name : `${name}:${port}`;
};

const isConnectionClosed = (err: unknown): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(getErrorCode(err));

export function toUpstreamError(err: unknown): EgressRefusedError {
  if (err instanceof EgressRefusedError) return err;
  const code = getErrorCode(err);
  return /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(code)
    ? new EgressRefusedError(504, `it sent nothing for ${IDLE_MS / 1_000} s`, FAILED)
    : new EgressRefusedError(502, `it did not send a valid HTTP response (${code})`, FAILED);
}
