/** Tests rehearsals through the real proxy, from inside real sandboxes. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import { type Job, RESPONSE_BYTES_MAX, type ReplayableResponse, type RunEvent } from '@gantry/events';
import { setupResource } from '@gantry/testing';
import { buildCredential, expectNoValue, VALUE } from '../test/credential';
import { listRequests, startCredentialFixture } from '../test/credential-fixture';
import { parsePlainResponse } from './response-capture';

const fixture = setupResource(
  () => startCredentialFixture({ egressAllowPrivate: ['127.0.0.0/28'] }),
  ({ stop }) => stop(),
);
/** Requests that reached the plain HTTP host. */
const plainSeen: string[] = [];
const plainServer = http.createServer(async (request, response) => {
  const body = (await request.toArray()).join('');
  plainSeen.push(`${request.method} ${request.url} ${body}`);
  response.setHeader('content-type', 'application/json');
  const answer = JSON.stringify({ number: plainSeen.length, secret: request.headers['x-secret'] });
  if (request.url === '/gzip') response.setHeader('content-encoding', 'gzip').end(zlib.gzipSync(answer));
  else if (request.url === '/long') response.end('x'.repeat(RESPONSE_BYTES_MAX + 1));
  else {
    response.write(answer.slice(0, 5));
    response.end(answer.slice(5));
  }
});
beforeAll(() => new Promise<void>((resolve) => plainServer.listen(0, '127.0.0.6', resolve)));
afterAll(() => new Promise((resolve) => plainServer.close(resolve)));
beforeEach(() => {
  plainSeen.splice(0);
  let count = 0;
  fixture.setResponder(({ method }, response) => {
    response.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'application/json', location: '/items/1' });
    response.end(JSON.stringify({ number: ++count, token: VALUE }));
  });
});

const getPlainUrl = () => `http://127.0.0.6:${(plainServer.address() as AddressInfo).port}`;

/** Lists the recorded responses as the service stores them. */
const listRecords = (events: RunEvent[]): ReplayableResponse[] =>
  listRequests(events).flatMap(({ seq: id, method, scheme, host, port, status, answer }) =>
    answer ? [{ id, method: method ?? '', scheme, host, port, status: status ?? 0, ...answer }] : [],
  );

const runRecorded = (source: string, inputs: object = {}) =>
  fixture.runWithFetch(source, { inputs: { port: fixture.port, ...inputs } });

const rehearse = (source: string, answers: ReplayableResponse[], more: Partial<Job> & { inputs?: object } = {}) =>
  fixture.runWithFetch(source, {
    kind: 'test',
    rehearsal: { answers },
    ...more,
    inputs: { port: fixture.port, ...more.inputs },
  });

const POSTS = `
def run(port):
    token = context.connections["api"].token
    url = f"https://api.test:{port}/items?key={token}&n="
    return [fetch(url + n, {"Authorization": f"Bearer {token}"}, b"{}") for n in "112"]
`;

/** Picks the status, the headers that code may use, and the body. */
const pickResponse = (output: unknown) =>
  (output as [number, Record<string, string>, string][]).map(([status, headers, body]) => {
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    return [status, named['content-type'], named.location, body];
  });

test('writes get recorded responses in order, also with other placeholders, and reach no host', async () => {
  const run = await runRecorded(POSTS);
  expect(fixture.seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
  const answers = listRecords(run.events);
  expect(answers).toMatchObject([
    {
      method: 'POST',
      host: 'api.test',
      status: 201,
      target: '/items?key={api}&n=1',
      contentType: 'application/json',
      location: '/items/1',
    },
    { target: '/items?key={api}&n=1' },
    { target: '/items?key={api}&n=2' },
  ]);
  expectNoValue(run.events);
  const placeholder = `gph_${'Zz9'.repeat(10)}ab`;
  const again = await rehearse(POSTS, answers, { credentials: [buildCredential(fixture.port, { placeholder })] });
  expect(pickResponse(again.finished.output)).toEqual(pickResponse(run.finished.output));
  expect(fixture.seen).toEqual([]);
  expect(listRequests(again.events).map(({ status, recorded }) => [status, recorded])).toEqual(
    answers.map(({ id }) => [201, id]),
  );
  expect(listRecords(again.events)).toEqual([]);
});

test('reads are forwarded with the credential or without; other writes are refused with a reason', async () => {
  const source = `
def run(port):
    token = context.connections["api"].token
    return [
        fetch(f"https://api.test:{port}/user", {"Authorization": f"Bearer {token}"})[0],
        fetch(f"https://other.test:{port}/page", method="HEAD")[0],
        fetch(f"https://api.test:{port}/user", method="OPTIONS")[0],
        fetch(f"https://api.test:{port}/items?n=1", {}, b"x"),
        fetch(f"https://other.test:{port}/items", {}, b"x", method="DELETE")[0],
        fetch(f"https://api.test:{port}/user", {"X-HTTP-Method-Override": "DELETE"})[0],
    ]
`;
  const { finished, events, log } = await rehearse(source, []);
  const refused = [
    403,
    expect.objectContaining({ 'gantry-rehearsal': 'refused' }),
    "api.test: a rehearsal can't write data, and POST /items was not recorded\n",
  ];
  expect(finished.output).toEqual([200, 200, 200, refused, 403, 403]);
  expect(fixture.seen.map(({ host, method, headers }) => [host, method, headers.authorization])).toEqual([
    ['api.test', 'GET', `Bearer ${VALUE}`],
    ['other.test', 'HEAD', undefined],
    ['api.test', 'OPTIONS', undefined],
  ]);
  const reported = listRequests(events).map(({ method, recorded, problem }) => [method, recorded, problem?.kind]);
  expect(reported).toEqual([
    ['GET', undefined, undefined],
    ['HEAD', undefined, undefined],
    ['OPTIONS', undefined, undefined],
    ['POST', null, 'refused'],
    ['DELETE', null, 'refused'],
    ['GET', null, 'refused'],
  ]);
  expect(log.join('\n')).toContain('POST /items was not recorded');
});

test('a method override in a header, a query or a form counts as a write, and can be recorded', async () => {
  const source = `
def run(port, base):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    seen = [fetch(url + path)[0] for url in (f"https://api.test:{port}", base) for path in (
        "/a?_method=DELETE", "/a?b=1;_method=DELETE", "/a?b=1&%5Fmethod=put", "/a?X-HTTP-Method-Override=x", "/a?httpMethod=patch", "/a?method=search")]
    seen += [fetch(f"https://api.test:{port}/a", {name: "DELETE"})[0] for name in ("X_HTTP_Method_Override", "X-HTTP_Method")]
    return seen + [fetch(f"https://api.test:{port}/a", form, b"_method=DELETE", "GET")[0], fetch(f"{base}/a", {"X_Http_Method": "PUT"})[0]]
`;
  const inputs = { base: getPlainUrl() };
  const read = [403, 403, 403, 403, 403, 200];
  const { finished, events } = await rehearse(source, [], { inputs });
  expect(finished.output).toEqual([...read, ...read, 403, 403, 403, 403]);
  expect(listRequests(events).filter(({ recorded }) => recorded === null)).toHaveLength(14);
  expect([...fixture.seen.map(({ url }) => url), ...plainSeen]).toEqual(['/a?method=search', 'GET /a?method=search ']);

  const run = await runRecorded(source, inputs);
  plainSeen.splice(0);
  const again = await rehearse(source, listRecords(run.events), { inputs });
  expect(again.finished.output).toEqual(run.finished.output);
  expect([...fixture.seen.map(({ url }) => url), ...plainSeen]).toEqual(['/a?method=search', 'GET /a?method=search ']);
});

test('a JSON body of a read that overrides the method, or that the proxy cannot read, counts as a write', async () => {
  const bodies = [
    '{"_method":"DELETE"}',
    '{"params":{"httpMethod":"put"}}',
    '[{"_method":"DELETE"}]',
    '{"a":1}{"_method":"DELETE"}',
  ];
  const source = `
def run(port, bodies):
    def read(body, **headers):
        return fetch(f"https://api.test:{port}/a", {"Content-Type": "application/json", **headers}, body.encode(), "GET")[0]
    return [read(body) for body in bodies] + [
        read("{}", **{"Content-Encoding": "gzip"}),
        read('{"a":"' + "a" * (1 << 20) + '"}'),
        read('{"query":{"term":{"method":"DELETE"}}}'),
        read('{"method":"search"}'),
    ]
`;
  const { finished } = await rehearse(source, [], { inputs: { bodies } });
  expect(finished.output).toEqual([403, 403, 403, 403, 403, 403, 200, 200]);
  expect(fixture.seen.map(({ body }) => body)).toEqual([
    '{"query":{"term":{"method":"DELETE"}}}',
    '{"method":"search"}',
  ]);

  const run = await runRecorded(source, { bodies });
  const answers = listRecords(run.events);
  expect(answers).toHaveLength(6);
  const again = await rehearse(source, answers, { inputs: { bodies } });
  expect(again.finished.output).toEqual(run.finished.output);
  expect(fixture.seen).toHaveLength(2);
});

test('a body of a read that overrides the method counts as a write, whatever its type says', async () => {
  const bodies = [
    '{"_method":"DELETE"}',
    ' [{"httpMethod":"put"}]',
    '{"a":1}{"_method":"DELETE"}',
    '\u{feff}{"_method":"DELETE"}',
    '{\0"\0_\0m\0e\0t\0h\0o\0d\0"\0:\0"\0p\0u\0t\0"\0}\0',
    '_method=DELETE',
    'a=1&X-HTTP-Method-Override=PUT',
    '--x\r\nContent-Disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--x--',
  ];
  const harmless = ['{"query":{"method":"search"}}', 'plain words', 'a=1&b=2'];
  const source = `
def run(port, types, bodies):
    def read(kind, body):
        connection = tunnel(port)
        data = body.encode()
        lines = [f"GET /a HTTP/1.1", f"Host: api.test:{port}", f"Content-Length: {len(data)}", "Connection: close", *([f"Content-Type: {kind}"] if kind else [])]
        connection.sendall("\\r\\n".join(lines).encode() + b"\\r\\n\\r\\n" + data)
        return int(read_all(connection)[9:12])
    return [[read(kind, body) for body in bodies] for kind in types]
`;
  const inputs = { types: [null, 'text/plain', 'application/octet-stream'], bodies: [...bodies, ...harmless] };
  const { finished } = await rehearse(source, [], { inputs });
  const expected = [...bodies.map(() => 403), ...harmless.map(() => 200)];
  expect(finished.output).toEqual([expected, expected, expected]);
  expect(fixture.seen.map(({ body }) => body)).toEqual([...harmless, ...harmless, ...harmless]);
});

test('a request is read before the response, which closes the connection', async () => {
  const post = (path: string) => `
def run(port):
    secure = tunnel(port)
    secure.sendall(f"POST /${path} HTTP/1.1\\r\\nHost: api.test:{port}\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\n".encode())
    secure.settimeout(0.5)
    try:
        early = secure.recv(12)
    except TimeoutError:
        early = b""
    secure.settimeout(10)
    secure.sendall(b"{}")
    return [early.decode(), read_all(secure)[:12]]
`;
  const answers = listRecords((await runRecorded(post('kept'))).events);
  expect((await rehearse(post('kept'), answers)).finished.output).toEqual(['', 'HTTP/1.1 201']);
  expect((await rehearse(post('other'), answers)).finished.output).toEqual(['', 'HTTP/1.1 403']);
});

test('network rules apply as in runs', async () => {
  const source = `
def run(port):
    try:
        return fetch(f"https://other.test:{port}/")[0]
    except OSError as error:
        return str(error)
`;
  const { finished, events } = await rehearse(source, [], { allowedHosts: [`api.test:${fixture.port}`] });
  expect(finished.output).toContain('403 not in network.allow');
  expect(listRequests(events)[0]).toMatchObject({ problem: { kind: 'refused' } });
  expect(listRequests(events)[0]).not.toHaveProperty('recorded');
  const offline = await rehearse(source, [], { network: 'none' });
  expect(listRequests(offline.events)).toEqual([]);
  expect(fixture.seen).toEqual([]);
});

test('nothing that code sends which no person has read leaves the executor, and recorded writes are replayed', async () => {
  const source = `
def run(port, base):
    token = context.connections["api"].token
    url = f"https://api.test:{port}"
    answers = [
        fetch(f"{url}/items?key={token}", {"Authorization": f"Bearer {token}"}, b"{}"),
        fetch(base + "/a", {}, b"x"),
        fetch(f"{url}/user", {"Authorization": f"Bearer {token}"}),
        fetch(f"https://unknown.test:{port}/leak"),
        fetch(f"{base}/b"),
        fetch(f"http://leak.unknown.test:{port}/"),
    ]
    return [[status, body if status == 403 else ""] for status, _, body in answers]
`;
  const inputs = { base: getPlainUrl() };
  const answers = listRecords((await runRecorded(`${source.split('fetch(f"{url}/user"')[0]}]`, inputs)).events);
  expect(answers).toHaveLength(2);
  fixture.seen.splice(0);
  fixture.asked.splice(0);
  plainSeen.splice(0);
  const { finished, events } = await rehearse(source, [], { inputs, rehearsal: { answers, isUnread: true } });
  const refused = (before: string, path: string) => [
    403,
    `${before}code that no person has read can't send requests, and GET ${path} was not recorded\n`,
  ];
  expect(finished.output).toEqual([
    [201, ''],
    [200, ''],
    refused('api.test: ', '/user'),
    refused('unknown.test: ', '/leak'),
    refused('', '/b'),
    refused('', '/'),
  ]);
  expect(listRequests(events).filter(({ recorded }) => recorded === null)).toHaveLength(4);
  expect([fixture.seen, fixture.asked, plainSeen]).toEqual([[], [], []]);
});

test('plain requests: writes are recorded with masked secrets and replayed, only reads are forwarded', async () => {
  const source = `
def run(port, base):
    secret = {"X-Secret": os.environ["KEY"]}
    return [fetch(base + path, secret, b"x")[::2] for path in ["/a?key=" + os.environ["KEY"], "/gzip", "/a"]] \\
        + [fetch(base + "/b", secret)[0]]
`;
  const secrets = { KEY: 'a-secret-value' };
  const inputs = { base: getPlainUrl() };
  const run = await fixture.runWithFetch(source.replace('[::2]', '[0]'), {
    secrets,
    inputs: { port: fixture.port, ...inputs },
  });
  const answers = listRecords(run.events);
  expect(answers.map(({ target, body }) => [target, body])).toEqual([
    ['/a?key=***', '{"number":1,"secret":"***"}'],
    ['/gzip', '{"number":2,"secret":"***"}'],
    ['/a', '{"number":3,"secret":"***"}'],
  ]);
  plainSeen.splice(0);
  const again = await rehearse(source, answers, { inputs, secrets });
  expect(again.finished.output).toEqual([...answers.map(({ body }) => [200, body]), 200]);
  expect(plainSeen).toEqual(['GET /b ']);
});

test('a plain read with a second request, a body or an upgrade is refused and not sent', async () => {
  const source = `
def run(port, base):
    host = base.removeprefix("http://")
    def raw(lines, rest=b""):
        connection = socket.create_connection(("127.0.0.1", 3128), timeout=10)
        head = [f"GET {base}/a HTTP/1.1", f"Host: {host}", *lines]
        connection.sendall("\\r\\n".join(head).encode() + b"\\r\\n\\r\\n" + rest)
        return read_all(connection).split("\\r\\n")[0]
    second = f"POST /evil HTTP/1.1\\r\\nHost: {host}\\r\\nContent-Length: 0\\r\\n\\r\\n".encode()
    return [
        raw([], second),
        raw([f"X-A: b\\n\\nPOST /evil HTTP/1.1\\nHost: {host}\\n"]),
        raw(["Content-Length: 5"], b"hello"),
        raw(["Transfer-Encoding : chunked"], b"0\\r\\n\\r\\n" + second),
        raw(["Upgrade: websocket"]),
        raw(["X-Http-Method: DELETE"]),
    ]
`;
  const { finished } = await rehearse(source, [], { inputs: { base: getPlainUrl() } });
  const refused = 'HTTP/1.1 403 not recorded';
  expect(finished.output).toEqual(['HTTP/1.1 200 OK', ...Array(5).fill(refused)]);
  expect(plainSeen).toEqual(['GET /a ']);
});

test('WebSockets and tunnels without HTTP over TLS are refused', async () => {
  const source = `
def run(port):
    secure = tunnel(port)
    secure.sendall(f"GET /ws HTTP/1.1\\r\\nHost: api.test:{port}\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: x\\r\\n\\r\\n".encode())
    upgraded = read_all(secure).split("\\r\\n")[0]
    raw = socket.create_connection(("127.0.0.1", 3128), timeout=10)
    raw.sendall(f"CONNECT other.test:{port} HTTP/1.1\\r\\n\\r\\n".encode())
    raw.recv(65536)
    raw.sendall(b"EHLO me\\r\\n")
    return [upgraded, read_all(raw)]
`;
  const { finished, events } = await rehearse(source, []);
  expect(finished.output).toEqual(['HTTP/1.1 403 not recorded', '']);
  expect(listRequests(events)).toMatchObject([
    { method: 'GET', recorded: null, problem: { kind: 'refused', message: expect.stringContaining('WebSocket') } },
    { method: null, recorded: null, problem: { kind: 'refused', message: expect.stringContaining("can't read") } },
  ]);
  expect(fixture.seen).toEqual([]);
});

test('a run in a separate process rehearses alike', async () => {
  const run = await runRecorded(POSTS);
  const again = await rehearse(POSTS, listRecords(run.events), { isolation: 'process' });
  expect(pickResponse(again.finished.output)).toEqual(pickResponse(run.finished.output));
  expect(fixture.seen).toEqual([]);
});

test('responses that are too long or too many are not recorded', async () => {
  const source = `
def run(port, base):
    fetch(base + "/long", {}, b"x")
    fetch(base + "/" + "a" * 3000, {}, b"x")
    fetch(f"https://other.test:{port}/", {}, b"x") if False else None
    for n in range(66):
        fetch(base + f"/{n}", {}, b"x")
`;
  const { events } = await runRecorded(source, { base: getPlainUrl() });
  const answers = listRecords(events);
  expect(answers).toHaveLength(64);
  expect(answers[0]).toMatchObject({ target: '/0' });
  const sent = listRequests(events).filter(({ method }) => method === 'POST');
  expect(sent).toHaveLength(68);
});

test.each([
  ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi', false, 'hi'],
  ['too little', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi', true, null],
  ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=1\r\nhi\r\n1\r\n!\r\n0\r\n\r\n', false, 'hi!'],
  ['a chunk that is cut', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhi', true, null],
  ['the end of the connection', 'HTTP/1.0 200 OK\r\n\r\nhi', true, 'hi'],
  ['no end of the connection', 'HTTP/1.0 200 OK\r\n\r\nhi', false, null],
  ['a first answer', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n', false, ''],
  ['no head', 'HTTP/1.1 200 OK\r\nContent', true, null],
  ['no HTTP', 'SSH-2.0-x\r\n\r\n', true, null],
  ['an unknown encoding', 'HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 2\r\n\r\nhi', true, null],
  ['a broken encoding', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi', true, null],
])('a plain response with %s', (_what, raw, isOver, body) => {
  expect(parsePlainResponse(Buffer.from(raw), isOver)?.body.toString() ?? null).toBe(body);
});
