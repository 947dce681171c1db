/** Opens verified TLS connections to the host of a tunnel, which proves who receives a credential. */
import type net from 'node:net';
import { isIP } from 'node:net';
import tls from 'node:tls';
import { connectToFirst } from './checked-connection';
import { EgressRefusedError, FAILED, getErrorCode } from './egress-refused-error';

const HANDSHAKE_MS = 10_000;
const INVALID_CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|INVALID_CA|CRL/;

export interface UpstreamHost {
  host: string;
  port: number;
  /** Checked addresses. */
  addresses: string[];
  onwardContext: tls.SecureContext;
  /** For each connection, so that the end of the run ends it. */
  onSocket(socket: net.Socket): void;
}

/** @throws Refused */
export async function connectVerified(upstream: UpstreamHost): Promise<tls.TLSSocket> {
  const { host, onwardContext: secureContext } = upstream;
  const socket = await connectToFirst(upstream.addresses, upstream.port);
  upstream.onSocket(socket);
  return new Promise((resolve, reject) => {
    const secure = tls.connect({
      socket,
      host,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
      ...(!isIP(host) && { servername: host }),
    });
    secure.on('error', () => secure.destroy());
    const timer = setTimeout(
      () =>
        secure.destroy(
          new EgressRefusedError(504, `the TLS handshake took longer than ${HANDSHAKE_MS / 1_000} s`, FAILED),
        ),
      HANDSHAKE_MS,
    );
    const fail = (err?: unknown) => {
      clearTimeout(timer);
      secure.destroy();
      reject(toTlsError(err));
    };
    secure.once('error', fail);
    secure.once('close', fail);
    secure.once('secureConnect', () => {
      clearTimeout(timer);
      secure.off('error', fail);
      secure.off('close', fail);
      resolve(secure);
    });
  });
}

function toTlsError(err: unknown): EgressRefusedError {
  if (err instanceof EgressRefusedError) return err;
  const code = err ? getErrorCode(err) : 'closed';
  return INVALID_CERTIFICATE.test(code)
    ? new EgressRefusedError(502, `the certificate is not valid (${code})`, FAILED)
    : new EgressRefusedError(502, `the TLS handshake failed (${code})`, FAILED);
}
