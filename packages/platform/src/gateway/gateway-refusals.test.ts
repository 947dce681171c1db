/** nginx's own answers to requests that no client library would send, and its log lines about them. */
import fs from 'node:fs';
import path from 'node:path';
import { reserveFreePort, waitUntil } from '@gantry/testing';
import { checkoutDir } from '../dirs/shared-dir';
import { type RawAnswer, type StartedGateway, sendRaw, startGateway } from '../test/started-gateway';

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({ upstreams: await nobody() });
});
afterAll(() => gateway?.stop());

/** No service listens: what is passed on is a 503. */
async function nobody() {
  const at = `127.0.0.1:${await reserveFreePort()}`;
  return { workerApi: at, automationApi: at, skillsApi: at };
}

const SECRET = 'S3CRETthatNobodyMayRead';
const HOST = 'Host: x\r\nConnection: close\r\n';
const request = (line: string, headers = '') => `${line}\r\n${HOST}${headers}\r\n`;
const get = (headers = '') => request(`GET /api/runs?sig=${SECRET} HTTP/1.1`, headers);
const post = (headers: string, body = '') =>
  request(`POST /api/v1/webhooks/w?token=${SECRET} HTTP/1.1`, headers) + body;
const long = 'a'.repeat(20_000);

const refusals: [what: string, status: number, code: string, request: string][] = [
  ['an invalid request line', 400, 'malformed_request', `${SECRET}\r\n\r\n`],
  ['a method in small letters', 400, 'malformed_request', request(`get /api/runs?sig=${SECRET} HTTP/1.1`)],
  ['a space in the address', 400, 'malformed_request', request(`GET /a b?sig=${SECRET} HTTP/1.1`)],
  ['NUL in the address', 400, 'malformed_request', request(`GET /api/runs/%00?sig=${SECRET} HTTP/1.1`)],
  ['an address above the root', 400, 'malformed_request', request(`GET /../../x?sig=${SECRET} HTTP/1.1`)],
  ['no Host', 400, 'malformed_request', `GET /api/runs?sig=${SECRET} HTTP/1.1\r\n\r\n`],
  ['two Hosts', 400, 'malformed_request', get('Host: y\r\n')],
  ['an invalid Host', 400, 'malformed_request', `GET /?sig=${SECRET} HTTP/1.1\r\nHost: a/b\r\n\r\n`],
  ['a header with a space before its colon', 400, 'malformed_request', get('Cookie : a\r\n')],
  ['NUL in a header', 400, 'malformed_request', get('Cookie: a\0b\r\n')],
  ['a header folded over two lines', 400, 'malformed_request', get('Cookie: a\r\n b\r\n')],
  ['TLS', 400, 'malformed_request', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['HTTP/2 without TLS', 400, 'malformed_request', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['OPTIONS *', 400, 'malformed_request', request('OPTIONS * HTTP/1.1')],
  ['CONNECT', 400, 'malformed_request', request('CONNECT example.com:443 HTTP/1.1')],
  ['two lengths', 400, 'malformed_request', post('Content-Length: 3\r\nContent-Length: 4\r\n', 'abcd')],
  ['a negative length', 400, 'malformed_request', post('Content-Length: -1\r\n')],
  [
    'a length and chunks',
    400,
    'malformed_request',
    post('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
  ],
  ['a chunk without a size', 400, 'malformed_request', post('Transfer-Encoding: chunked\r\n', 'ZZ\r\n\r\n')],
  [
    'a chunk whose size overflows',
    400,
    'malformed_request',
    post('Transfer-Encoding: chunked\r\n', `${'f'.repeat(20)}\r\n`),
  ],
  ['an address of the gateway itself', 404, 'not_found', request(`GET /gateway/error?sig=${SECRET} HTTP/1.1`)],
  ['TRACE', 405, 'method_not_allowed', request(`TRACE /api/runs?sig=${SECRET} HTTP/1.1`)],
  ['a body that is too large', 413, 'too_large', post('Content-Length: 99999999\r\n')],
  [
    'chunks that are too large',
    413,
    'too_large',
    post('Transfer-Encoding: chunked\r\n', `200000\r\n${'a'.repeat(0x200000)}\r\n0\r\n\r\n`),
  ],
  ['a long address', 414, 'uri_too_long', request(`GET /api/runs?sig=${SECRET}&x=${long} HTTP/1.1`)],
  ['a long header', 431, 'header_too_large', get(`X-Long: ${long}\r\n`)],
  [
    'many headers',
    431,
    'header_too_large',
    get(Array.from({ length: 9 }, (_, i) => `X-${i}: ${'a'.repeat(9_000)}\r\n`).join('')),
  ],
  ['a method of WebDAV', 501, 'not_implemented', request(`PROPFIND /api/runs?sig=${SECRET} HTTP/1.1`)],
  ['an unknown method', 501, 'not_implemented', request(`FROB /api/runs?sig=${SECRET} HTTP/1.1`)],
  ['an unknown transfer encoding', 501, 'not_implemented', post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n')],
  ['a service that is down', 503, 'unavailable', get()],
  ['a webhook for a service that is down', 503, 'unavailable', post('Content-Length: 0\r\n')],
  ['HTTP/2.0 in a line of HTTP/1', 505, 'http_version_not_supported', request(`GET /api/runs?sig=${SECRET} HTTP/2.0`)],
];

function listProblems({ status, headers, text }: RawAnswer, field: 'detail' | 'error', expected: [number, string]) {
  expect({ status, body: JSON.parse(text) }).toEqual({
    status: expected[0],
    body: { [field]: expect.any(String), code: expected[1] },
  });
  expect(headers).toMatchObject({
    server: 'nginx',
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
}

test.each(refusals)('%s is a %d in the shape of each surface', async (_, status, code, sent) => {
  const { worker, dashboard, skills } = gateway.ports;
  listProblems(await sendRaw(worker, sent), 'detail', [status, code]);
  listProblems(await sendRaw(dashboard, sent), 'error', [status, code]);
  listProblems(await sendRaw(skills, sent), 'error', [status, code]);
});

test('a 503 has Retry-After, and a 405 has Allow', async () => {
  const { worker } = gateway.ports;
  expect((await sendRaw(worker, get())).headers).toMatchObject({ 'retry-after': '2' });
  const { headers } = await sendRaw(worker, request('TRACE / HTTP/1.1'));
  expect(headers.allow).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
  expect(headers['retry-after']).toBeUndefined();
});

test('the host of an absolute address takes precedence, and HTTP/1.0 needs none', async () => {
  const answering = await startGateway();
  const { worker } = answering.ports;
  const getSeenHost = async (sent: string) => JSON.parse((await sendRaw(worker, sent)).text).host;
  try {
    expect(await getSeenHost(request('GET http://other.example:81/x HTTP/1.1'))).toBe('other.example');
    expect(await getSeenHost(`GET /x HTTP/1.1\r\nHost: Some.Example:${worker}\r\nConnection: close\r\n\r\n`)).toBe(
      `Some.Example:${worker}`,
    );
    expect(await getSeenHost('GET /x HTTP/1.0\r\n\r\n')).toBe(`127.0.0.1:${worker}`);
    // A header that nginx lets through is not too long for a service.
    const passed = await sendRaw(
      worker,
      get(Array.from({ length: 4 }, () => `Cookie: a=${'a'.repeat(15_000)}\r\n`).join('')),
    );
    expect(passed.status).toBe(200);
  } finally {
    await answering.stop();
  }
});

test('no location of the template writes errors of requests', () => {
  const template = fs.readFileSync(path.join(checkoutDir, 'services/gateway/nginx.conf.template'), 'utf8');
  const locations = template.split(/^ {4}location /m).slice(1);
  expect(locations.length).toBeGreaterThan(5);
  expect(locations.filter((one) => !one.includes('\n      error_log stderr emerg;\n'))).toEqual([]);
});

test('nothing that nginx writes contains a query, the token of a path or a secret from elsewhere', async () => {
  const strict = await startGateway({ upstreams: await nobody(), requestsPerSecond: 5, connectionsPerAddress: 2 });
  const paths = [
    ...['', '/api', '/v1', '/api/v1'].flatMap((prefix) => [
      `${prefix}/webhooks/w?token=${SECRET}`,
      `${prefix}/reviews/rvw_${SECRET}/approve`,
      `${prefix}/cli-auth/poll/${SECRET}`,
    ]),
    `/storage/ws_1/a.zip?sig=${SECRET}`,
    `/auth/oidc/callback?code=${SECRET}`,
    `/${SECRET}`,
    `/rvw_${SECRET}`,
  ];
  try {
    const answers = await Promise.all([
      ...paths.map((path) => sendRaw(strict.ports.dashboard, request(`POST ${path} HTTP/1.1`))),
      ...paths.map((path) =>
        sendRaw(strict.ports.dashboard, request(`POST ${path} HTTP/1.1`, 'Content-Length: 99999999\r\n')),
      ),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([413, 429, 503]));
    for (const [, , , sent] of refusals) await sendRaw(gateway.ports.worker, sent);
    await waitUntil(() => strict.written().includes('"status":429') && gateway.written().includes('"status":505'));
  } finally {
    await strict.stop();
  }
  expect(strict.written() + gateway.written()).not.toContain(SECRET);
});

test('a refusal is found in the log by its request id, with the requested resource', async () => {
  const id = 'req_of_this_very_test';
  await sendRaw(
    gateway.ports.worker,
    request(`POST /api/v1/webhooks/w?token=${SECRET} HTTP/1.1`, `X-Request-Id: ${id}\r\n`),
  );
  const line = await waitUntil(() =>
    gateway
      .written()
      .split('\n')
      .find((one) => one.includes(id)),
  );
  expect(JSON.parse(line)).toMatchObject({
    level: 40,
    service: 'gateway',
    requestId: id,
    method: 'POST',
    route: '/api/v1/webhooks',
    status: 503,
    upstreamStatus: '502',
    address: '127.0.0.1',
  });
});
