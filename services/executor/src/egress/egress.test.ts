/** Network access of a run, tried from inside; and the proxy's behaviour when addressed directly. */
import dns from 'node:dns/promises';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { createAddressPolicy } from '@gantry/safe-fetch';
import { type ExecutorFixture, startTestExecutor } from '../test/executor-fixture';
import { createTemporaryLayout } from '../test/sandbox-fixture';
import { createCertificateAuthority } from './certificate-authority';
import { type EgressProxy, startEgressProxy } from './proxy';

/**
 * GETs each address through the proxy of the environment, and reports the outcome. A run's 127.0.0.1 is its own, so
 * test servers on this machine listen on other addresses of the loopback network.
 */
const FETCH = `
import urllib.request, urllib.error
def run(urls):
    seen = []
    for url in urls:
        try:
            seen.append(urllib.request.urlopen(url, timeout=5).read().decode())
        except urllib.error.HTTPError as error:
            seen.append(error.code)
        except Exception as error:
            seen.append(str(error))
    return seen
`;

describe('a run with network', () => {
  let fixture: ExecutorFixture;
  let allowed: http.Server;
  let other: http.Server;
  const getPort = (server: http.Server) => (server.address() as AddressInfo).port;

  beforeAll(async () => {
    const listen = (server: http.Server, host: string) =>
      new Promise<http.Server>((resolve) => server.listen(0, host, () => resolve(server)));
    allowed = await listen(
      http.createServer((req, res) => {
        if (req.url === '/redirect')
          res.writeHead(302, { location: `http://127.0.0.3:${getPort(other)}/secret` }).end();
        else res.end(`served ${req.url} ${req.headers['proxy-authorization'] ?? ''}`.trim());
      }),
      '127.0.0.2',
    );
    other = await listen(
      http.createServer((_, res) => res.end('internal')),
      '127.0.0.3',
    );
    fixture = await startTestExecutor({ egressAllowPrivate: [`127.0.0.2:${getPort(allowed)}`] });
  });
  afterAll(async () => {
    await fixture.stop();
    allowed.close();
    other.close();
  });

  const fetchAll = async (urls: string[], overrides = {}) =>
    (await fixture.service.run(FETCH, { inputs: { urls }, network: 'egress', ...overrides })).finished.output;

  test('reaches allowed hosts', async () => {
    expect(await fetchAll([`http://127.0.0.2:${getPort(allowed)}/a?b=1`])).toEqual(['served /a?b=1']);
  });

  test('reaches neither this machine, nor metadata, nor private ranges, however they are written', async () => {
    const internal = getPort(other);
    const urls = [
      `http://127.0.0.3:${internal}/`,
      `http://[::ffff:127.0.0.3]:${internal}/`,
      `http://[::ffff:7f00:3]:${internal}/`,
      `http://[64:ff9b::7f00:3]:${internal}/`,
      `http://2130706435:${internal}/`,
      `http://0x7f.3:${internal}/`,
      `http://0.0.0.0:${internal}/`,
      'http://169.254.169.254/latest/meta-data/',
      'http://[::ffff:169.254.169.254]/',
      'http://10.0.0.1/',
      'http://192.168.0.1/',
      'https://127.0.0.3/',
    ];
    const seen = (await fetchAll(urls.slice(0, -1))) as unknown[];
    expect(seen).toEqual(Array(urls.length - 1).fill(403));
    expect((await fetchAll(urls.slice(-1))) as string[]).toEqual([expect.stringMatching(/403/)]);
  });

  test('cannot reach private addresses by a redirect', async () => {
    expect(await fetchAll([`http://127.0.0.2:${getPort(allowed)}/redirect`])).toEqual([403]);
  });

  test('has refused connections in its log and in the metric', async () => {
    const { log } = await fixture.service.run(FETCH, { inputs: { urls: ['http://10.1.2.3/'] }, network: 'egress' });
    expect(log).toEqual(['Connection to 10.1.2.3:80 refused: it is not a public address.']);
    expect(await fixture.executor.metrics.registry.metrics()).toMatch(
      /gantry_executor_egress_denied_total\{reason="not a public address"\} \d+/,
    );
  });

  test('can’t go around the proxy', async () => {
    const source = `
import socket
def run(port):
    seen = []
    for target in (("127.0.0.3", port), ("1.1.1.1", 443), ("169.254.169.254", 80)):
        try:
            socket.create_connection(target, 2)
            seen.append(None)
        except OSError as error:
            seen.append(error.strerror)
    return seen
`;
    const { finished } = await fixture.service.run(source, { inputs: { port: getPort(other) }, network: 'egress' });
    expect(finished.output).toEqual(['Connection refused', 'Network is unreachable', 'Network is unreachable']);
  });

  test.each([
    ['network none', { network: 'none' }],
    ['a test', { kind: 'test', network: 'egress' }],
  ])('has none at all as %s', async (_, overrides) => {
    const [seen] = (await fetchAll([`http://127.0.0.2:${getPort(allowed)}/`], overrides)) as string[];
    expect(seen).toMatch(/Connection refused/);
  });

  test('reaches allowed hosts from a separate process, too', async () => {
    expect(await fetchAll([`http://127.0.0.2:${getPort(allowed)}/cold`], { isolation: 'process' })).toEqual([
      'served /cold',
    ]);
  });

  test('moves large bodies in both directions', async () => {
    const source = `
import os, http.client
def run(port):
    proxy = os.environ["HTTP_PROXY"].split("//")[1].split(":")
    connection = http.client.HTTPConnection(proxy[0], int(proxy[1]))
    connection.set_tunnel("127.0.0.2", port)
    connection.request("POST", "/up", body=bytes(3 << 20))
    return connection.getresponse().status
`;
    const { finished } = await fixture.service.run(source, { inputs: { port: getPort(allowed) }, network: 'egress' });
    expect(finished.output).toBe(200);
  });
});

describe('the proxy', () => {
  let proxy: EgressProxy;
  let server: net.Server;
  const layout = createTemporaryLayout();
  const denied: string[] = [];
  let target: number;

  beforeAll(async () => {
    server = net.createServer((socket) => socket.on('error', () => {}).pipe(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    target = (server.address() as AddressInfo).port;
    const policy = createAddressPolicy([`127.0.0.1:${target}`]);
    const log = (await import('pino')).pino({ level: 'silent' });
    proxy = await startEgressProxy({
      directory: layout.egressDir,
      policy,
      authority: await createCertificateAuthority(),
      log,
      onDenied: (reason) => denied.push(reason),
    });
  });
  afterAll(async () => {
    await proxy.stop();
    server.close();
  });

  /** Sends bytes, and resolves with the response when the proxy has closed the connection or stays silent. */
  function exchange(bytes: string, { untilText = '' } = {}): Promise<string> {
    return new Promise((resolve) => {
      let got = '';
      const socket = net.connect(path.join(layout.egressDir, 's'), () => socket.write(bytes));
      socket.on('error', () => {});
      socket.on('data', (data) => {
        got += data;
        if (untilText && got.includes(untilText)) socket.destroy();
      });
      socket.on('close', () => resolve(got));
    });
  }
  const rules = { bytesMax: 1 << 20 };
  const buildConnect = () => `CONNECT 127.0.0.1:${target} HTTP/1.1\r\n\r\n`;

  test('serves only clients with a valid pass', async () => {
    const pass = proxy.admit(rules);
    expect(await exchange(`${pass.nonce}${buildConnect()}ping`, { untilText: 'ping' })).toMatch(
      /^HTTP\/1.1 200 .*\r\n\r\nping$/s,
    );
    expect(await exchange(`${'0'.repeat(32)}${buildConnect()}`)).toBe('');
    expect(await exchange(buildConnect().padEnd(64))).toBe('');
    pass.revoke();
    expect(await exchange(`${pass.nonce}${buildConnect()}`)).toBe('');
  });

  test('ends the connections of a run when it ends', async () => {
    const pass = proxy.admit(rules);
    const open = exchange(`${pass.nonce}${buildConnect()}`);
    setTimeout(pass.revoke, 100);
    expect(await open).toMatch(/^HTTP\/1.1 200/);
  });

  test('refuses a name when any of its addresses is private, and connects to the address that it checked', async () => {
    const pass = proxy.admit(rules);
    const lookup = jest.spyOn(dns, 'lookup');
    const answer = (...addresses: string[]) =>
      lookup.mockResolvedValueOnce(addresses.map((address) => ({ address, family: 4 })) as never);
    answer('10.0.0.7');
    expect(await exchange(`${pass.nonce}CONNECT inside.example:80 HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 403/);
    answer('8.8.8.8', '127.0.0.1');
    expect(await exchange(`${pass.nonce}CONNECT mixed.example:80 HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 403/);
    answer('127.0.0.1');
    answer('10.0.0.7'); // the answer to a second resolution
    expect(
      await exchange(`${pass.nonce}CONNECT rebinding.example:${target} HTTP/1.1\r\n\r\nping`, { untilText: 'ping' }),
    ).toMatch(/200/);
    expect(lookup).toHaveBeenCalledTimes(3);
    lookup.mockRestore();
    expect(denied).toContain('not a public address');
  });

  test('limits the bytes and connections of a run', async () => {
    const few = proxy.admit({ bytesMax: 1_000 });
    const got = await exchange(`${few.nonce}${buildConnect()}${'x'.repeat(5_000)}`);
    expect(got.length).toBeLessThan(5_000);
    const many = proxy.admit(rules);
    const held = Array.from({ length: 65 }, () => exchange(`${many.nonce}${buildConnect()}`, { untilText: '429' }));
    const first = await Promise.race(held);
    expect(first).toMatch(/^HTTP\/1.1 429/);
    many.revoke();
    expect((await Promise.all(held)).filter((text) => text.startsWith('HTTP/1.1 200'))).toHaveLength(64);
  });

  test('a list of origins allows only those, by scheme and port', async () => {
    const other = net.createServer((socket) => socket.end('reached'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const otherPort = (other.address() as AddressInfo).port;
    const https = proxy.admit({ ...rules, origins: [`https://127.0.0.1:${target}`] });
    const http = proxy.admit({ ...rules, origins: [`http://127.0.0.1:${target}`] });
    const plain = (port: number) => `GET http://127.0.0.1:${port}/ HTTP/1.1\r\n\r\n`;
    expect(await exchange(`${https.nonce}${buildConnect()}ping`, { untilText: 'ping' })).toMatch(/^HTTP\/1.1 200/);
    expect(await exchange(`${http.nonce}${plain(target)}`, { untilText: 'close' })).toMatch(/^GET \/ HTTP\/1.1/);
    for (const refused of [
      `${https.nonce}${plain(target)}`,
      `${http.nonce}${buildConnect()}`,
      `${https.nonce}CONNECT 127.0.0.1:${otherPort} HTTP/1.1\r\n\r\n`,
      `${http.nonce}${plain(otherPort)}`,
      `${https.nonce}CONNECT 1.1.1.1:443 HTTP/1.1\r\n\r\n`,
    ]) {
      expect(await exchange(refused)).toMatch(/^HTTP\/1.1 403/);
    }
    other.close();
  });

  test.each([
    'GET / HTTP/1.1',
    'CONNECT nowhere HTTP/1.1',
    'CONNECT a:99999 HTTP/1.1',
    'GET ftp://a/ HTTP/1.1',
    'nonsense',
  ])('%j is malformed', async (line) => {
    const pass = proxy.admit(rules);
    expect(await exchange(`${pass.nonce}${line}\r\n\r\n`)).toMatch(/^HTTP\/1.1 400/);
  });

  test('names with a smuggled header or a null byte are rejected', async () => {
    const pass = proxy.admit(rules);
    expect(await exchange(`${pass.nonce}CONNECT a\0b:80 HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 (400|502)/);
  });
});
