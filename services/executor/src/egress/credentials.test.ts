/** Tests code that uses credentials only by placeholder: real runs, real TLS on both sides. */
import zlib from 'node:zlib';
import { buildCredential, expectNoValue, PLACEHOLDER, VALUE } from '../test/credential';
import { buildFrame, listRequests, setupCredentialFixture } from '../test/credential-fixture';

const fixture = setupCredentialFixture();

test('a placeholder in a header becomes the value, and the value in the response the placeholder', async () => {
  const { finished, events } = await fixture.runWithFetch(`
def run(port):
    me = context.connections["api"]
    status, headers, body = fetch(f"{me.base_url}/user?a=1", {"Authorization": f"Bearer {me.token}"})
    print(body, headers)
    return [status, headers["x-echo"], json.loads(body)["headers"]["authorization"], headers["Content-Length"] == str(len(body))]
`);
  expect(finished.output).toEqual([200, `Bearer ${PLACEHOLDER}`, `Bearer ${PLACEHOLDER}`, true]);
  expect(fixture.seen).toMatchObject([
    {
      host: 'api.test',
      url: '/user?a=1',
      headers: { authorization: `Bearer ${VALUE}`, 'accept-encoding': 'identity' },
    },
  ]);
  expect(listRequests(events)).toMatchObject([
    {
      method: 'GET',
      scheme: 'https',
      host: 'api.test',
      port: fixture.port,
      path: '/user',
      status: 200,
      // In a header of its own, and in the body.
      credentials: ['api'],
      bytesSent: 0,
      echoed: 2,
    },
  ]);
  expectNoValue(events);
});

test('placeholders in basic credentials, path, query and any header are replaced, each with its encoding', async () => {
  const { finished, events } = await fixture.runWithFetch(`
def run(port):
    token = context.connections["api"].token
    basic = base64.b64encode(f"me:{token}".encode()).decode()
    fetch(f"https://api.test:{port}/bot{token}/send?key={token}&b=2", {"Authorization": "Basic " + basic, "X-Key": token})
`);
  expect(finished.status).toBe('completed');
  const [{ url, headers } = { url: '', headers: {} as Record<string, unknown> }] = fixture.seen;
  expect(Buffer.from(String(headers.authorization).slice(6), 'base64').toString()).toBe(`me:${VALUE}`);
  expect(headers['x-key']).toBe(VALUE);
  const parsed = new URL(url, 'https://api.test');
  expect(parsed.searchParams.get('key')).toBe(VALUE);
  expect(parsed.searchParams.get('b')).toBe('2');
  expect(decodeURIComponent(parsed.pathname)).toBe(`/bot${VALUE}/send`);
  expect(listRequests(events)[0]?.path).toBe(`/bot${PLACEHOLDER}/send`);
});

const BODIES = `
import gzip
def run(port):
    token = context.connections["api"].token
    url = f"https://api.test:{port}/"
    as_json = {"Content-Type": "application/json"}
    answers = [
        fetch(url, as_json, json.dumps({"auth": {"key": token}}).encode()),
        fetch(url, {"Content-Type": "application/x-www-form-urlencoded"}, f"key={token}&b=1".encode()),
        fetch(url, {"Content-Type": "text/plain"}, iter([token[:9].encode(), token[9:].encode()])),
        fetch(url, as_json, json.dumps({"other": [token]}).encode()),
        fetch(url, {**as_json, "Content-Encoding": "gzip"}, gzip.compress(token.encode())),
    ]
    return [[status, body if status == 403 else None] for status, _, body in answers]
`;
const buildRefusal = (entry: string) => [
  403,
  `api.test: the connection api is not allowed in the body of requests; to allow it there, add ${entry} to the places of the connection, and for a worker, also list the connection's name under its in_body\n`,
];

test('placeholders in bodies are replaced where declared, with the right length, not in encoded ones', async () => {
  const { finished } = await fixture.runWithFetch(BODIES, {
    credentials: [buildCredential(fixture.port, { places: ['body'] })],
  });
  expect(finished.output).toEqual(Array(5).fill([200, null]));
  const [json, form, chunked, list, gzip] = fixture.seen;
  expect(JSON.parse(json?.body ?? '')).toEqual({ auth: { key: VALUE } });
  expect(new URLSearchParams(form?.body).get('key')).toBe(VALUE);
  expect(chunked?.body).toBe(VALUE);
  expect(JSON.parse(list?.body ?? '')).toEqual({ other: [VALUE] });
  expect(zlib.gunzipSync(Buffer.from(gzip?.body ?? '', 'latin1')).toString()).toBe(PLACEHOLDER);
});

test('placeholders in undeclared body fields are refused, and the response says how to allow them', async () => {
  const credentials = [buildCredential(fixture.port, { places: ['header', 'body:key'] })];
  const { finished } = await fixture.runWithFetch(BODIES, { credentials });
  expect(finished.output).toEqual([
    ...[[200, null], [200, null], buildRefusal('body'), buildRefusal('body:other')],
    [200, null],
  ]);
  expect(fixture.seen).toHaveLength(3);
  const none = await fixture.runWithFetch(BODIES);
  expect(none.finished.output).toEqual([
    ...[buildRefusal('body:key'), buildRefusal('body:key'), buildRefusal('body'), buildRefusal('body:other')],
    [200, null],
  ]);
  expect(fixture.seen).toHaveLength(1);
});

test('headers are allowed by default; query, path and cookies only by name', async () => {
  const source = `
def run(port):
    token = context.connections["api"].token
    def ask(path="/", headers={}):
        status, _, body = fetch(f"https://api.test:{port}{path}", headers)
        return body.rsplit("add ", 1)[-1].split(" ")[0] if status == 403 else status
    basic = base64.b64encode(f"me:{token}".encode()).decode()
    return [
        ask(headers={"X-Key": token}),
        ask(headers={"Authorization": "Basic " + basic}),
        ask(f"/?key={token}"), ask(f"/?a=1&other={token}"), ask(f"/?{token}=key"),
        ask(f"/bot{token}/send"),
        ask(headers={"Cookie": f"a=1; sid={token}"}), ask(headers={"Cookie": f"sid=1; {token}"}),
    ]
`;
  const runWithPlaces = async (places: string[]) =>
    (await fixture.runWithFetch(source, { credentials: [buildCredential(fixture.port, { places })] })).finished.output;
  expect(await runWithPlaces(['header'])).toEqual([
    ...[200, 200, 'query:key', 'query:other', 'query', 'path', 'cookie:sid', 'cookie'],
  ]);
  expect(await runWithPlaces(['header:authorization', 'query:key', 'path', 'cookie:sid'])).toEqual([
    ...['header:x-key', 200, 200, 'query:other', 'query', 200, 200, 'cookie'],
  ]);
  const [, query, path, cookie] = fixture.seen;
  expect(new URL(query?.url ?? '', 'https://api.test').searchParams.get('key')).toBe(VALUE);
  expect(decodeURIComponent(path?.url ?? '')).toBe(`/bot${VALUE}/send`);
  expect(cookie?.headers.cookie).toBe(`a=1; sid=${VALUE}`);
});

test('a secret with hosts is a placeholder in the environment and in context.secrets', async () => {
  const { finished } = await fixture.runWithFetch(
    `
def run(port):
    assert os.environ["API_KEY"] == context.secrets["API_KEY"]
    fetch(f"https://api.test:{port}/", {"X-Key": os.environ["API_KEY"]})
    return [os.environ["API_KEY"], sorted(context.secrets), len(context.connections)]
`,
    {
      credentials: [buildCredential(fixture.port, { kind: 'secret', name: 'API_KEY' })],
      secrets: { OTHER: 'other-value' },
    },
  );
  expect(finished.output).toEqual([PLACEHOLDER, ['API_KEY', 'OTHER'], 0]);
  expect(fixture.seen[0]?.headers['x-key']).toBe(VALUE);
});

test('an exposed connection passes its value to code, whose tunnels to that host are not intercepted', async () => {
  const { finished, log } = await fixture.runWithFetch(
    `
def run(port):
    token = context.connections["api"].token
    print("it is", token)
    secure = tunnel(port, verify=False)
    secure.sendall(f"GET / HTTP/1.1\\r\\nHost: api.test:{port}\\r\\nX-Key: {token}\\r\\nConnection: close\\r\\n\\r\\n".encode())
    read_all(secure)
    return token
`,
    { credentials: [buildCredential(fixture.port, { exposed: true })] },
  );
  expect(fixture.seen.map(({ headers }) => headers['x-key'])).toEqual([VALUE]);
  expect(finished.output).toBe('***');
  expect(log).toContain('it is ***');
});

test('a connection is found by its declared name, describes itself, and does not reveal its token', async () => {
  const { finished } = await fixture.runWithFetch(
    `
def run(port):
    all = context.connections
    me = all["api"]
    try:
        all["slack"]
    except KeyError as error:
        missing = str(error)
    return [repr(me), me.hosts, me.scopes, me.account_label, "api" in all, "x" in all, list(all), repr(all), missing]
`,
    { credentials: [buildCredential(fixture.port)] },
  );
  const host = `api.test:${fixture.port}`;
  expect(finished.output).toEqual([
    ...[`<connection api to ${host}>`, [host], ['read'], 'me@api', true, false, ['api'], '<connections api>'],
    expect.stringContaining("as in connections: ['slack']. It has api."),
  ]);
});

test('a connection is reused for several requests, in order, with every kind of response', async () => {
  fixture.setResponder(({ url }, response) => {
    if (url === '/204') response.writeHead(204).end();
    else if (url === '/304') response.writeHead(304, { etag: '"1"' }).end();
    else if (url === '/head') response.writeHead(200, { 'content-length': '12345' }).end();
    else if (url === '/cookies') response.setHeader('set-cookie', ['a=1', `b=${encodeURIComponent(VALUE)}`]).end('x');
    else if (url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(zlib.gzipSync(`<${VALUE}>`));
    else if (url === '/zstd') response.writeHead(200, { 'content-encoding': 'zstd' }).end('anything');
    else {
      for (const piece of ['one ', VALUE.slice(0, 9), VALUE.slice(9), ' two']) response.write(piece);
      response.end();
    }
  });
  const { finished, events } = await fixture.runWithFetch(`
def run(port):
    connection = http.client.HTTPSConnection("127.0.0.1", 3128)
    connection.set_tunnel("api.test", port)
    seen = []
    for method, path in (("GET", "/204"), ("GET", "/304"), ("HEAD", "/head"), ("GET", "/cookies"), ("GET", "/gzip"), ("GET", "/chunked"), ("GET", "/zstd")):
        connection.request(method, path, headers={"Authorization": context.connections["api"].token})
        answer = connection.getresponse()
        seen.append([answer.status, answer.headers.get_all("set-cookie") or answer.headers["content-length"], answer.read().decode()])
    return seen
`);
  expect(finished.output).toEqual([
    [204, null, ''],
    [304, null, ''],
    [200, '12345', ''],
    [200, ['a=1', `b=${PLACEHOLDER}`], 'x'],
    [200, null, `<${PLACEHOLDER}>`],
    [200, null, `one ${PLACEHOLDER} two`],
    [502, expect.anything(), expect.stringMatching(/encoding that can’t be searched/)],
  ]);
  expect(listRequests(events)).toHaveLength(7);
  expectNoValue(events);
});

test('large bodies stream both ways with backpressure and unchanged length, with masked values', async () => {
  const length = 32 << 20;
  let sent = 0;
  fixture.setResponder((seen, response) => {
    if (seen.url === '/sent') return void response.end(String(sent));
    if (seen.method === 'POST') return void response.end(String(seen.body.length));
    response.writeHead(200, { 'content-length': String(length) });
    const block = Buffer.alloc(1 << 16, '.');
    block.write(VALUE, 1_000);
    const more = () => {
      while (sent < length) {
        sent += block.length;
        if (!response.write(block)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });
  const { finished } = await fixture.runWithFetch(`
def run(port):
    def sent():
        return int(fetch(f"https://api.test:{port}/sent")[2])
    request = urllib.request.Request(f"https://api.test:{port}/", headers={"X-Key": context.connections["api"].token})
    answer = urllib.request.urlopen(request)
    size, asterisks, before, stuck = 0, 0, -1, sent()
    while stuck != before:
        before, stuck = stuck, sent()
    while piece := answer.read(1 << 20):
        size += len(piece)
        asterisks += piece.count(b"*")
    up = fetch(f"https://api.test:{port}/", {"Expect": "100-continue"}, bytes(8 << 20), "POST")
    return [stuck < ${24 << 20}, size, asterisks, up[2]]
`);
  expect(finished.output).toEqual([true, length, (length >> 16) * VALUE.length, String(8 << 20)]);
});

test('a WebSocket is opened with the value, and its messages do not reveal it', async () => {
  fixture.setSocketHandler(({ headers }, socket) => {
    const value = String(headers['x-key']);
    socket.write(buildFrame(`key ${value} `));
    // A fragment each, with a control frame between them.
    socket.write(
      Buffer.concat([buildFrame(value.slice(0, 7), { isFinal: false }), buildFrame(value.slice(0, 90), { opcode: 9 })]),
    );
    socket.write(
      Buffer.concat([buildFrame(value.slice(7), { opcode: 0, isFinal: false }), buildFrame(' end', { opcode: 0 })]),
    );
    // A client's frame with a mask of zeros: its payload is readable.
    socket.on('data', (bytes: Buffer) => socket.write(buildFrame(bytes.subarray(6))));
  });
  const { finished, events } = await fixture.runWithFetch(`
def run(port):
    secure = tunnel(port)
    key = context.connections["api"].token
    secure.sendall((f"GET /live?a=1 HTTP/1.1\\r\\nHost: api.test:{port}\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n"
                    f"Sec-WebSocket-Extensions: permessage-deflate\\r\\nX-Key: {key}\\r\\n\\r\\n").encode())
    secure.sendall(b"\\x81\\x84" + bytes(4) + b"ping")
    got = b""
    while not got.endswith(b"ping"):
        got += secure.recv(1000)
    head, frames = got.split(b"\\r\\n\\r\\n", 1)
    seen = []
    while frames:
        seen.append([frames[0], frames[2:2 + frames[1]].decode("latin1")])
        frames = frames[2 + frames[1]:]
    return [head.decode("latin1").split("\\r\\n"), seen]
`);
  const [lines, frames] = finished.output as [string[], [number, string][]];
  expect(lines[0]).toBe('HTTP/1.1 101 Switching Protocols');
  expect(lines).toContain(`X-Echo: ${PLACEHOLDER}`);
  const messages: string[] = [];
  for (const [head, text] of frames.filter(([head]) => (head & 0x0f) < 8)) {
    messages.push(head & 0x0f ? text : `${messages.pop()}${text}`);
  }
  expect(messages).toEqual([`key ${PLACEHOLDER} `, `${PLACEHOLDER} end`, 'ping']);
  expect(frames).toContainEqual([0x89, '*'.repeat(VALUE.length)]);
  expect(fixture.seen).toMatchObject([{ url: '/live?a=1', headers: { 'x-key': VALUE } }]);
  expect(fixture.seen[0]?.headers['sec-websocket-extensions']).toBeUndefined();
  expect(listRequests(events)).toMatchObject([{ path: '/live', status: 101, credentials: ['api'] }]);
  expectNoValue(events);
});
