/**
 * Intercepts TLS in a tunnel to a host of one of the run's credentials: each request is checked, gets the values of the
 * credentials in place of their placeholders, and is sent over a verified connection. Responses are searched for
 * values.
 *
 * The value can reach only the host of the tunnel: the name that the rules were applied to, whose addresses were
 * checked, which the certificate of the upstream connection must have, and which every request must name.
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type net from 'node:net';
import type { Duplex } from 'node:stream';
import type tls from 'node:tls';
import type { Leaf } from './certificate-authority';
import { createSubstitution, type EgressCredential } from './credential-substitution';
import { EgressRefusedError, FAILED, NOT_RECORDED } from './egress-refused-error';
import { buildUpstreamHeaders, validateRequestTarget } from './intercepted-request';
import type { Destination, Exchange } from './network-request';
import {
  type FindRecordedResponse,
  getRecordedResponse,
  isWriteRequest,
  sendRecorded,
  toUnreadableTunnelError,
  type WriteCandidate,
} from './rehearsed-request';
import { relayResponse, sendRefusal } from './relay-response';
import { createBodyStream, drainRequest, hasBody, isSearchable, readSearchableBody } from './request-body';
import type { CreateRedaction, ResponseRedaction } from './response-redaction';
import { createUpstreamClient } from './upstream-client';
import { assertWebSocket, relayWebSocket } from './web-socket';

const HANDSHAKE_MS = 10_000;
const HEAD_BYTES_MAX = 64 * 1024;
const IDLE_MS = 120_000;
const KEEP_ALIVE_MS = 60_000;
/** Response to bytes that are not a valid request. */
const NOT_UNDERSTOOD = 'HTTP/1.1 400 malformed\r\nconnection: close\r\n\r\n';

export interface InterceptedTunnel {
  host: string;
  port: number;
  /** Checked addresses. */
  addresses: string[];
  /** Credentials that may go to this host. */
  credentials: EgressCredential[];
  openReflection: CreateRedaction;
  /** In rehearsals, returns the recorded response: requests that may write are not forwarded. */
  answerTo?: FindRecordedResponse | undefined;
  /** Whether no request is forwarded, reads included. */
  isSealed?: boolean | undefined;
  /** Returns the path and query under which the response is recorded; null: it is not recorded. */
  getRecordingTarget(request: WriteCandidate): string | null;
  leaf: Leaf;
  onwardContext: tls.SecureContext;
  startExchange(destination: Destination): Exchange;
  consumeBytes(bytes: number): void;
  onSocket(socket: net.Socket): void;
}

/**
 * @param client has received the response that its tunnel is open
 * @param opening reported only if the code does not complete its TLS handshake
 */
export function interceptTls(client: net.Socket, tunnel: InterceptedTunnel, opening: Exchange): void {
  const { host, port, leaf, credentials, answerTo, isSealed = false } = tunnel;
  const upstream = createUpstreamClient(tunnel);
  client.once('close', () => upstream.close());
  const server = https.createServer({
    ...leaf,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    handshakeTimeout: HANDSHAKE_MS,
    maxHeaderSize: HEAD_BYTES_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    insecureHTTPParser: false,
  });
  // Longer than the host's timeout, so that its expiry can still be reported to the client.
  server.timeout = IDLE_MS + 10_000;
  server.on('tlsClientError', (err) => {
    const accepted = !/UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN/.test(String((err as { code?: string }).code));
    const message = accepted
      ? 'the code did not complete the TLS handshake'
      : "the code does not trust the egress proxy's certificate";
    opening.end(tunnel.answerTo ? toUnreadableTunnelError(message) : new EgressRefusedError(502, message, FAILED));
  });
  // From here on each request is reported separately.
  server.on('secureConnection', () => opening.drop());
  server.on('clientError', (err: NodeJS.ErrnoException, socket: Duplex) => {
    if (err.code?.startsWith('HPE_') && socket.writable) socket.end(NOT_UNDERSTOOD);
    else socket.destroy();
  });
  server.on('request', (request, response) => void serve(request, response));
  server.on('checkContinue', (request, response) => void serve(request, response, () => response.writeContinue()));
  server.on('upgrade', (request, socket: Duplex, early: Buffer) => void upgrade(request, socket, early));
  server.on('connect', (_, socket: Duplex) => {
    socket.on('error', () => socket.destroy()).end(NOT_UNDERSTOOD);
  });

  /** @throws Refused */
  const getTarget = (request: IncomingMessage) =>
    validateRequestTarget(request, host, port, (request.socket as tls.TLSSocket & { servername?: unknown }).servername);

  const startRequestExchange = ({ method = '', url = '' }: IncomingMessage) =>
    tunnel.startExchange({ method: method.slice(0, 20), scheme: 'https', host, port, path: getPath(url) });

  const openResponseRedaction = (exchange: Exchange): ResponseRedaction =>
    tunnel.openReflection(() => {
      exchange.echoed++;
    });

  async function serve(request: IncomingMessage, response: ServerResponse, onContinue?: () => void) {
    const exchange = startRequestExchange(request);
    response.once('close', () => exchange.end());
    let sendsBody = !onContinue;
    const sendContinue = () => {
      if (sendsBody) return;
      sendsBody = true;
      onContinue?.();
    };
    try {
      const target = getTarget(request);
      const { method = '', headers } = request;
      const headCheck: WriteCandidate = {
        method,
        target,
        headers: Object.keys(headers),
        contentType: headers['content-type'],
      };
      const replay = async (find: FindRecordedResponse): Promise<void> => {
        const record = getRecordedResponse(find, { method, scheme: 'https', host, port, target }, isSealed);
        sendContinue();
        await drainRequest(request);
        sendRecorded(response, record, exchange);
      };
      const writesByHead = isWriteRequest(headCheck);
      if (answerTo && (isSealed || writesByHead)) return await replay(answerTo);
      sendContinue();
      const substitution = createSubstitution(credentials);
      const isCollected = (credentials.length > 0 || !writesByHead) && isSearchable(request);
      const body = isCollected ? await readSearchableBody(request) : null;
      const searchedBody = body?.complete ? body.bytes : null;
      const writeCheck: WriteCandidate = { ...headCheck, body: hasBody(request) ? searchedBody : undefined };
      if (answerTo && isWriteRequest(writeCheck)) return await replay(answerTo);
      exchange.keptAs = tunnel.getRecordingTarget(writeCheck);
      const known = body?.complete ? substitution.body(body.bytes, request.headers['content-type'] ?? '') : undefined;
      const head = {
        method: request.method ?? 'GET',
        target: substitution.target(target),
        headers: buildUpstreamHeaders(request, substitution),
      };
      exchange.credentials = substitution.used;
      const count = (bytes: number) => {
        exchange.bytesSent += bytes;
        tunnel.consumeBytes(bytes);
      };
      if (known) count(known.length);
      const sent = known ?? (hasBody(request) ? createBodyStream(request, body?.bytes ?? NOTHING, count) : undefined);
      const answer = await upstream.send({
        ...head,
        ...(sent && { body: sent }),
        signal: createDisconnectSignal(response),
      });
      await relayResponse(answer, response, {
        exchange,
        consumeBytes: tunnel.consumeBytes,
        reflection: openResponseRedaction(exchange),
      });
      // The response came before the whole request: the rest of the request is useless.
      if (!request.complete) response.once('finish', () => request.socket.destroySoon());
    } catch (err) {
      if (sendsBody && !response.destroyed) await drainRequest(request);
      exchange.end(
        response.destroyed && !(err instanceof EgressRefusedError) ? undefined : sendRefusal(response, host, err),
      );
      if (!response.destroyed) request.resume();
    }
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, early: Buffer) {
    const response = new http.ServerResponse(request);
    response.assignSocket(socket as net.Socket);
    response.shouldKeepAlive = false;
    const exchange = startRequestExchange(request);
    socket.once('close', () => exchange.end());
    socket.on('error', () => socket.destroy());
    try {
      const target = getTarget(request);
      if (answerTo)
        throw new EgressRefusedError(403, "a rehearsal can't open a WebSocket, which might write data", NOT_RECORDED);
      assertWebSocket(request);
      const substitution = createSubstitution(credentials);
      const head = {
        method: 'GET',
        target: substitution.target(target),
        headers: buildUpstreamHeaders(request, substitution),
      };
      exchange.credentials = substitution.used;
      const answer = await upstream.send({ ...head, isWebSocket: true, signal: createDisconnectSignal(response) });
      await relayWebSocket(answer, {
        response,
        socket,
        early,
        exchange,
        spend: tunnel.consumeBytes,
        reflection: openResponseRedaction(exchange),
      });
    } catch (err) {
      exchange.end(sendRefusal(response, host, err));
      response.once('finish', () => (socket as net.Socket).destroySoon());
    }
  }

  server.emit('connection', client);
}

/** Creates a signal that aborts if the code disconnects before its response is complete. */
function createDisconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

const NOTHING = Buffer.alloc(0);
const getPath = (url: string) => (url.startsWith('/') ? (url.split(/[?#]/, 1)[0] ?? null) : null);
