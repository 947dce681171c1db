/** `allowedHosts` of a job, and the record of a run's requests, through real runs. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { REQUESTS_MAX, type RunEvent } from '@gantry/events';
import { createRedactor } from '@gantry/masking';
import { matchesHost } from '@gantry/safe-fetch';
import { setupResource } from '@gantry/testing';
import { createRequestReport } from '../protocol/request-report';
import { startTestExecutor } from '../test/executor-fixture';
import { resolveTestNames } from '../test/test-names';
import { normalizeHostName } from './host-name';

test.each([
  ['api.example.com', 'api.example.com', 443, true],
  ['api.example.com', 'api.example.com', 8443, false],
  ['api.example.com', 'x.api.example.com', 443, false],
  ['api.example.com:8443', 'api.example.com', 8443, true],
  ['api.example.com:8443', 'api.example.com', 443, false],
  ['*.example.com', 'a.example.com', 443, true],
  ['*.example.com', 'a.b.example.com', 443, true],
  ['*.example.com', 'example.com', 443, false],
  ['*.example.com', 'badexample.com', 443, false],
  ['*.example.com', '.example.com', 443, false],
  ['*.example.com:80', 'a.example.com', 80, true],
])('%s and %s:%i: %s', (pattern, host, port, matches) => {
  expect(matchesHost(pattern, host, port, 443)).toBe(matches);
});

test('a name is compared in lower case and without its last dot, and only a name', () => {
  expect(normalizeHostName('API.Example.COM.')).toBe('api.example.com');
  for (const other of ['', 'a b', 'a/b.example.com', 'a\0b', 'ü.example', 'x'.repeat(300)])
    expect(normalizeHostName(other)).toBe(null);
});

const SOURCE = `
import http.client, os, urllib.error, urllib.request
def run(urls):
    seen = []
    for url in urls:
        try:
            seen.append(urllib.request.urlopen(url, timeout=5).status)
        except urllib.error.HTTPError as error:
            seen.append(error.code)
        except Exception as error:
            seen.append(str(error))
    return seen
`;
const TUNNEL = `
import http.client
held = []
def run(port):
    connection = http.client.HTTPConnection("127.0.0.1", 3128)
    connection.set_tunnel("in.test", port)
    connection.request("GET", "/")
    held.append(connection)
    return connection.getresponse().status
`;

describe('runs', () => {
  const fixture = setupResource(
    async () => {
      const server = http.createServer((req, res) => res.writeHead(req.url === '/404' ? 404 : 200).end('hello'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve));
      const { port } = server.address() as AddressInfo;
      resolveTestNames({ 'in.test': ['127.0.0.2'], 'out.test': ['127.0.0.2'], 'inside.test': ['10.0.0.7'] });
      const executor = await startTestExecutor({ egressAllowPrivate: [`127.0.0.2:${port}`] });
      return { ...executor, port, server };
    },
    async ({ stop, server }) => {
      await stop();
      server.close();
      jest.restoreAllMocks();
    },
  );
  const listRequests = (events: RunEvent[]) => events.flatMap((event) => (event.type === 'request' ? [event] : []));

  test('reach only the hosts on their list, and the log names the rule', async () => {
    const { port, service } = fixture;
    const urls = [`http://in.test:${port}/`, `http://out.test:${port}/`, `https://out.test:${port}/`];
    const allowedHosts = [`in.test:${port}`, 'inside.test:80'];
    const { finished, log, events } = await service.run(SOURCE, {
      inputs: { urls: [...urls, 'http://inside.test/'] },
      network: 'egress',
      allowedHosts,
    });
    expect(finished.output).toEqual([200, 403, expect.stringContaining('403 not in network.allow'), 403]);
    expect(log).toEqual([
      `Connection to out.test:${port} refused: it is not in this worker's network.allow.`,
      `Connection to out.test:${port} refused: it is not in this worker's network.allow.`,
      'Connection to inside.test:80 refused: it is not a public address.',
    ]);
    expect(listRequests(events).map(({ host, problem }) => [host, problem?.kind])).toEqual([
      ['in.test', undefined],
      ['out.test', 'refused'],
      ['out.test', 'refused'],
      ['inside.test', 'refused'],
    ]);
  });

  test('an empty list allows no host', async () => {
    const { port, service } = fixture;
    const { finished } = await service.run(SOURCE, {
      inputs: { urls: [`http://in.test:${port}/`] },
      network: 'egress',
      allowedHosts: [],
    });
    expect(finished.output).toEqual([403]);
  });

  test('are recorded by method, host, path without query, status, bytes and time; secrets are masked', async () => {
    const { port, service } = fixture;
    const { events } = await service.run(SOURCE, {
      inputs: { urls: [`http://in.test:${port}/a/hunter22?b=1`, `http://in.test:${port}/404`, 'http://no.such.test/'] },
      network: 'egress',
      secrets: { S: 'hunter22' },
    });
    const [found, missing, failed] = listRequests(events);
    expect(found).toMatchObject({
      method: 'GET',
      scheme: 'http',
      host: 'in.test',
      port,
      path: '/a/***',
      status: 200,
      credentials: [],
    });
    expect(found?.bytesReceived).toBeGreaterThan(5);
    expect(found?.durationMs).toBeGreaterThanOrEqual(0);
    expect(missing).toMatchObject({ path: '/404', status: 404 });
    expect(failed).toMatchObject({
      host: 'no.such.test',
      port: 80,
      status: null,
      bytesSent: 0,
      problem: { kind: 'failed', message: expect.stringMatching(/^the host name can't be resolved/) },
    });
  });

  test('a tunnel is one record of its bytes, also when it is still open at the end', async () => {
    const { port, service } = fixture;
    const { events, finished } = await service.run(TUNNEL, { inputs: { port }, network: 'egress' });
    expect(finished.output).toBe(200);
    const [tunnel, ...others] = listRequests(events);
    expect(tunnel).toMatchObject({ method: null, scheme: 'https', host: 'in.test', port, path: null, status: null });
    expect(tunnel?.bytesReceived).toBeGreaterThan(5);
    expect(others).toEqual([]);
    expect(events.at(-1)?.type).toBe('finished');
  });
});

test('a flood of requests is recorded up to a limit, with one log line', () => {
  const lines: string[] = [];
  let events = 0;
  const report = createRequestReport({
    redactor: createRedactor([]),
    runLog: { platform: (text) => void lines.push(text) },
    emit: () => void events++,
  });
  const at = { method: 'GET', scheme: 'http', host: 'a.test', port: 80, path: '/', status: 200 } as const;
  for (let i = 0; i < REQUESTS_MAX + 5; i++) {
    report({ ...at, bytesSent: 0, bytesReceived: 0, durationMs: 0, credentials: [] });
  }
  expect(events).toBe(REQUESTS_MAX);
  expect(lines).toEqual([`The run has made ${REQUESTS_MAX} requests: further requests are not recorded.`]);
});
