/**
 * Requests to user-supplied URLs. Destinations are checked by address: a name is resolved once, every address it has is
 * checked, and the connection goes to a checked address, since a second resolution could return another one. Redirects
 * are returned, not followed: following one would need the same checks, and the owner of the URL should learn that the
 * receiver has moved.
 */
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import { Readable } from 'node:stream';
import { createAddressPolicy } from './address-check';
import { OutboundError } from './outbound-error';
import { assertAllowedAddresses, listLiteralAddresses, type OutboundTarget, parseTarget } from './outbound-url';
import { resolveName } from './resolve-name';

const ADDRESSES_MAX = 16;
const HEADERS_BYTES_MAX = 16 * 1024;
/** Time limit for each of several addresses before the next is tried; the last one has the remaining time. */
const ATTEMPT_MS = 1000;
/** Headers that decide where a message ends and which host it is for. */
const OUR_HEADERS =
  /^(host|connection|content-length|transfer-encoding|expect|upgrade|te|trailer|keep-alive|proxy-.*)$/i;

export interface OutboundRequest {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Framing headers (Host, Content-Length, Connection ...) are set by safeFetch and dropped from here. */
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** For the whole exchange: resolving, connecting, TLS, the response to its last byte. */
  timeoutMs: number;
  responseBytesMax: number;
  /** Called with every piece of the body; true ends the exchange there, for streams whose sender leaves them open. */
  isEnough?(piece: Buffer): boolean;
  /** Exceptions as in `outboundAllowList`. */
  allow?: string[];
  /** Every address of a name; throws if there is none. Called once. */
  resolve?(name: string, signal: AbortSignal): Promise<string[]>;
}

export interface OutboundResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** As received, compressed or not; at most `responseBytesMax`. */
  body: Buffer;
  /** The response exceeded `responseBytesMax`; the rest was not read. */
  truncated: boolean;
  durationMs: number;
}

export interface OutboundStream extends Pick<OutboundResponse, 'status' | 'headers'> {
  /**
   * As received, compressed or not. It fails with OutboundError when the connection does, or after
   * `responseBytesMax`.
   */
  body: Readable;
}

/**
 * As safeFetch, for an answer that is read while it comes. It lasts until its end, or until the signal aborts, which
 * the caller bounds: there is no time limit here.
 * @throws OutboundError; the reason of the signal
 */
export async function safeFetchStream(
  url: string,
  { signal, ...request }: Omit<OutboundRequest, 'timeoutMs' | 'isEnough'> & { signal: AbortSignal },
): Promise<OutboundStream> {
  const target = parseTarget(url);
  try {
    const addresses = await resolveAllowedAddresses(target, request, signal);
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      sendRequest(target, addresses, request, signal, { answered: resolve, failed: reject });
    });
    const { statusCode: status = 0, headers } = response;
    const body = Readable.from(readChunks(target, response, request.responseBytesMax, signal), { objectMode: false });
    // Also of an unread body.
    body.once('close', () => response.destroy());
    return { status, headers, body };
  } catch (err) {
    signal.throwIfAborted();
    throw err;
  }
}

async function* readChunks(
  target: OutboundTarget,
  response: http.IncomingMessage,
  bytesMax: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const piece of response) {
      bytes += piece.length;
      if (bytes > bytesMax) {
        throw new OutboundError('too_large', `${target.label} responded with more than ${bytesMax} bytes`);
      }
      yield piece;
    }
  } catch (err) {
    signal.throwIfAborted();
    throw err instanceof OutboundError ? err : toOutboundError(target, 'answer', err as Error);
  }
}

/**
 * One request over a dedicated connection, closed when this returns. Any status is a response, 3xx and 5xx too.
 * Throws OutboundError if there is none, and a TypeError for an invalid header.
 */
export async function safeFetch(url: string, request: OutboundRequest): Promise<OutboundResponse> {
  const startedAt = performance.now();
  const target = parseTarget(url);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), request.timeoutMs);
  try {
    const addresses = await resolveAllowedAddresses(target, request, deadline.signal);
    const response = await exchange(target, addresses, request, deadline.signal);
    return { ...response, durationMs: Math.round(performance.now() - startedAt) };
  } catch (err) {
    if (!deadline.signal.aborted) throw err;
    throw new OutboundError('timeout', `${target.label} did not respond within ${request.timeoutMs} ms`, err);
  } finally {
    clearTimeout(timer);
  }
}

async function resolveAllowedAddresses(
  target: OutboundTarget,
  { allow, resolve = resolveName }: Pick<OutboundRequest, 'allow' | 'resolve'>,
  signal: AbortSignal,
): Promise<string[]> {
  const found = listLiteralAddresses(target.host) ?? (await resolveHost(target, () => resolve(target.host, signal)));
  const addresses = found.slice(0, ADDRESSES_MAX);
  assertAllowedAddresses(target, addresses, createAddressPolicy(allow));
  return addresses;
}

async function resolveHost({ host }: OutboundTarget, resolve: () => Promise<string[]>): Promise<string[]> {
  const found = await resolve().catch((err: NodeJS.ErrnoException) => {
    throw new OutboundError('dns', `${host} can't be resolved${err.code ? ` (${err.code})` : ''}`, err);
  });
  if (found.length === 0) throw new OutboundError('dns', `${host} has no address`);
  return found;
}

function exchange(
  target: OutboundTarget,
  addresses: string[],
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<Omit<OutboundResponse, 'durationMs'>> {
  const { responseBytesMax, isEnough } = request;
  return new Promise((resolve, reject) => {
    const handleResponse = (response: http.IncomingMessage, clientRequest: http.ClientRequest) => {
      const { statusCode: status = 0, headers } = response;
      const chunks: Buffer[] = [];
      let bytesLeft = responseBytesMax;
      const finish = (truncated: boolean) => {
        resolve({ status, headers, body: Buffer.concat(chunks), truncated });
        // Otherwise the socket waits until the peer has read the whole request, which may never happen.
        clientRequest.destroy();
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk.subarray(0, bytesLeft));
        bytesLeft -= chunk.length;
        if (bytesLeft < 0) finish(true);
        else if (isEnough?.(chunk)) finish(false);
      });
      response.on('end', () => finish(false));
      response.on('error', (err) => reject(toOutboundError(target, 'answer', err)));
    };
    sendRequest(target, addresses, request, signal, { answered: handleResponse, failed: reject });
  });
}

interface ResponseHandlers {
  /** Its head has come. Nothing of the body is lost to listeners that are added at once. */
  answered(response: http.IncomingMessage, clientRequest: http.ClientRequest): void;
  /** Also after the head, and once it is over. */
  failed(err: OutboundError): void;
}

function sendRequest(
  target: OutboundTarget,
  addresses: string[],
  { method = 'GET', headers = {}, body }: Pick<OutboundRequest, 'method' | 'headers' | 'body'>,
  signal: AbortSignal,
  { answered, failed }: ResponseHandlers,
): void {
  const secure = target.url.protocol === 'https:';
  const options: https.RequestOptions & { autoSelectFamilyAttemptTimeout: number } = {
    method,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OUR_HEADERS.test(name))),
    lookup: createLookup(addresses),
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    agent: false, // no pool: the connection ends with the exchange
    rejectUnauthorized: true,
    maxHeaderSize: HEADERS_BYTES_MAX,
    signal,
  };
  let phase: Phase = 'connect';
  const request = (secure ? https : http).request(target.url, options);
  const fail = (err?: Error) => failed(toOutboundError(target, phase, err));
  request.on('socket', (socket) => {
    socket.once('connect', () => {
      phase = secure ? 'tls' : 'answer';
    });
    socket.once('secureConnect', () => {
      phase = 'answer';
    });
  });
  request.on('response', (response) => answered(response, request));
  request.on('error', fail);
  // Also for statuses without a response, such as 101: they emit neither `response` nor `error`.
  request.on('close', () => fail());
  request.end(body);
}

/** Replaces the resolver, so that the connection goes to a checked address. */
function createLookup(addresses: string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_, options, callback) => {
    if (options.all) return callback(null, entries);
    callback(null, entries[0]?.address ?? '', entries[0]?.family);
  };
}

type Phase = 'connect' | 'tls' | 'answer';

/** The error's own message contains the address, so only its code is shown. */
function toOutboundError({ label }: OutboundTarget, phase: Phase, err?: Error): OutboundError {
  const { code } = (err ?? {}) as NodeJS.ErrnoException;
  const reason = code ? ` (${code})` : '';
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new OutboundError(
      'too_large',
      `${label} responded with more than ${HEADERS_BYTES_MAX} bytes of headers`,
      err,
    );
  }
  if (phase === 'connect') return new OutboundError('connect', `${label} can't be reached${reason}`, err);
  if (phase === 'tls') return new OutboundError('tls', `${label} failed TLS verification${reason}`, err);
  return new OutboundError('connect', `${label} did not send a complete HTTP response${reason}`, err);
}
