/** One address can't take what the others need. */
import http from 'node:http';
import net from 'node:net';
import { waitUntil } from '@gantry/testing';
import { type StartedGateway, sendRaw, startGateway } from '../test/started-gateway';
import { renderGatewayConfig } from './gateway';

const gateways: StartedGateway[] = [];
const requests: http.ClientRequest[] = [];
const sockets: net.Socket[] = [];
afterEach(async () => {
  for (const request of requests.splice(0)) request.destroy();
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const gateway of gateways.splice(0)) await gateway.stop();
});

async function start(...options: Parameters<typeof startGateway>): Promise<StartedGateway> {
  const gateway = await startGateway(...options);
  gateways.push(gateway);
  return gateway;
}

/** A stream that stays open, from one of the machine's own addresses. */
function openStream(port: number, from: string, headers: http.OutgoingHttpHeaders = {}): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', localAddress: from, path: '/held', headers, agent: false };
    const request = http.get(options, resolve);
    request.on('error', reject);
    requests.push(request);
  });
}

async function readBody(answer: http.IncomingMessage): Promise<unknown> {
  return JSON.parse(Buffer.concat(await answer.toArray()).toString());
}

test('an address that opens every stream it can gets 429, and other addresses are served', async () => {
  const { ports, held } = await start();
  const opened = await Promise.all(Array.from({ length: 600 }, () => openStream(ports.worker, '127.0.0.2')));
  const refused = opened.filter(({ statusCode }) => statusCode === 429);
  expect(refused).toHaveLength(600 - 512);
  expect(refused[0]?.headers).toMatchObject({ 'retry-after': '1', 'content-type': 'application/json' });
  expect(await readBody(refused[0] as http.IncomingMessage)).toEqual({
    detail: expect.stringContaining('too many'),
    code: 'rate_limited',
  });
  expect(held()).toBe(512);

  expect((await openStream(ports.worker, '127.0.0.3')).statusCode).toBe(200);
  expect((await fetch(`http://127.0.0.1:${ports.skills}/x`)).status).toBe(200);
  expect((await openStream(ports.dashboard, '127.0.0.2')).statusCode).toBe(429);

  for (const request of requests.splice(0)) request.destroy();
  await waitUntil(() => held() === 0);
  expect((await openStream(ports.worker, '127.0.0.2')).statusCode).toBe(200);
});

test('idle connections make room for active ones', async () => {
  const { ports } = await start({ connections: 64 });
  const idle = Array.from({ length: 200 }, () => net.connect(ports.worker, '127.0.0.1').on('error', () => {}));
  sockets.push(...idle);
  await waitUntil(() => idle.filter((socket) => socket.closed).length > 100);
  expect((await fetch(`http://127.0.0.1:${ports.worker}/x`)).status).toBe(200);
});

test('exhausted connections are logged', async () => {
  const { ports, written } = await start({ connections: 64 });
  // Half of a request is no reason to be closed for another's sake.
  const half = Array.from({ length: 100 }, () => net.connect(ports.worker, '127.0.0.1').on('error', () => {}));
  sockets.push(...half);
  for (const socket of half) socket.write('GET /x?sig=S3CRET HTTP/1.1\r\nHost: x\r\n');
  await waitUntil(() => written().includes('worker_connections are not enough'));
  expect(written()).not.toContain('S3CRET');
});

test('an IPv6 network of one customer counts as one address', async () => {
  const { ports } = await start({ trustedProxy: '127.0.0.1', connectionsPerAddress: 3 });
  const from = (address: string) => openStream(ports.worker, '127.0.0.1', { 'X-Forwarded-For': address });
  for (const one of ['2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:0:3::']) {
    expect((await from(one)).statusCode).toBe(200);
  }
  expect((await from('2001:db8::4')).statusCode).toBe(429);
  expect((await from('2001:db8:0:1::4')).statusCode).toBe(200);
  expect((await from('198.51.100.1')).statusCode).toBe(200);
});

test('the liveness of nginx is served past every limit', async () => {
  const { ports } = await start({ connectionsPerAddress: 1, requestsPerSecond: 1 });
  await openStream(ports.worker, '127.0.0.1');
  const refused = await sendRaw(ports.worker, 'GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(refused.status).toBe(429);
  for (let i = 0; i < 20; i++)
    expect((await fetch(`http://127.0.0.1:${ports.worker}/gateway/healthz`)).status).toBe(200);
});

test.each([64, 1_024, 8_192])('of %d connections one address gets no more than a quarter', (connections) => {
  const config = renderGatewayConfig({
    host: '127.0.0.1',
    connections,
    ports: { worker: 1, dashboard: 2, skills: 3 },
    upstreams: { workerApi: 'a', automationApi: 'b', skillsApi: 'c' },
  });
  const readDirective = (directive: string) => Number(new RegExp(`${directive} (\\d+);`).exec(config)?.[1]);
  expect(readDirective('worker_connections')).toBe(connections);
  // Each holds one connection to the client and one to the service.
  expect(2 * readDirective('limit_conn connections')).toBeLessThanOrEqual(connections / 4);
  expect(readDirective('worker_rlimit_nofile')).toBeGreaterThan(connections);
});
