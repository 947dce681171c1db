import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { createTemporaryDir, reserveFreePort, waitUntil } from '@gantry/testing';
import { type RunningProcess, startAndWait } from '../supervise/process';
import { ensureTool } from '../tools/fetch-tool';
import { buildGatewaySpec, type GatewayOptions } from './gateway';

interface Seen {
  service: string;
  method?: string;
  url?: string;
  headers: http.IncomingHttpHeaders;
  body: number;
}

/** A service that says what it received, streams two events under /stream, and counts bytes as they arrive. */
function stub(service: string) {
  const progress = { received: 0, release: () => {} };
  const server = http.createServer((req, res) => {
    progress.received = 0;
    if (req.url === '/api/runs/run_1/stream') {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 1\ndata: first\n\n');
      progress.release = () => res.end('id: 2\ndata: second\n\n');
      return;
    }
    req.on('data', (chunk: Buffer) => {
      progress.received += chunk.length;
    });
    req.on('end', () => {
      const { method, url, headers } = req;
      const seen: Seen = { service, method, url, headers, body: progress.received };
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ ...seen, padding: url === '/large' ? 'x'.repeat(5_000) : '' }));
    });
  });
  return { server, progress };
}

const services = {
  workerApi: stub('worker-api'),
  automationApi: stub('automation-api'),
  skillsApi: stub('skills-api'),
};
let gateway: RunningProcess;
let options: GatewayOptions;
let addresses: { worker: string; dashboard: string; skills: string };

beforeAll(async () => {
  const listening = Object.entries(services).map(async ([name, { server }]) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return [name, `127.0.0.1:${(server.address() as AddressInfo).port}`];
  });
  const [worker = 0, dashboard = 0, skills = 0] = await Promise.all([
    reserveFreePort(),
    reserveFreePort(),
    reserveFreePort(),
  ]);
  options = {
    command: await ensureTool('nginx'),
    dir: createTemporaryDir('gateway'),
    host: '127.0.0.1',
    ports: { worker, dashboard, skills },
    upstreams: Object.fromEntries(await Promise.all(listening)),
  };
  addresses = {
    worker: `http://127.0.0.1:${worker}`,
    dashboard: `http://127.0.0.1:${dashboard}`,
    skills: `http://127.0.0.1:${skills}`,
  };
  gateway = await startAndWait(buildGatewaySpec(options));
});

afterAll(async () => {
  await gateway.stop();
  for (const { server } of Object.values(services)) {
    server.closeAllConnections();
    server.close();
  }
});

async function seenBy(url: string, init?: RequestInit): Promise<Seen> {
  const response = await fetch(url, init);
  expect(response.status).toBe(200);
  return (await response.json()) as Seen;
}

/** fetch refuses to set Host and some others. */
function raw(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(request));
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('close', () => resolve(answer)).on('error', reject);
  });
}

const get = (path: string, headers: string[]) =>
  ['GET ', path, ' HTTP/1.1\r\n', ...headers.map((h) => `${h}\r\n`), 'Connection: close\r\n\r\n'].join('');

test.each([
  ['worker', '/api/workers', 'worker-api'],
  ['dashboard', '/api/automations', 'automation-api'],
  ['skills', '/api/v1/skills/x', 'skills-api'],
  ['dashboard', '/auth/login', 'worker-api'],
  ['skills', '/auth/me?x=1', 'worker-api'],
  ['dashboard', '/.well-known/jwks.json', 'worker-api'],
  ['dashboard', '/storage/ws_1/a.zip?sig=%2F', 'automation-api'],
  ['dashboard', '/authors', 'automation-api'],
] as const)('on the %s port %s is answered by %s', async (surface, path, service) => {
  expect(await seenBy(addresses[surface] + path)).toMatchObject({ service, url: path });
});

test.each([
  ['api.example.com', 'worker-api'],
  ['dashboard.example.com:443', 'automation-api'],
  ['skills.localhost', 'skills-api'],
  ['other.example.com', 'worker-api'],
])('a request for %s goes to %s, whatever the port', async (host, service) => {
  const answer = await raw(options.ports.worker, get('/api/x', [`Host: ${host}`]));
  expect(answer).toContain(`"service":"${service}"`);
  expect(answer).toContain(`"x-forwarded-host":"${host}"`);
});

test('headers that only internal services may set never arrive from outside', async () => {
  const { headers } = await seenBy(`${addresses.worker}/api/workers`, {
    headers: {
      'X-Internal-User': 'root',
      'x-internal-anything': '1',
      'X-Forwarded-For': '1.2.3.4',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'evil.example',
      'X-Real-IP': '1.2.3.4',
      Forwarded: 'for=1.2.3.4',
      'X-Original-URL': '/admin',
      'X-HTTP-Method-Override': 'DELETE',
    },
  });
  expect(Object.keys(headers).filter((name) => /internal|override|original|^forwarded$/.test(name))).toEqual([]);
  expect(headers).toMatchObject({
    'x-forwarded-for': '127.0.0.1',
    'x-real-ip': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': `127.0.0.1:${options.ports.worker}`,
  });
});

test('headers that the services read arrive unchanged', async () => {
  const sent = {
    authorization: 'Bearer svc_x',
    cookie: 'svc_cloud_session=abc; other=1',
    'x-svc-token': 'wst_x',
    'x-svc-workspace': 'ws_1',
    'x-svc-agent': 'editor',
    'idempotency-key': 'key-1',
    'last-event-id': '17',
    'content-type': 'application/json; charset=utf-8',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'if-none-match': '"etag"',
    accept: 'text/event-stream',
    origin: 'http://localhost:8081',
  };
  const { headers } = await seenBy(`${addresses.worker}/api/workers`, { method: 'PATCH', headers: sent, body: '{}' });
  expect(headers).toMatchObject({ ...sent, 'content-length': '2' });
});

test('a valid request id is kept, an invalid one replaced', async () => {
  const getRequestId = async (id: string) =>
    (await seenBy(`${addresses.skills}/api/x`, { headers: { 'X-Request-Id': id } })).headers['x-request-id'];
  expect(await getRequestId('req_12345678')).toBe('req_12345678');
  expect(await getRequestId('<script>alert(1)</script>')).toMatch(/^[0-9a-f]{32}$/);
});

test('the first event of a stream arrives while the stream is open', async () => {
  const response = await fetch(`${addresses.worker}/api/runs/run_1/stream`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain('first');
  services.workerApi.progress.release();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain('second');
});

test('an upload reaches the service while it is still being sent', async () => {
  const { progress } = services.automationApi;
  const request = http.request(`${addresses.dashboard}/storage/ws_1/a.zip`, {
    method: 'PUT',
    headers: { 'content-length': 2_000_000, 'content-type': 'application/zip' },
  });
  request.write(Buffer.alloc(1_000_000));
  await waitUntil(() => progress.received === 1_000_000);
  request.end(Buffer.alloc(1_000_000));
  const status = await new Promise((resolve) => request.once('response', (res) => resolve(res.statusCode)));
  expect(status).toBe(200);
});

test.each([
  ['worker', '/api/contexts', 1 << 20, 200],
  ['worker', '/api/contexts', 2 << 20, 413],
  ['dashboard', '/api/artifacts', 2 << 20, 413],
  ['dashboard', '/storage/ws_1/a.zip', 10 << 20, 200],
  ['dashboard', '/storage/ws_1/a.zip', 12 << 20, 413],
  ['worker', '/api/v1/workers', 10 << 20, 200],
  ['worker', '/workers/price-watch', 10 << 20, 200],
  ['worker', '/contexts/notes/files/a/b.txt', 10 << 20, 200],
] as const)('%s%s with a body of %d bytes answers %d', async (surface, path, size, status) => {
  const response = await fetch(addresses[surface] + path, { method: 'POST', body: Buffer.alloc(size) });
  expect(response.status).toBe(status);
  const body = (await response.json()) as Record<string, unknown>;
  if (status === 200) expect(body.body).toBe(size);
  else expect(body).toMatchObject({ [surface === 'worker' ? 'detail' : 'error']: expect.stringContaining('10 MB') });
});

test('large JSON is compressed if the client accepts it', async () => {
  const response = await fetch(`${addresses.worker}/large`, { headers: { 'Accept-Encoding': 'gzip' } });
  expect(response.headers.get('content-encoding')).toBe('gzip');
});

test('a service that is down is a 503 in the shape of its surface, and is served again once it is back', async () => {
  const { server } = services.skillsApi;
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  const response = await fetch(`${addresses.skills}/api/x`);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('2');
  expect(await response.json()).toMatchObject({ code: 'unavailable', error: expect.any(String) });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  expect((await seenBy(`${addresses.skills}/api/x`)).service).toBe('skills-api');
});

test.each(['/api/workers/%00', '/api/workers/%', '/api/workers/%zz'])('the address %s is a 400', async (path) => {
  for (const [address, field] of [
    [addresses.worker, 'detail'],
    [addresses.dashboard, 'error'],
  ] as const) {
    const response = await fetch(address + path, { method: 'PATCH', body: '{}' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'malformed_request', [field]: expect.any(String) });
  }
});

test('the request rate of one address can be limited', async () => {
  const strict = { ...options, dir: createTemporaryDir('gateway'), requestsPerSecond: 5 };
  strict.ports = {
    worker: await reserveFreePort(),
    dashboard: await reserveFreePort(),
    skills: await reserveFreePort(),
  };
  const limited = await startAndWait(buildGatewaySpec(strict));
  try {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => fetch(`http://127.0.0.1:${strict.ports.worker}/x`)),
    );
    const refused = answers.find((answer) => answer.status === 429);
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(await refused?.json()).toMatchObject({ code: 'rate_limited' });
  } finally {
    await limited.stop();
  }
});
