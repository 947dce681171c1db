/**
 * The only network route out of a run: a CONNECT and absolute-form HTTP proxy behind a UNIX socket.
 *
 * A name is resolved once, every address it has is checked, and the connection goes to a checked address: a
 * second resolution could return another one. Redirects are followed by the client and arrive here as new requests. A run is
 * identified by the nonce that starts each connection, valid for the life of the run; all limits are per run.
 */
import { randomBytes } from 'node:crypto';
import dns from 'node:dns/promises';
import fs from 'node:fs';
import net, { isIP } from 'node:net';
import path from 'node:path';
import type { AddressPolicy } from '@gantry/safe-fetch';
import type { Logger } from 'pino';

const NONCE_CHARS = 32;
const HEAD_BYTES_MAX = 32 * 1024;
const HEAD_MS = 10_000;
const CONNECT_MS = 10_000;
const IDLE_MS = 120_000;
const CONNECTIONS_PER_RUN_MAX = 64;

export interface EgressPass {
  nonce: string;
  /** Also closes the run's connections. */
  revoke(): void;
}

export interface EgressRules {
  /** In both directions together. */
  bytesMax: number;
  /**
   * If given, only these origins, as `https://name:443`: a tunnel counts as https. Their addresses may be private, because
   * the operator chose them.
   */
  origins?: string[];
  onDenied?(target: string, reason: string): void;
}

export type EgressProxy = Awaited<ReturnType<typeof startEgressProxy>>;

interface Admitted {
  rules: EgressRules;
  bytesLeft: number;
  clients: number;
  /** Both sockets of each connection. */
  connections: Set<net.Socket>;
}

class Refused extends Error {
  constructor(
    readonly status: 400 | 403 | 429 | 502 | 504,
    message: string,
    readonly reason: string,
  ) {
    super(message);
  }
}

export async function startEgressProxy(options: {
  /** Contains the socket `s`; nothing else may be placed there, because runs can see it. */
  directory: string;
  policy: AddressPolicy;
  log: Logger;
  onDenied(reason: string): void;
}) {
  const admitted = new Map<string, Admitted>();
  const file = path.join(options.directory, 's');
  fs.rmSync(file, { force: true });
  const server = net.createServer((socket) => greet(socket));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(file, resolve));
  fs.chmodSync(file, 0o666); // any user that sees the directory may connect; the nonce authorises

  function greet(socket: net.Socket) {
    socket.on('error', () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), HEAD_MS);
    socket.once('close', () => clearTimeout(timer));
    let head = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      if (head.length < NONCE_CHARS) return;
      const run = admitted.get(head.toString('latin1', 0, NONCE_CHARS));
      if (!run) return socket.destroy();
      const end = head.indexOf('\r\n\r\n', NONCE_CHARS);
      if (end < 0) {
        if (head.length > HEAD_BYTES_MAX) socket.destroy();
        return;
      }
      socket.off('data', onData);
      socket.pause();
      clearTimeout(timer);
      serve(run, socket, head.toString('latin1', NONCE_CHARS, end), head.subarray(end + 4)).catch((err) =>
        refuse(run, socket, err),
      );
    };
    socket.on('data', onData);
  }

  function refuse(run: Admitted, socket: net.Socket, err: unknown) {
    const { status, message, reason } =
      err instanceof Refused ? err : new Refused(502, (err as Error).message, 'failed');
    if (status === 403) {
      options.onDenied(reason);
      run.rules.onDenied?.(message, reason);
    }
    const body = `${reason}: ${message}\n`;
    socket.end(
      `HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  }

  async function serve(run: Admitted, client: net.Socket, head: string, rest: Buffer) {
    if (run.clients >= CONNECTIONS_PER_RUN_MAX) throw new Refused(429, 'too many connections at once', 'limit');
    run.clients++;
    run.connections.add(client);
    client.once('close', () => {
      run.clients--;
      run.connections.delete(client);
    });
    const { host, port, forward } = parseHead(head);
    const target = await connectChecked(run, host, port, forward === undefined ? 'https' : 'http');
    run.connections.add(target);
    client.once('close', () => target.destroy());
    target.once('close', () => {
      run.connections.delete(target);
      client.end();
    });
    for (const socket of [client, target]) socket.setTimeout(IDLE_MS, () => socket.destroy());
    if (forward) target.write(forward, 'latin1');
    else client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (rest.length) target.write(rest);
    const count = (chunk: Buffer) => {
      run.bytesLeft -= chunk.length;
      if (run.bytesLeft < 0) for (const socket of run.connections) socket.destroy();
    };
    client.on('data', count);
    target.on('data', count);
    client.pipe(target);
    target.pipe(client);
  }

  async function connectChecked(run: Admitted, host: string, port: number, scheme: 'http' | 'https') {
    const { origins } = run.rules;
    const listed = origins?.includes(originText(scheme, host, port)) ?? false;
    if (origins && !listed) throw new Refused(403, `${host}:${port}`, 'not on the list of hosts');
    const addresses = isIP(host) ? [host] : await resolve(host);
    // One private address among public ones is a rebinding attack: all must be allowed.
    if (!listed && !addresses.every((address) => options.policy.isAllowed(address, port))) {
      throw new Refused(403, `${host}:${port}`, 'not a public address');
    }
    return connect(addresses, port);
  }

  return {
    admit(rules: EgressRules): EgressPass {
      const nonce = randomBytes(NONCE_CHARS / 2).toString('hex');
      const run: Admitted = { rules, bytesLeft: rules.bytesMax, clients: 0, connections: new Set() };
      admitted.set(nonce, run);
      return {
        nonce,
        revoke() {
          admitted.delete(nonce);
          for (const socket of run.connections) socket.destroy();
        },
      };
    },
    async stop() {
      for (const run of admitted.values()) for (const socket of run.connections) socket.destroy();
      admitted.clear();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const originText = (scheme: string, host: string, port: number | string) => `${scheme}://${host.toLowerCase()}:${port}`;

/** In the form of EgressRules, for an http or https URL. */
export function originOf(url: URL): string {
  const scheme = url.protocol.slice(0, -1);
  return originText(scheme, url.hostname.replace(/^\[|\]$/g, ''), url.port || (scheme === 'https' ? 443 : 80));
}

/** A client's request: a tunnel, or one plain request that is rewritten to origin form. */
function parseHead(head: string): { host: string; port: number; forward?: string } {
  const [requestLine = '', ...headers] = head.split('\r\n');
  const [method = '', target = '', version = ''] = requestLine.split(' ');
  if (!/^HTTP\/1\.[01]$/.test(version)) throw new Refused(400, 'not an HTTP proxy request', 'malformed');
  if (method === 'CONNECT') {
    const [, host, port] = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]\s]+):(\d{1,5})$/.exec(target) ?? [];
    if (!host || !(Number(port) > 0) || Number(port) > 65_535)
      throw new Refused(400, 'CONNECT needs host:port', 'malformed');
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  }
  const url = URL.canParse(target) ? new URL(target) : null;
  if (url?.protocol !== 'http:') throw new Refused(400, 'only absolute http:// addresses', 'malformed');
  const kept = headers.filter((header) => !/^(proxy-|connection:|keep-alive:)/i.test(header));
  // One request per connection: a second one could name another host after the first one's check.
  const forward = [`${method} ${url.pathname}${url.search} ${version}`, ...kept, 'connection: close', '', ''].join(
    '\r\n',
  );
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || 80, forward };
}

async function resolve(host: string): Promise<string[]> {
  try {
    return (await dns.lookup(host, { all: true })).map(({ address }) => address);
  } catch (err) {
    throw new Refused(502, `${host} can't be resolved (${(err as NodeJS.ErrnoException).code})`, 'failed');
  }
}

/** Connects to the first address that answers. */
async function connect(addresses: string[], port: number): Promise<net.Socket> {
  let last = new Refused(502, 'no address', 'failed');
  for (const host of addresses) {
    try {
      return await new Promise((resolve, reject) => {
        const socket = net.connect({ host, port });
        socket.setTimeout(CONNECT_MS, () =>
          socket.destroy(new Refused(504, `${host}:${port} does not answer`, 'failed')),
        );
        socket.once('error', reject);
        socket.once('connect', () => {
          socket.off('error', reject);
          socket.on('error', () => socket.destroy());
          socket.setTimeout(0);
          resolve(socket);
        });
      });
    } catch (err) {
      last = err instanceof Refused ? err : new Refused(502, `${host}:${port}: ${(err as Error).message}`, 'failed');
    }
  }
  throw last;
}
