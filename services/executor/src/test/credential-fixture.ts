/**
 * Serves TLS hosts for runs with credentials, under an authority that only this process's upstream connections trust.
 */
import fs from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import type { Job, RunEvent } from '@gantry/events';
import { setupResource } from '@gantry/testing';
import { createCertificateAuthority } from '../egress/certificate-authority';
import type { ExecutorOptions } from '../executor';
import { buildCredential } from './credential';
import { startTestExecutor } from './executor-fixture';
import { resolveTestNames } from './test-names';

export interface SeenRequest {
  host: string;
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export const echoRequest = (seen: SeenRequest, response: ServerResponse) => {
  response.setHeader('x-echo', [seen.headers.authorization ?? '']);
  response.end(JSON.stringify(seen));
};

/** Prepended to every program: `fetch(url, headers, data)` returns [status, headers, body]. */
export const FETCH = `
import base64, http.client, json, os, re, socket, ssl, urllib.error, urllib.request
from gantry import context
def fetch(url, headers={}, data=None, method=None):
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        answer = urllib.request.urlopen(request, timeout=10)
    except urllib.error.HTTPError as error:
        answer = error
    return [answer.status, dict(answer.headers.items()), answer.read().decode("latin1")]
def tunnel(port, host="api.test", sni=None, verify=True):
    raw = socket.create_connection(("127.0.0.1", 3128))
    raw.sendall(f"CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\n".encode())
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n"):
        head += raw.recv(1)
    assert b" 200 " in head, head
    trust = ssl.create_default_context()
    trust.check_hostname = False
    if not verify:
        trust.verify_mode = ssl.CERT_NONE
    secure = trust.wrap_socket(raw, server_hostname=sni or host)
    secure.settimeout(10)
    return secure
def read_all(secure):
    got = b""
    try:
        while piece := secure.recv(65536):
            got += piece
    except (OSError, ssl.SSLError):
        pass
    return got.decode("latin1")
`;

export async function startCredentialFixture(overrides: Partial<ExecutorOptions> = {}) {
  const authority = await createCertificateAuthority();
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-roots-'));
  const file = path.join(directory, 'roots.pem');
  fs.writeFileSync(file, authority.certificate);
  const previousCerts = process.env.NODE_EXTRA_CA_CERTS;
  process.env.NODE_EXTRA_CA_CERTS = file;
  const seen: SeenRequest[] = [];
  let answer = echoRequest;
  let answerSocket = (_: SeenRequest, socket: Duplex): void => {
    socket.end();
  };
  const hosts = { 'api.test': '127.0.0.2', 'other.test': '127.0.0.3', 'wrong.test': '127.0.0.4' };
  const servers: https.Server[] = [];
  let port = 0;
  for (const [host, address] of Object.entries(hosts)) {
    const leaf = await authority.getLeaf(host === 'wrong.test' ? 'api.test' : host);
    const server = https.createServer({ ...leaf, keepAliveTimeout: 60_000 }, async (request, response) => {
      const { method = '', url = '', headers } = request;
      const body = Buffer.concat(await request.toArray()).toString('latin1');
      const seenRequest = { host, method, url, headers, body };
      seen.push(seenRequest);
      answer(seenRequest, response);
    });
    server.on('upgrade', ({ method = '', url = '', headers }, socket: Duplex) => {
      const seenRequest = { host, method, url, headers, body: '' };
      seen.push(seenRequest);
      socket.on('error', () => socket.destroy());
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n');
      socket.write(`X-Echo: ${headers['x-key']}\r\n\r\n`);
      answerSocket(seenRequest, socket);
    });
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    port = (server.address() as AddressInfo).port;
    servers.push(server);
  }
  let rebindings = 0;
  const asked = resolveTestNames({
    ...Object.fromEntries(Object.entries(hosts).map(([name, address]) => [name, [address]])),
    'closed.test': ['127.0.0.5'],
    'inside.test': ['10.0.0.7'],
    // Another address with each lookup.
    'rebinding.test': () => [rebindings++ ? '10.0.0.7' : '127.0.0.2'],
    'mixed.test': ['127.0.0.2', '10.0.0.7'],
  });
  const fixture = await startTestExecutor({
    egressAllowPrivate: ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'].map((address) => `${address}:${port}`),
    ...overrides,
  });
  return {
    ...fixture,
    /** `api.test` and `other.test`, each with its own certificate; `wrong.test` has that of another. */
    port,
    /** Requests that reached a host, in order. */
    seen,
    /** Names that were resolved. */
    asked,
    /** Replaces the response of every host. */
    setResponder: (handler: typeof answer) => {
      answer = handler;
    },
    /** Replaces the socket handler after the 101 of every host. */
    setSocketHandler: (handler: typeof answerSocket) => {
      answerSocket = handler;
    },
    runWithFetch: (source: string, overrides?: Partial<Job>) => {
      seen.splice(0);
      return fixture.service.run(FETCH + source, {
        network: 'egress',
        inputs: { port },
        credentials: [buildCredential(port)],
        ...overrides,
      });
    },
    async stop() {
      await fixture.stop();
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
      if (previousCerts === undefined) delete process.env.NODE_EXTRA_CA_CERTS;
      else process.env.NODE_EXTRA_CA_CERTS = previousCerts;
      fs.rmSync(directory, { recursive: true });
      jest.restoreAllMocks();
    },
  };
}

/** Starts it before the tests of this file, each of which begins with hosts that echo requests. */
export function setupCredentialFixture(...options: Parameters<typeof startCredentialFixture>) {
  const fixture = setupResource(
    () => startCredentialFixture(...options),
    ({ stop }) => stop(),
  );
  beforeEach(() => fixture.setResponder(echoRequest));
  return fixture;
}

/** Builds a frame as a server sends it. */
export function buildFrame(payload: string | Buffer, { opcode = 1, isFinal = true } = {}): Buffer {
  const bytes = Buffer.from(payload);
  if (bytes.length > 125) throw new Error('too long for a short frame');
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, bytes.length]), bytes]);
}

export const listRequests = (events: RunEvent[]) =>
  events.flatMap((event) => (event.type === 'request' ? [event] : []));
