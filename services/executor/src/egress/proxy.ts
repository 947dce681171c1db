/**
 * The only network route out of a run: a CONNECT and absolute-form HTTP proxy behind a UNIX socket.
 *
 * A name is resolved once, every address it has is checked, and the connection goes to a checked address: a second
 * resolution could return another one. Redirects are followed by the client and arrive here as new requests. A run is
 * identified by the nonce that starts each connection, valid for the life of the run; all limits are per run.
 *
 * Tunnels are forwarded unchanged, except those to a host of one of the run's credentials: see intercept-tls.ts.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { type AddressPolicy, matchesHost } from '@gantry/safe-fetch';
import type { Logger } from 'pino';
import { listenInDirectory } from '../host/listen-in-directory';
import { loadTrustedCertificates } from '../host/machine-certificates';
import type { CertificateAuthority } from './certificate-authority';
import { connectToFirst, resolveAddresses } from './checked-connection';
import { type EgressCredential, replacePlaceholdersByNames } from './credential-substitution';
import { buildRefusalHeaders, EgressRefusedError, LIMIT, toRefusal } from './egress-refused-error';
import { type InterceptedTunnel, interceptTls } from './intercept-tls';
import { type Exchange, type NetworkRequest, startExchange } from './network-request';
import {
  assertBodylessHead,
  buildPlainResponse,
  type FindRecordedResponse,
  getRecordedResponse,
  isWriteRequest,
  parseFieldName,
  type WriteCandidate,
} from './rehearsed-request';
import { type PlainRequest, parseHead, type RequestHead } from './request-head';
import { capturePlainResponse } from './response-capture';
import { type CreateRedaction, createResponseRedaction } from './response-redaction';

const SOCKET = 's';
const NONCE_CHARS = 32;
const HEAD_BYTES_MAX = 32 * 1024;
const HEAD_MS = 10_000;
const IDLE_MS = 120_000;
const CONNECTIONS_PER_RUN_MAX = 64;

export interface EgressRules {
  /** In both directions together. */
  bytesMax: number;
  /**
   * If given, only these origins, as `https://name:443`: a tunnel counts as https. Their addresses may be private,
   * because the operator chose them.
   */
  origins?: string[] | undefined;
  /** If given, only hosts that match one of these patterns. */
  allowedHosts?: string[] | undefined;
  /** Replace their placeholders in requests over TLS to their hosts. */
  credentials?: EgressCredential[] | undefined;
  onRequest?(request: NetworkRequest): void;
  /**
   * Rehearsals: requests that may write get recorded responses or none; tunnels that can't be intercepted are refused.
   */
  answerTo?: FindRecordedResponse | undefined;
  /** Whether no request of a rehearsal is forwarded, reads included: no name is resolved, and no host connected to. */
  isSealed?: boolean | undefined;
  /** Whether responses to requests that may write are reported with them, as far as they can be read. */
  keepsAnswers?: boolean | undefined;
}

export type EgressProxy = Awaited<ReturnType<typeof startEgressProxy>>;

interface AdmittedRun {
  rules: EgressRules;
  bytesLeft: number;
  clients: number;
  /** Both sockets of each connection. */
  connections: Set<net.Socket>;
  exchanges: Set<Exchange>;
  openReflection: CreateRedaction;
}

export async function startEgressProxy(options: {
  /** Contains the socket `s`; nothing else may be placed there, because runs can see it. */
  directory: string;
  policy: AddressPolicy;
  authority: CertificateAuthority;
  log: Logger;
  onDenied(reason: string): void;
}) {
  let onwardContext: SecureContext | undefined;
  const admittedRuns = new Map<string, AdmittedRun>();
  const file = path.join(options.directory, SOCKET);
  fs.rmSync(file, { force: true });
  const server = net.createServer((socket) => authenticate(socket));
  await listenInDirectory(server, options.directory, SOCKET);
  fs.chmodSync(file, 0o666); // any user that sees the directory may connect; the nonce authorises

  function authenticate(socket: net.Socket) {
    socket.on('error', () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), HEAD_MS);
    socket.once('close', () => clearTimeout(timer));
    let head = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      if (head.length < NONCE_CHARS) return;
      const run = admittedRuns.get(head.toString('latin1', 0, NONCE_CHARS));
      if (!run) return socket.destroy();
      const end = head.indexOf('\r\n\r\n', NONCE_CHARS);
      if (end < 0) {
        if (head.length > HEAD_BYTES_MAX) socket.destroy();
        return;
      }
      socket.off('data', onData);
      socket.pause();
      clearTimeout(timer);
      serveRequest(run, socket, head.toString('latin1', NONCE_CHARS, end), head.subarray(end + 4)).catch((err) =>
        rejectConnection(socket, toRefusal(err)),
      );
    };
    socket.on('data', onData);
  }

  function rejectConnection(socket: net.Socket, refusal: EgressRefusedError) {
    const { status, message, reason } = refusal;
    if (status === 403) options.onDenied(reason);
    const body = `${message}\n`;
    const lines = Object.entries(buildRefusalHeaders(refusal))
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    socket.end(
      `HTTP/1.1 ${status} ${reason}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n${lines}\r\n${body}`,
    );
  }

  async function serveRequest(run: AdmittedRun, client: net.Socket, text: string, rest: Buffer) {
    const head = parseHead(text);
    const exchange = startRequestExchange(run, head);
    try {
      admitConnection(run, client);
      const addresses = await resolveAllowed(run.rules, head);
      const credentials = listCredentialsFor(run.rules, head);
      const { answerTo } = run.rules;
      if (head.plain && answerTo) {
        return await serveRecordedResponse(run, client, { ...head, plain: head.plain, addresses }, answerTo, exchange);
      }
      if (credentials.length || answerTo) {
        return await interceptTunnel(run, client, { ...head, addresses, credentials }, rest, exchange);
      }
      const target = await connectToFirst(addresses, head.port);
      pipeSockets(run, client, target, exchange);
      if (head.plain) target.write(head.plain.forward, 'latin1');
      else client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (rest.length) client.unshift(rest);
      if (head.plain) {
        exchange.keptAs = getRecordingTarget(run.rules, toWriteCandidate(head.plain));
        captureStatus(target, exchange);
        if (exchange.keptAs !== null) capturePlainResponse(target, exchange);
      }
      client.pipe(target);
      target.pipe(client);
    } catch (err) {
      exchange.end(toRefusal(err));
      throw err;
    }
  }

  /** Forwards only the head of the client's request, so that no second request can follow. */
  async function serveRecordedResponse(
    run: AdmittedRun,
    client: net.Socket,
    { host, port, plain, addresses }: RequestHead & { plain: PlainRequest; addresses: string[] },
    findRecordedResponse: FindRecordedResponse,
    exchange: Exchange,
  ) {
    const { isSealed } = run.rules;
    if (isSealed || isWriteRequest(toWriteCandidate(plain))) {
      const { method, target } = plain;
      const record = getRecordedResponse(
        findRecordedResponse,
        { method, scheme: 'http', host, port, target },
        isSealed,
      );
      exchange.status = record.status;
      exchange.recorded = record.id;
      client.resume();
      client.end(buildPlainResponse(record));
      return exchange.end();
    }
    assertBodylessHead(plain.headers);
    const target = await connectToFirst(addresses, port);
    pipeSockets(run, client, target, exchange);
    captureStatus(target, exchange);
    target.write(plain.forward, 'latin1');
    client.resume();
    target.pipe(client);
  }

  async function interceptTunnel(
    run: AdmittedRun,
    client: net.Socket,
    to: Pick<InterceptedTunnel, 'host' | 'port' | 'addresses' | 'credentials'>,
    rest: Buffer,
    exchange: Exchange,
  ) {
    const leaf = await options.authority.getLeaf(to.host);
    const upstreamSockets = new Set<net.Socket>();
    onwardContext ??= createSecureContext({ ca: loadTrustedCertificates() });
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (rest.length) client.unshift(rest);
    const tunnel: InterceptedTunnel = {
      ...to,
      leaf,
      onwardContext,
      openReflection: run.openReflection,
      answerTo: run.rules.answerTo,
      isSealed: run.rules.isSealed,
      getRecordingTarget: (request) => getRecordingTarget(run.rules, request),
      startExchange: (destination) =>
        startExchange(destination, run.exchanges, (request) => run.rules.onRequest?.(request)),
      consumeBytes: (bytes) => consumeBytes(run, bytes),
      onSocket(socket) {
        if (client.destroyed) return socket.destroy();
        upstreamSockets.add(socket);
        run.connections.add(socket);
        socket.once('close', () => {
          upstreamSockets.delete(socket);
          run.connections.delete(socket);
        });
      },
    };
    client.once('close', () => {
      exchange.end();
      for (const socket of upstreamSockets) socket.destroy();
    });
    if (client.destroyed) return exchange.end();
    interceptTls(client, tunnel, exchange);
  }

  const startRequestExchange = (run: AdmittedRun, { host, port, plain }: RequestHead) => {
    const { method, path } = plain ?? { method: null, path: null };
    const destination = { method, scheme: plain ? 'http' : 'https', host, port, path } as const;
    return startExchange(destination, run.exchanges, (request) => run.rules.onRequest?.(request));
  };

  function admitConnection(run: AdmittedRun, client: net.Socket) {
    if (run.clients >= CONNECTIONS_PER_RUN_MAX) {
      throw new EgressRefusedError(429, `the run already has ${CONNECTIONS_PER_RUN_MAX} connections`, LIMIT);
    }
    run.clients++;
    run.connections.add(client);
    client.once('close', () => {
      run.clients--;
      run.connections.delete(client);
    });
  }

  /** Ends each socket with the other, and counts their bytes. */
  function pipeSockets(run: AdmittedRun, client: net.Socket, target: net.Socket, exchange: Exchange) {
    run.connections.add(target);
    client.once('close', () => target.destroy());
    target.once('close', () => {
      run.connections.delete(target);
      client.end();
      exchange.end();
    });
    for (const socket of [client, target]) socket.setTimeout(IDLE_MS, () => socket.destroy());
    client.on('data', ({ length }: Buffer) => {
      exchange.bytesSent += length;
      consumeBytes(run, length);
    });
    target.on('data', ({ length }: Buffer) => {
      exchange.bytesReceived += length;
      consumeBytes(run, length);
    });
  }

  function consumeBytes(run: AdmittedRun, bytes: number) {
    run.bytesLeft -= bytes;
    if (run.bytesLeft < 0) for (const socket of run.connections) socket.destroy();
  }

  async function resolveAllowed(rules: EgressRules, head: RequestHead): Promise<string[]> {
    const { host, port, plain } = head;
    const scheme = plain ? 'http' : 'https';
    if (rules.origins) {
      if (rules.origins.includes(formatOrigin(scheme, host, port))) return resolveAddresses(host, port);
      throw new EgressRefusedError(403, 'it is not on the list of allowed hosts', 'not on the list of allowed hosts');
    }
    assertHostAllowed(rules, head);
    return rules.isSealed ? [] : resolveAddresses(host, port, options.policy);
  }

  function endRun(run: AdmittedRun) {
    for (const exchange of run.exchanges) exchange.end();
    for (const socket of run.connections) socket.destroy();
  }

  return {
    admit(input: EgressRules) {
      const rules = { ...input, answerTo: createNormalizedResponder(input) };
      const nonce = randomBytes(NONCE_CHARS / 2).toString('hex');
      const run: AdmittedRun = {
        rules,
        bytesLeft: rules.bytesMax,
        clients: 0,
        connections: new Set<net.Socket>(),
        exchanges: new Set<Exchange>(),
        openReflection: createResponseRedaction(rules.credentials ?? []),
      };
      admittedRuns.set(nonce, run);
      return {
        nonce,
        /** Revokes the pass, closes the run's connections, and reports exchanges in progress. */
        revoke() {
          if (admittedRuns.delete(nonce)) endRun(run);
        },
      };
    },
    async stop() {
      for (const run of admittedRuns.values()) endRun(run);
      admittedRuns.clear();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @throws Refused for a host that is not allowed */
function assertHostAllowed(rules: EgressRules, head: RequestHead) {
  const { allowedHosts } = rules;
  if (!allowedHosts || allowedHosts.some((pattern) => matchesPattern(pattern, head))) return;
  const unusable = listCredentialsFor(rules, head).map(({ name }) => name);
  const consequence = unusable.length ? `, so ${unusable.join(', ')} can't be used there` : '';
  throw new EgressRefusedError(403, `it is not in this worker's network.allow${consequence}`, 'not in network.allow');
}

/** Lists a host's credentials; requests without TLS get none. */
const listCredentialsFor = ({ credentials = [] }: EgressRules, head: RequestHead): EgressCredential[] =>
  head.plain ? [] : credentials.filter(({ hosts }) => hosts.some((pattern) => matchesPattern(pattern, head)));

const matchesPattern = (pattern: string, { host, port, plain }: RequestHead) =>
  matchesHost(pattern, host, port, plain ? 80 : 443);

const formatOrigin = (scheme: string, host: string, port: number | string) =>
  `${scheme}://${host.toLowerCase()}:${port}`;

/** Formats the origin of an http or https URL as in EgressRules. */
export function toOrigin(url: URL): string {
  const scheme = url.protocol.slice(0, -1);
  return formatOrigin(scheme, url.hostname.replace(/^\[|\]$/g, ''), url.port || (scheme === 'https' ? 443 : 80));
}

/** Replaces placeholders, which differ in each run, by names. */
const normalizeTarget = (target: string, { credentials = [] }: EgressRules): string =>
  replacePlaceholdersByNames(target, credentials);

const toWriteCandidate = ({ method, target, headers }: PlainRequest): WriteCandidate => ({
  method,
  target,
  headers: headers.map(parseFieldName),
});

const getRecordingTarget = (rules: EgressRules, request: WriteCandidate): string | null =>
  rules.keepsAnswers && isWriteRequest(request) ? normalizeTarget(request.target, rules) : null;

function createNormalizedResponder(rules: EgressRules): FindRecordedResponse | undefined {
  const { answerTo } = rules;
  return answerTo && ((request) => answerTo({ ...request, target: normalizeTarget(request.target, rules) }));
}

function captureStatus(target: net.Socket, exchange: Exchange): void {
  target.once('data', (chunk: Buffer) => {
    exchange.status = parseStatus(chunk);
  });
}

const parseStatus = (chunk: Buffer): number | null =>
  Number(/^HTTP\/1\.[01] (\d{3})/.exec(chunk.toString('latin1', 0, 12))?.[1]) || null;
