/** Opens verified TLS connections to the host of a tunnel, which proves who receives a credential. */
import type net from 'node:net';
import { isIP } from 'node:net';
import tls from 'node:tls';
import { connectTo } from './checked-connection';
import { codeOf, FAILED, Refused } from './refused';

const HANDSHAKE_MS = 10_000;
const INVALID_CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|INVALID_CA|CRL/;

export interface OnwardHost {
  host: string;
  port: number;
  /** Checked addresses. */
  addresses: string[];
  onwardContext: tls.SecureContext;
  /** For each connection, so that the end of the run ends it. */
  onSocket(socket: net.Socket): void;
}

/** @throws Refused */
export async function connectVerified(to: OnwardHost): Promise<tls.TLSSocket> {
  const { host, onwardContext: secureContext } = to;
  const socket = await connectTo(to.addresses, to.port);
  to.onSocket(socket);
  return new Promise((resolve, reject) => {
    const secure = tls.connect({
      ...{ socket, host, secureContext, ALPNProtocols: ['http/1.1'], minVersion: 'TLSv1.2' },
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
}

function tlsFailure(err: unknown): Refused {
  if (err instanceof Refused) return err;
  const code = err ? codeOf(err) : 'closed';
  return INVALID_CERTIFICATE.test(code)
    ? new Refused(502, `its certificate is not valid (${code})`, FAILED)
    : new Refused(502, `its TLS handshake failed (${code})`, FAILED);
}
