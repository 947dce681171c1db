/** Verified TLS connections to the host of a tunnel: what proves who gets a credential. */
import http from 'node:http';
import type net from 'node:net';
import { isIP } from 'node:net';
import tls from 'node:tls';
import { connectTo } from './checked-connection';
import { codeOf, FAILED, Refused } from './refused';

const HANDSHAKE_MS = 10_000;
const INVALID_CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|INVALID_CA|CRL/;

/**
 * One connection at a time, kept for the next request of the same tunnel.
 * @param addresses checked ones
 */
export function onwardAgent(options: {
  host: string;
  port: number;
  addresses: string[];
  context: tls.SecureContext;
  /** For each connection, so that the end of the run ends it. */
  onSocket(socket: net.Socket): void;
}): http.Agent {
  const { host, port, addresses, context } = options;

  async function open(): Promise<net.Socket> {
    const socket = await connectTo(addresses, port);
    options.onSocket(socket);
    return secured(socket);
  }

  const secured = (socket: net.Socket) =>
    new Promise<net.Socket>((resolve, reject) => {
      const secure = tls.connect({
        ...{ socket, host, secureContext: context, ALPNProtocols: ['http/1.1'], minVersion: 'TLSv1.2' },
        ...(!isIP(host) && { servername: host }),
      });
      secure.on('error', () => secure.destroy());
      const timer = setTimeout(
        () => secure.destroy(new Refused(504, `its TLS handshake took over ${HANDSHAKE_MS / 1_000} s`, FAILED)),
        HANDSHAKE_MS,
      );
      const failed = (err?: unknown) => {
        clearTimeout(timer);
        secure.destroy();
        reject(tlsFailure(err));
      };
      secure.once('error', failed);
      secure.once('close', failed);
      secure.once('secureConnect', () => {
        clearTimeout(timer);
        secure.off('error', failed);
        secure.off('close', failed);
        resolve(secure);
      });
    });

  const agent = new http.Agent({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 });
  return Object.assign(agent, {
    createConnection(_: unknown, made: (err: Error | null, socket?: net.Socket) => void) {
      open().then(
        (socket) => made(null, socket),
        (err) => made(err),
      );
    },
  });
}

/** Failure of a request over such a connection. */
export const httpFailure = (err: unknown): Refused =>
  err instanceof Refused ? err : new Refused(502, `it did not answer in HTTP (${codeOf(err)})`, FAILED);

function tlsFailure(err: unknown): Refused {
  if (err instanceof Refused) return err;
  const code = err ? codeOf(err) : 'closed';
  return INVALID_CERTIFICATE.test(code)
    ? new Refused(502, `its certificate is not valid (${code})`, FAILED)
    : new Refused(502, `its TLS handshake failed (${code})`, FAILED);
}
