/** Tests code that tries to smuggle a request past the proxy, or a value in pieces that no search finds. */
import { buildCredential, expectNoValue, PLACEHOLDER, VALUE } from '../test/credential';
import { buildFrame, listRequests, setupCredentialFixture } from '../test/credential-fixture';
import { ENCODERS } from './credential-substitution';
import { createResponseRedaction } from './response-redaction';

const fixture = setupCredentialFixture();

const RAW = `
def raw(port, lines, rest="", secure=None):
    secure = secure or tunnel(port)
    head = [line.replace("KEY", context.connections["api"].token) for line in lines]
    secure.sendall(("\\r\\n".join(head) + "\\r\\n\\r\\n" + rest).encode())
    secure.settimeout(3)
    return read_all(secure)
`;

test('Connection can name neither Host nor framing headers, in a run or a rehearsal', async () => {
  const source = `${RAW}
def run(port):
    host = f"Host: api.test:{port}"
    hidden = f"DELETE /second HTTP/1.1\\r\\n{host}\\r\\n\\r\\n"
    first = ["GET /first HTTP/1.1", host, f"Content-Length: {len(hidden)}"]
    return [
        raw(port, [*first, "Connection: keep-alive, content-length"], hidden)[:12],
        raw(port, ["GET / HTTP/1.1", host, "X-Key: KEY", "Connection: keep-alive, host"])[:12],
        raw(port, ["GET / HTTP/1.1", host, "X-Key: KEY", "Connection: x-key"])[:12],
        raw(port, ["POST / HTTP/1.1", host, "Transfer-Encoding: chunked", "Connection: Transfer-Encoding"], "0\\r\\n\\r\\n")[:12],
        raw(port, ["GET / HTTP/1.1", host, "Connection: Upgrade, host", "Upgrade: websocket"])[:12],
        raw(port, ["GET /last HTTP/1.1", host, "X-Key: KEY", "TE: trailers", "Connection: TE, close"])[:12],
    ]
`;
  const refused = Array(5).fill('HTTP/1.1 400');
  const run = await fixture.runWithFetch(source);
  expect(run.finished.output).toEqual([...refused, 'HTTP/1.1 200']);
  expect(fixture.seen.map(({ method, url, headers }) => [method, url, headers.te])).toEqual([
    ['GET', '/last', undefined],
  ]);
  const rehearsal = await fixture.runWithFetch(source, { kind: 'test', rehearsal: { answers: [] } });
  expect((rehearsal.finished.output as string[]).every((line) => /^HTTP\/1.1 [24]0/.test(line))).toBe(true);
  expect(fixture.seen.map(({ method, url }) => [method, url])).toEqual([['GET', '/last']]);
});

test('a request is rewritten with the Host of the tunnel and the framing of its body', async () => {
  const { finished } = await fixture.runWithFetch(`${RAW}
def run(port):
    return [
        raw(port, ["PUT /chunks HTTP/1.1", f"hOsT: API.test:{port}", "Transfer-Encoding: chunked", "Trailer: X-Late", "Connection: close"],
            "3;ext=1\\r\\nabc\\r\\n0\\r\\nX-Late: a\\r\\n\\r\\n")[:12],
        raw(port, ["PUT /length HTTP/1.1", f"Host: api.test:{port}", "Content-Length: 003", "Keep-Alive: timeout=5", "Connection: close"], "abc")[:12],
        raw(port, ["OPTIONS * HTTP/1.1", f"Host: api.test:{port}", "Connection: close"])[:12],
    ]
`);
  expect(finished.output).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
  const host = `api.test:${fixture.port}`;
  const [chunks, length] = fixture.seen;
  // It was read whole, to be searched for placeholders.
  expect(chunks).toMatchObject({ body: 'abc', headers: { host, 'content-length': '3' } });
  for (const name of ['trailer', 'transfer-encoding', 'x-late']) expect(chunks?.headers).not.toHaveProperty(name);
  expect(length).toMatchObject({ body: 'abc', headers: { host, 'content-length': '3' } });
  expect(length?.headers).not.toHaveProperty('keep-alive');
});

test('a response keeps its framing headers, even if Connection names them', async () => {
  fixture.setResponder(({ headers }, response) => {
    response.socket?.end(
      `HTTP/1.1 200 OK\r\nConnection: content-length, x-drop, content-type\r\nX-Drop: 1\r\nContent-Type: text/a\r\nContent-Length: ${VALUE.length}\r\n\r\n${headers['x-key']}`,
    );
  });
  const { finished } = await fixture.runWithFetch(`
def run(port):
    status, headers, body = fetch(f"https://api.test:{port}/", {"X-Key": context.connections["api"].token})
    return [status, {name.lower(): value for name, value in headers.items()}, body]
`);
  const [status, headers, body] = finished.output as [number, Record<string, string>, string];
  expect([status, headers['content-type'], body]).toEqual([200, 'text/a', PLACEHOLDER]);
  expect(headers).not.toHaveProperty('x-drop');
});

test('a page that echoes its path does not reveal the value', async () => {
  const value = 'Zq8+ab/cd==';
  fixture.setResponder(({ url }, response) => response.writeHead(404).end(`no page at ${url}`));
  const { finished } = await fixture.runWithFetch(
    `
def run(port):
    token = context.connections["api"].token
    return fetch(f"https://api.test:{port}/a/{token}?b={token}")[2]
`,
    { credentials: [buildCredential(fixture.port, { value })] },
  );
  expect(fixture.seen[0]?.url).toBe('/a/Zq8+ab%2Fcd==?b=Zq8%2Bab%2Fcd%3D%3D');
  expect(finished.output).toBe(`no page at /a/${PLACEHOLDER}?b=${PLACEHOLDER}`);
});

const BYTES = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('');
const values = [BYTES, 'Zq8+ab/cd==', 'a b%41\\u0041&amp;"', "it's/a~(test)*!", 'päß+wörd', '{"a":"b\\n"}'];
const WRITERS: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  JSON: JSON.stringify,
  'JSON without ASCII below letters': (text) =>
    text.replaceAll(/[^a-z0-9 ]/gi, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`),
  'HTML, decimal': (text) => text.replaceAll(/[^a-z0-9]/gi, (c) => `&#${c.charCodeAt(0)};`),
  'HTML, hexadecimal': (text) => text.replaceAll(/[+&<>"'/=]/g, (c) => `&#x${c.charCodeAt(0).toString(16)};`),
  'HTML, named': (text) =>
    text.replaceAll(
      /[+&"/=]/g,
      (c) => ({ '+': '&plus;', '&': '&amp;', '"': '&quot;', '/': '&sol;', '=': '&equals;' })[c] ?? c,
    ),
  'a URL': encodeURIComponent,
  'a URL of classic ASP': (text) =>
    text.replaceAll(/[^a-z0-9]/gi, (c) => `%u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
};

test.each(Object.entries(ENCODERS))(
  'the output of %s is found in a response, also if the host escapes it',
  (_, encode) => {
    for (const value of values) {
      const credentials = [buildCredential(1, { value })];
      for (const write of Object.values(WRITERS)) {
        for (const around of ['', '\\', '%', '&', '%4', '\\u00', 'ab']) {
          const written = write(around + encode(value));
          const expected = write(around);
          const found = createResponseRedaction(credentials)(() => {})
            .bytes(Buffer.from(`<${written}>`))
            .toString();
          const [start, end] = [expected.replace(/"$/, ''), expected.endsWith('"') ? '"' : ''];
          expect(found).toBe(`<${start}${PLACEHOLDER}${end}>`);
        }
      }
    }
  },
);

test('a placeholder after an incomplete escape is refused', async () => {
  const { finished } = await fixture.runWithFetch(
    `${RAW}
def run(port):
    token = context.connections["api"].token
    url = f"https://api.test:{port}"
    as_json = {"Content-Type": "application/json"}
    as_form = {"Content-Type": "application/x-www-form-urlencoded"}
    seen = [fetch(url + path)[0] for path in (f"/?k=%4{token}", f"/?k=%{token}", f"/?k=%254{token}", f"/%4{token}", f"/?k=%5Cu00{token}", f"/?k=%26%23x4{token}")]
    seen += [fetch(url, {"Cookie": "a=%4" + token})[0], fetch(url, as_form, b"a=%4" + token.encode())[0]]
    seen += [fetch(url, as_json, text.encode())[0] for text in ('{"a":"\\\\u00' + token + '"}', '{"a":"\\\\' + token + '"}')]
    seen += [fetch(url, {"X-Key": text + token})[0] for text in ("&#4", "\\\\x", "%")]
    seen += [fetch(f"{url}/?k={text}{token}")[0] for text in (
        "%u", "%25u00", "%u004", "%81", "%2581", "%C3%A4", "%5CU0000004", "%5Cu%30%30", "%255C%2534", "%5C00004")]
    seen += [fetch(url, {"X-Key": text + token})[0] for text in ("%u00", "\\\\U000000", "\\\\x{4", "\\\\0000", "\\\\a")]
    return [seen, [fetch(f"{url}/?k={text}{token}")[0] for text in ("100%25%20", "%41u0041", "%5C0041%20")]]
`,
    {
      credentials: [
        buildCredential(fixture.port, { value: 'Cfa9-a-value', places: ['header', 'path', 'query', 'cookie', 'body'] }),
      ],
    },
  );
  expect(finished.output).toEqual([Array(28).fill(400), [200, 200, 200]]);
  expect(fixture.seen.map(({ url }) => url)).toEqual(
    ['100%25%20', '%41u0041', '%5C0041%20'].map((text) => `/?k=${text}Cfa9-a-value`),
  );
});

test('no range of a stored value can be requested, and no response is relayed unsearched', async () => {
  fixture.setResponder(({ url, headers }, response) => {
    const ranges = Object.keys(headers).filter((name) => name.includes('range'));
    if (url === '/range') return void response.end(ranges.join());
    response.socket?.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n');
  });
  const { finished } = await fixture.runWithFetch(`
def run(port):
    url = f"https://api.test:{port}"
    names = ["Range", "If-Range", "Request-Range", "X-Ms-Range", "X-Ms-Range-Get-Content-MD5", "X-Ms-Range-Get-Content-CRC64"]
    return [fetch(url + path, {name: "bytes=0-3" for name in names})[::2] for path in ("/range", "/coded")]
`);
  expect(finished.output).toEqual([
    [200, ''],
    [502, expect.stringContaining('transfer encoding that can')],
  ]);
});

test.each([
  ['compressed', Buffer.from([0xc1, 2, 0x61, 0x62])],
  ['masked', Buffer.concat([Buffer.from([0x81, 0x82, 0, 0, 0, 0]), Buffer.from('ab')])],
  ['a fragment of nothing', buildFrame('ab', { opcode: 0 })],
  ['a control frame in pieces', buildFrame('ab', { opcode: 9, isFinal: false })],
])('a WebSocket whose frame is %s is closed', async (_, bytes) => {
  fixture.setSocketHandler((_, socket) => socket.write(Buffer.concat([bytes, buildFrame('last')])));
  const { finished, events } = await fixture.runWithFetch(`${RAW}
def run(port):
    return raw(port, ["GET /live HTTP/1.1", f"Host: api.test:{port}", "Connection: Upgrade", "Upgrade: websocket", "X-Key: KEY"])
`);
  expect(finished.output).toContain('101 Switching Protocols');
  expect(finished.output).not.toContain('last');
  expect(listRequests(events)).toMatchObject([{ path: '/live', status: 101 }]);
  expectNoValue(finished.output);
});
