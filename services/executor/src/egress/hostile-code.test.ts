/** Tests code that tries to learn the value of a credential, or to send it elsewhere. */
import { buildCredential, expectNoValue, PLACEHOLDER, VALUE } from '../test/credential';
import { echoRequest, listRequests, setupCredentialFixture } from '../test/credential-fixture';

const fixture = setupCredentialFixture();

const listReached = () => fixture.seen.map(({ host, headers }) => [host, headers['x-key']]);

test('a value echoed by the host is unreadable for code in any form', async () => {
  fixture.setResponder((seen, response) => {
    const value = String(seen.headers['x-key']);
    const forms = [
      ...[value, encodeURIComponent(value), JSON.stringify(value), Buffer.from(value).toString('hex')],
      ...['', 'x', 'xy'].map((before) => Buffer.from(`${before}${value}, and more`).toString('base64')),
    ];
    response.writeHead(200, `OK ${value}`, {
      'x-forms': forms,
      'set-cookie': value,
    });
    for (const form of forms) for (const half of [form.slice(0, 11), form.slice(11)]) response.write(half);
    response.end();
  });
  const { finished, events, log } = await fixture.runWithFetch(`
def run(port):
    import http.client
    connection = http.client.HTTPSConnection("127.0.0.1", 3128)
    connection.set_tunnel("api.test", port)
    connection.request("GET", "/", headers={"X-Key": context.connections["api"].token})
    answer = connection.getresponse()
    body = answer.read().decode()
    everything = answer.reason + str(answer.headers.items()) + body
    print(everything)
    import sys
    sys.stderr.write(everything[::-1])
    open("/tmp/out.txt", "w").write(everything)
    context.artifact("out.txt", "/tmp/out.txt")
    # Masking of output would hide what the code sees: characters with a space between them are not masked.
    return " ".join(everything)
`);
  const read = String(finished.output).replaceAll(/(.) /g, '$1');
  expect(read.length).toBeGreaterThan(500);
  expectNoValue(read);
  for (const part of ['real-value', 'real%2Dvalue', Buffer.from('real-value').toString('hex')])
    expect(read).not.toContain(part);
  expectNoValue(events);
  expectNoValue([...log].reverse().join('').split('').reverse().join(''));
  const artifacts = [...fixture.service.objects].filter(([key]) => key.includes('out.txt'));
  expect(artifacts).toHaveLength(1);
  for (const [, bytes] of artifacts) expectNoValue(bytes.toString());
});

test('a value that the host returns transformed is masked in output, log and artifact names', async () => {
  fixture.setResponder((seen, response) => response.end([...String(seen.headers['x-key'])].reverse().join('')));
  const { finished, events, log } = await fixture.runWithFetch(`
def run(port):
    value = fetch(f"https://api.test:{port}/", {"X-Key": context.connections["api"].token})[2][::-1]
    print("it is", value)
    context.log("it is", field=value)
    context.artifact(value.replace("/", "-")[:30] + ".txt", b"x")
    return value
`);
  expect(finished.output).toBe('***');
  expect(log).toContain('it is ***');
  expectNoValue(events);
});

test('a redirect to another host, and a downgrade to http, carry the placeholder', async () => {
  fixture.setResponder((seen, response) => {
    if (seen.url === '/elsewhere') response.writeHead(302, { location: `https://other.test:${fixture.port}/` }).end();
    else if (seen.url === '/http') response.writeHead(302, { location: `http://api.test:${fixture.port}/` }).end();
    else echoRequest(seen, response);
  });
  const { finished, events } = await fixture.runWithFetch(`
def run(port):
    key = {"X-Key": context.connections["api"].token}
    seen = []
    for path in ("elsewhere", "http"):
        try:
            seen.append(fetch(f"https://api.test:{port}/{path}", key)[0])
        except OSError as error:
            seen.append(type(error).__name__)
    # The same without verification, to see what the other host gets.
    trust = ssl._create_unverified_context()
    request = urllib.request.Request(f"https://other.test:{port}/", headers=key)
    seen.append(json.loads(urllib.request.urlopen(request, context=trust).read())["headers"]["x-key"])
    return seen
`);
  expect(finished.output).toEqual([expect.anything(), expect.anything(), PLACEHOLDER]);
  expect(listReached().filter(([host]) => host === 'other.test')).toEqual([['other.test', PLACEHOLDER]]);
  const plain = listRequests(events).filter(({ scheme }) => scheme === 'http');
  expect(plain).toMatchObject([{ host: 'api.test', credentials: [] }]);
});

test('of two credentials only the one for the host is substituted', async () => {
  const other = `gph_${'Zz9'.repeat(10)}xy`;
  const credentials = [
    buildCredential(fixture.port),
    buildCredential(fixture.port, {
      name: 'other',
      placeholder: other,
      value: 'the-other-value',
      hosts: [`other.test:${fixture.port}`],
    }),
  ];
  const { events } = await fixture.runWithFetch(
    `
def run(port):
    all = context.connections
    fetch(f"https://api.test:{port}/", {"X-Key": all["api"].token + " " + all["other"].token})
    fetch(f"https://other.test:{port}/?key=" + all["other"].token, {"X-Key": all["api"].token})
`,
    { credentials },
  );
  expect(listReached()).toEqual([
    ['api.test', `${VALUE} ${other}`],
    ['other.test', PLACEHOLDER],
  ]);
  expect(fixture.seen[1]?.url).toBe('/?key=the-other-value');
  expect(listRequests(events).map(({ credentials }) => credentials)).toEqual([['api'], ['other']]);
});

test('neither Host header, nor SNI, nor an absolute address may name another host than the tunnel', async () => {
  const { finished } = await fixture.runWithFetch(`
def run(port):
    key = context.connections["api"].token
    def ask(text, sni=None):
        secure = tunnel(port, sni=sni)
        secure.sendall(text.replace("KEY", key).encode())
        return re.findall("HTTP/1.1 [0-9]+ [a-zA-Z]+", read_all(secure))
    end = "X-Key: KEY\\r\\nConnection: close\\r\\n\\r\\n"
    return [
        ask(f"GET / HTTP/1.1\\r\\nHost: other.test:{port}\\r\\n" + end),
        ask(f"GET / HTTP/1.1\\r\\nHost: api.test:1\\r\\n" + end),
        ask(f"GET / HTTP/1.1\\r\\nHost: api.test:{port}\\r\\n" + end, sni="other.test"),
        ask(f"GET https://other.test:{port}/ HTTP/1.1\\r\\nHost: api.test:{port}\\r\\n" + end),
        ask(f"GET https://me@api.test:{port}/ HTTP/1.1\\r\\nHost: api.test:{port}\\r\\n" + end),
        ask(f"GET / HTTP/1.1\\r\\nHost: api.test:{port}\\r\\n\\r\\nGET / HTTP/1.1\\r\\nHost: other.test:{port}\\r\\n" + end),
        ask(f"GET https://API.test:{port}/absolute HTTP/1.1\\r\\nHost: api.test:{port}\\r\\n" + end),
    ]
`);
  const misdirected = ['HTTP/1.1 421 misdirected'];
  expect(finished.output).toEqual([
    ...[misdirected, misdirected, misdirected, misdirected, ['HTTP/1.1 400 malformed']],
    ['HTTP/1.1 200 OK', ...misdirected],
    ['HTTP/1.1 200 OK'],
  ]);
  expect(fixture.seen.map(({ url, headers }) => [url, headers['x-key']])).toEqual([
    ['/', undefined],
    ['/absolute', VALUE],
  ]);
});

test('requests of ambiguous length or form are refused and never reach the host', async () => {
  const { finished } = await fixture.runWithFetch(`
def run(port):
    seen = []
    host = f"Host: api.test:{port}\\r\\n"
    key = "X-Key: " + context.connections["api"].token + "\\r\\n"
    for text in (
        f"POST / HTTP/1.1\\r\\n{host}{key}Content-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n",
        f"POST / HTTP/1.1\\r\\n{host}{key}Content-Length: 4\\r\\nContent-Length: 5\\r\\n\\r\\nabcde",
        f"POST / HTTP/1.1\\r\\n{host}{key}Transfer-Encoding: gzip, chunked\\r\\n\\r\\n0\\r\\n\\r\\n",
        f"GET / HTTP/1.1\\r\\n{host}{host}{key}\\r\\n",
        f"GET / HTTP/1.1\\r\\n{key}\\r\\n",
        f"GET / HTTP/1.1\\n{host}{key}\\r\\n",
        f"GET / HTTP/1.1\\r\\n{host}{key}X: a\\n b: c\\r\\n\\r\\n",
        f"GET / HTTP/1.1\\r\\n{host}{key}X : a\\r\\n\\r\\n",
        f"GET / HTTP/1.1\\r\\n{host}{key}X: a\\0b\\r\\n\\r\\n",
        f"CONNECT other.test:{port} HTTP/1.1\\r\\n{host}{key}\\r\\n",
        f"GET / HTTP/1.1\\r\\n{host}{key}Connection: upgrade\\r\\nUpgrade: h2c\\r\\n\\r\\n",
        f"GET /" + context.connections["api"].token * 2000 + f" HTTP/1.1\\r\\n{host}\\r\\n",
        "SSH-2.0-client\\r\\n\\r\\n",
    ):
        secure = tunnel(port)
        secure.sendall(text.encode())
        secure.settimeout(3)
        seen.append(read_all(secure)[:12])
    return seen
`);
  expect(finished.output).toHaveLength(13);
  for (const answer of finished.output as string[]) expect(answer).toMatch(/^(HTTP\/1\.1 (4\d\d|501)|)$/);
  expect(fixture.seen).toEqual([]);
});

test('a value with line breaks cannot inject headers', async () => {
  const value = 'a\r\nX-Injected: yes';
  const { finished } = await fixture.runWithFetch(
    `
def run(port):
    token = context.connections["api"].token
    return [fetch(f"https://api.test:{port}/?a={token}")[0], fetch(f"https://api.test:{port}/", {"X-Key": token})]
`,
    { credentials: [buildCredential(fixture.port, { value })] },
  );
  const [query, header] = finished.output as [number, [number, object, string]];
  expect([query, header[0]]).toEqual([200, 502]);
  expect(header[2]).toMatch(/control characters/);
  expect(fixture.seen).toHaveLength(1);
  expect(fixture.seen[0]?.headers['x-injected']).toBeUndefined();
});

test('an invalid response becomes a plain 502 or a closed connection, without the value', async () => {
  fixture.setResponder((seen, response) => {
    const { socket } = response;
    if (seen.url === '/split') socket?.end(`HTTP/1.1 200 OK\r\nA: b\nC: ${VALUE}\r\nContent-Length: 0\r\n\r\n`);
    if (seen.url === '/nonsense') socket?.end(`${VALUE}\r\n\r\n`);
    if (seen.url === '/short') socket?.end(`HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${VALUE}`);
    if (seen.url === '/two')
      socket?.end(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad`);
    if (seen.url === '/zip') {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(`not gzip ${VALUE}`);
    }
  });
  const { finished, events } = await fixture.runWithFetch(`
def run(port):
    seen = []
    for path in ("split", "nonsense", "short", "two", "zip"):
        try:
            seen.append(fetch(f"https://api.test:{port}/{path}", {"X-Key": context.connections["api"].token})[::2])
        except Exception as error:
            seen.append(type(error).__name__ + str(error))
    return seen
`);
  expect((finished.output as unknown[])[1]).toEqual([502, expect.stringMatching(/did not send a valid HTTP response/)]);
  expect((finished.output as unknown[])[3]).toEqual([200, 'ok']);
  expectNoValue(finished.output);
  expectNoValue(events);
});

test('names that resolve to private addresses get no credential', async () => {
  const hosts = ['inside.test', 'mixed.test'].map((name) => `${name}:${fixture.port}`);
  const { finished, log } = await fixture.runWithFetch(
    `
def run(port):
    seen = []
    for host in ("inside.test", "mixed.test"):
        try:
            fetch(f"https://{host}:{port}/", {"X-Key": context.connections["api"].token})
        except OSError as error:
            seen.append(str(error))
    return seen
`,
    { credentials: [buildCredential(fixture.port, { hosts })] },
  );
  expect(finished.output).toEqual(Array(2).fill(expect.stringMatching(/403 not a public address/)));
  expect(log).toHaveLength(2);
});

test('a name is resolved once per tunnel, which prevents DNS rebinding', async () => {
  const { finished } = await fixture.runWithFetch(
    `
def run(port):
    secure = tunnel(port, "rebinding.test")
    key = context.connections["api"].token
    secure.sendall(f"GET / HTTP/1.1\\r\\nHost: rebinding.test\\r\\nX-Key: {key}\\r\\nConnection: close\\r\\n\\r\\n".encode())
    first = read_all(secure)
    try:
        tunnel(port, "rebinding.test")
    except AssertionError as error:
        return [first.splitlines()[0], str(error)]
`,
    { credentials: [buildCredential(fixture.port, { hosts: [`rebinding.test:${fixture.port}`] })] },
  );
  // The host has a certificate for another name, which ends it: but at the address that was checked.
  expect(finished.output).toEqual(['HTTP/1.1 502 failed', expect.stringMatching(/403 not a public address/)]);
  expect(fixture.asked.filter((name) => name === 'rebinding.test')).toHaveLength(2);
  expect(fixture.seen).toEqual([]);
});

test('a host outside network.allow gets no credential, and the log names both', async () => {
  const { log } = await fixture.runWithFetch(
    `
def run(port):
    try:
        fetch(f"https://api.test:{port}/", {"X-Key": context.connections["api"].token})
    except OSError:
        pass
`,
    { allowedHosts: [`other.test:${fixture.port}`] },
  );
  expect(log).toEqual([
    `Connection to api.test:${fixture.port} refused: it is not in this worker's network.allow, so api can't be used there.`,
  ]);
  expect(fixture.seen).toEqual([]);
});

test('the placeholder of another or a finished run is not replaced', async () => {
  await fixture.runWithFetch('def run(port):\n    fetch(f"https://api.test:{port}/")');
  await fixture.runWithFetch(
    `
def run(port, old):
    fetch(f"https://api.test:{port}/", {"X-Key": old})
`,
    {
      inputs: { port: fixture.port, old: PLACEHOLDER },
      credentials: [
        buildCredential(fixture.port, { placeholder: `gph_${'New'.repeat(10)}xy`, value: 'a-later-value' }),
      ],
    },
  );
  expect(listReached()).toEqual([['api.test', PLACEHOLDER]]);
});

test.each(['zygote', 'process'] as const)(
  'no memory, file or variable of the sandbox contains the value (%s)',
  async (isolation) => {
    const { finished } = await fixture.runWithFetch(
      `
def run(port, half):
    context.connections["api"].token
    status, _, body = fetch(f"https://api.test:{port}/", {"X-Key": context.connections["api"].token})
    # Never together in this process, so that it does not find what it looks for.
    first, then = (bytes.fromhex(part) for part in half)
    found = []
    def search(data, where):
        at = data.find(first)
        while at >= 0:
            if data.startswith(then, at + len(first)):
                found.append(where)
            at = data.find(first, at + 1)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("environ", "cmdline"):
            search(open(f"/proc/{pid}/{name}", "rb").read(), name)
    for line in open("/proc/self/maps"):
        span, access = line.split()[:2]
        if "r" not in access or "[v" in line:
            continue
        start, end = (int(part, 16) for part in span.split("-"))
        with open("/proc/self/mem", "rb", 0) as memory:
            try:
                memory.seek(start)
                data = memory.read(end - start)
            except OSError:
                continue
        search(data, line)
    return [status, found]
`,
      {
        isolation,
        inputs: {
          port: fixture.port,
          half: [VALUE.slice(0, 12), VALUE.slice(12)].map((part) => Buffer.from(part).toString('hex')),
        },
      },
    );
    expect(finished.output).toEqual([200, []]);
    expect(fixture.seen[0]?.headers['x-key']).toBe(VALUE);
  },
);
