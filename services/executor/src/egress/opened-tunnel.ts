/**
 * A tunnel to a host of one of the run's credentials: TLS ends here, each request is checked and gets the values of the
 * credentials in place of their placeholders, and goes on over a verified connection. Answers are searched for the values.
 *
 * The value can reach nothing but the host of the tunnel: that is the name which the rules were asked about, whose
 * addresses were checked, which the certificate of the onward connection has to bear, and which every request has to name.
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type net from 'node:net';
import type { Duplex } from 'node:stream';
import type tls from 'node:tls';
import { answerRefused, relayAnswer } from './answers';
import type { Leaf } from './authority';
import type { Destination, Exchange } from './network-request';
import { httpFailure, onwardAgent } from './onward';
import { announcesBody, isSearchable, onwardHeaders, requireSameHost, SEARCHED_BODY_BYTES_MAX } from './opened-request';
import { type EgressCredential, type Substitution, substitutionOf } from './placeholders';
import type { Reflection } from './reflection';
import { FAILED, NOT_RECORDED, Refused } from './refused';
import { type AnswerTo, answerRecorded, mayWrite, requireRecord, unreadable } from './rehearsed-request';
import { relayWebSocket } from './web-socket';

const HANDSHAKE_MS = 10_000;
const HEAD_BYTES_MAX = 64 * 1024;
const IDLE_MS = 120_000;
const KEEP_ALIVE_MS = 60_000;
/** Answer to bytes that are no request which could be answered by itself. */
const NOT_UNDERSTOOD = 'HTTP/1.1 400 malformed\r\nconnection: close\r\n\r\n';

export interface Tunnel {
  host: string;
  port: number;
  /** Checked ones. */
  addresses: string[];
  /** Credentials that may go to this host. */
  credentials: EgressCredential[];
  reflection: Reflection;
  /** Rehearsals: requests that may write go no further. */
  answerTo?: AnswerTo | undefined;
  /** Path and query as answers are kept under; null: they are not kept. */
  keepAs(method: string, target: string): string | null;
  leaf: Leaf;
  onwardContext: tls.SecureContext;
  begin(destination: Destination): Exchange;
  spend(bytes: number): void;
  onSocket(socket: net.Socket): void;
}

/**
 * @param client has been told that its tunnel is open
 * @param opening reported only if the code does not complete its TLS handshake
 */
export function openTunnel(client: net.Socket, tunnel: Tunnel, opening: Exchange): void {
  const { host, port, leaf, credentials, answerTo } = tunnel;
  const agent = onwardAgent({ ...tunnel, context: tunnel.onwardContext });
  client.once('close', () => agent.destroy());
  const server = https.createServer({
    ...leaf,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    handshakeTimeout: HANDSHAKE_MS,
    maxHeaderSize: HEAD_BYTES_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    insecureHTTPParser: false,
  });
  // Longer than the host may take, so that its silence can still be answered.
  server.timeout = IDLE_MS + 10_000;
  server.on('tlsClientError', (err) => {
    const accepted = !/UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN/.test(String((err as { code?: string }).code));
    const why = accepted
      ? 'the code did not finish its TLS handshake'
      : 'the code does not trust the certificate of the egress proxy';
    opening.end(tunnel.answerTo ? unreadable(why) : new Refused(502, why, FAILED));
  });
  // From here on each request is reported by itself.
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
  const targetOf = (request: IncomingMessage) =>
    requireSameHost(request, host, port, (request.socket as tls.TLSSocket & { servername?: unknown }).servername);

  const exchangeOf = ({ method = '', url = '' }: IncomingMessage) =>
    tunnel.begin({ method: method.slice(0, 20), scheme: 'https', host, port, path: pathOf(url) });

  async function serve(request: IncomingMessage, response: ServerResponse, onContinue?: () => void) {
    const exchange = exchangeOf(request);
    response.once('close', () => exchange.end());
    let sendsBody = !onContinue;
    const goOn = () => {
      sendsBody = true;
      onContinue?.();
    };
    try {
      const target = targetOf(request);
      if (answerTo && mayWrite(request.method ?? '', Object.keys(request.headers))) {
        const asked = { method: request.method ?? '', scheme: 'https' as const, host, port, target };
        const record = requireRecord(answerTo, asked);
        goOn();
        await readOut(request);
        return answerRecorded(response, record, exchange);
      }
      exchange.keptAs = tunnel.keepAs(request.method ?? '', target);
      goOn();
      const substitution = substitutionOf(credentials);
      const body = credentials.some(({ inBody }) => inBody) && isSearchable(request) ? await collect(request) : null;
      const known = body?.complete ? substitution.body(body.bytes, request.headers['content-type'] ?? '') : undefined;
      const head = {
        method: request.method ?? 'GET',
        path: substitution.target(target),
        headers: onwardHeaders(request, substitution, known?.length),
      };
      exchange.credentials = substitution.used;
      const answer = await send(head, request, response, known ?? body?.bytes, exchange);
      await relayAnswer(answer, response, { ...tunnel, exchange });
      // An answer that came before the whole request: the rest of it is of no use.
      if (!request.complete) response.once('finish', () => request.socket.destroySoon());
    } catch (err) {
      if (sendsBody && !response.destroyed) await readOut(request);
      exchange.end(response.destroyed && !(err instanceof Refused) ? undefined : answerRefused(response, host, err));
      if (!response.destroyed) request.resume();
    }
  }

  /** Resolves with the answer's head. @param start of the body, if it was read already; the rest follows from the request */
  function send(
    head: { method: string; path: string; headers: string[] },
    request: IncomingMessage,
    response: ServerResponse,
    start: Buffer | undefined,
    exchange: Exchange,
  ): Promise<IncomingMessage> {
    const hasBody = start !== undefined || announcesBody(request);
    return new Promise((resolve, reject) => {
      let again = !hasBody;
      const attempt = () => {
        const onward = http.request({ agent, ...head, host, port });
        onward.setTimeout(IDLE_MS, () =>
          onward.destroy(new Refused(504, `it sent nothing for ${IDLE_MS / 1_000} s`, FAILED)),
        );
        onward.once('response', resolve);
        onward.on('error', (err) => {
          // The host may close a kept connection in the moment in which it is used.
          if (again && onward.reusedSocket && !(err instanceof Refused)) {
            again = false;
            return attempt();
          }
          reject(httpFailure(err));
        });
        response.once('close', () => {
          if (!response.writableFinished) onward.destroy();
        });
        if (start?.length) {
          exchange.bytesSent += start.length;
          tunnel.spend(start.length);
          onward.write(start);
        }
        if (!hasBody || request.readableEnded) return onward.end();
        request.on('data', ({ length }: Buffer) => {
          exchange.bytesSent += length;
          tunnel.spend(length);
        });
        request.pipe(onward);
      };
      attempt();
    });
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, early: Buffer) {
    const response = new http.ServerResponse(request);
    response.assignSocket(socket as net.Socket);
    response.shouldKeepAlive = false;
    const exchange = exchangeOf(request);
    socket.once('close', () => exchange.end());
    socket.on('error', () => socket.destroy());
    try {
      const target = targetOf(request);
      if (answerTo) throw new Refused(403, 'a rehearsal opens no WebSocket, since it may write', NOT_RECORDED);
      const substitution: Substitution = substitutionOf(credentials);
      const head = { method: request.method ?? 'GET', path: substitution.target(target) };
      const headers = onwardHeaders(request, substitution);
      exchange.credentials = substitution.used;
      await relayWebSocket(
        { agent, ...head, headers, host, port },
        { request, response, socket, early, exchange, ...tunnel },
      );
    } catch (err) {
      exchange.end(answerRefused(response, host, err));
      response.once('finish', () => (socket as net.Socket).destroySoon());
    }
  }

  server.emit('connection', client);
}

/** Reads the part of a body that is searched. The rest stays in the request, paused. */
function collect(request: IncomingMessage): Promise<{ bytes: Buffer; complete: boolean }> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const done = (complete: boolean) => {
      request.off('data', take).off('end', ended).off('error', reject);
      if (!complete) request.pause();
      resolve({ bytes: Buffer.concat(parts), complete });
    };
    const ended = () => done(true);
    const take = (part: Buffer) => {
      parts.push(part);
      length += part.length;
      if (length > SEARCHED_BODY_BYTES_MAX) done(false);
    };
    request.on('data', take).once('end', ended).once('error', reject);
  });
}

const pathOf = (url: string) => (url.startsWith('/') ? (url.split(/[?#]/, 1)[0] ?? null) : null);

const READ_OUT_MAX = { bytes: 1 << 20, ms: 2_000 };

/**
 * Reads a request to its end before it is answered: an answer that comes earlier is lost with the connection that it closes, when
 * the client still sends. Not for long, and not without end.
 */
function readOut(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let left = READ_OUT_MAX.bytes;
    const timer = setTimeout(resolve, READ_OUT_MAX.ms);
    const over = () => {
      clearTimeout(timer);
      resolve();
    };
    request.on('data', ({ length }: Buffer) => {
      left -= length;
      if (left < 0) over();
    });
    request.once('end', over).once('close', over);
  });
}
