import dgram from 'node:dgram';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import type { OutboundError } from './outbound-error';
import { resolveName } from './resolve-name';
import { type OutboundRequest, safeFetch } from './safe-fetch';

const LOCAL = ['127.0.0.0/8'];
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Resolves with its port. */
function listen(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket) => {
    socket.on('error', () => {});
    sockets.add(socket);
  });
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}

const serve = (answer: (req: IncomingMessage, res: ServerResponse) => void) => listen(http.createServer(answer));
/** A server that answers any request with these bytes and leaves the connection open. */
const speak = (bytes: string) => listen(net.createServer((socket) => socket.once('data', () => socket.write(bytes))));

const call = (url: string, request: Partial<OutboundRequest> = {}) =>
  safeFetch(url, { timeoutMs: 5000, responseBytesMax: 1000, allow: LOCAL, ...request });

const getFailure = async (url: string, request?: Partial<OutboundRequest>): Promise<OutboundError> =>
  call(url, request).then(
    () => Promise.reject(new Error('it was answered')),
    (err) => err,
  );

test('sends the given request and returns the response', async () => {
  let seen: unknown;
  const port = await serve(async (req, res) => {
    const body = Buffer.concat(await req.toArray()).toString();
    seen = { method: req.method, url: req.url, headers: req.headers, body };
    res.writeHead(503, { 'x-why': 'busy' }).end('later');
  });
  const response = await call(`http://127.0.0.1:${port}/hook?a=1#fragment`, {
    method: 'POST',
    headers: { 'webhook-id': 'msg_1', host: 'inside.example', 'Content-Length': '3', connection: 'keep-alive' },
    body: '{"né":1}',
  });
  expect(response).toMatchObject({ status: 503, headers: { 'x-why': 'busy' }, body: Buffer.from('later') });
  expect(response).toMatchObject({ truncated: false, durationMs: expect.any(Number) });
  expect(seen).toEqual({
    method: 'POST',
    url: '/hook?a=1',
    headers: { 'webhook-id': 'msg_1', host: `127.0.0.1:${port}`, 'content-length': '9', connection: 'close' },
    body: '{"né":1}',
  });
});

test.each([
  'http://127.0.0.1:9999/',
  'http://0x7f.1:9999/',
  'http://[::ffff:127.0.0.1]:9999/',
  'http://localhost:9999/',
])('%s is refused without a connection', async (url) => {
  const connect = jest.spyOn(net.Socket.prototype, 'connect');
  expect((await getFailure(url, { allow: [] })).code).toBe('refused_address');
  expect(connect).not.toHaveBeenCalled();
  connect.mockRestore();
});

test('a name is refused if any of its addresses is private, and the error does not say which', async () => {
  for (const addresses of [['10.0.0.7'], ['8.8.8.8', '10.0.0.7'], ['2606:4700::1', '::ffff:10.0.0.7']]) {
    const err = await getFailure('https://hooks.example/', { resolve: async () => addresses });
    expect(err.code).toBe('refused_address');
    expect(err.message).toBe('hooks.example:443 is not on the public internet');
  }
});

test('a name is resolved once, so a later change of its address has no effect', async () => {
  const port = await serve((req, res) => res.end(req.headers.host));
  const answers = [['127.0.0.1'], ['10.0.0.7']];
  const resolve = jest.fn(async () => answers.shift() ?? []);
  const { body } = await call(`http://rebinding.example:${port}/`, { resolve });
  expect(body.toString()).toBe(`rebinding.example:${port}`);
  expect(resolve).toHaveBeenCalledTimes(1);
});

test('the next checked address is tried if one refuses connections', async () => {
  const port = await serve((_, res) => res.end('here'));
  const { body } = await call(`http://two.example:${port}/`, { resolve: async () => ['127.0.0.9', '127.0.0.1'] });
  expect(body.toString()).toBe('here');
});

test('a name without an address is distinguished from a refused one', async () => {
  expect((await getFailure('http://empty.example/', { resolve: async () => [] })).code).toBe('dns');
  const missing = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
  const err = await getFailure('http://gone.example/', { resolve: () => Promise.reject(missing) });
  expect([err.code, err.message]).toEqual(['dns', "gone.example can't be resolved (ENOTFOUND)"]);
});

test('a redirect is returned as it is', async () => {
  let requests = 0;
  const port = await serve((_, res) => {
    requests++;
    res.writeHead(302, { location: 'http://169.254.169.254/' }).end();
  });
  const { status, headers } = await call(`http://127.0.0.1:${port}/`);
  expect([status, headers.location, requests]).toEqual([302, 'http://169.254.169.254/', 1]);
});

test('a body is cut at the limit and the rest is not read', async () => {
  const port = await serve((_, res) => {
    const more = setInterval(() => res.write('x'.repeat(700)), 1);
    res.on('close', () => clearInterval(more));
  });
  const { body, truncated } = await call(`http://127.0.0.1:${port}/`);
  expect([body.length, truncated]).toEqual([1000, true]);
  const exact = await serve((_, res) => res.end('x'.repeat(1000)));
  expect(await call(`http://127.0.0.1:${exact}/`)).toMatchObject({ truncated: false });
});

test('a stream that its sender leaves open ends once the caller has enough', async () => {
  const port = await serve((_, res) => void res.write('data: 1\n\n'));
  const response = await call(`http://127.0.0.1:${port}/`, { isEnough: (piece) => piece.includes('\n\n') });
  expect(response).toMatchObject({ status: 200, body: Buffer.from('data: 1\n\n'), truncated: false });
});

test('a receiver that responds before it has read the request is not sent the rest', async () => {
  const bodyBytes = 32 << 20;
  let taken = 0;
  let peer: net.Socket | undefined;
  const port = await listen(
    net.createServer((socket) => {
      peer = socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
      });
      socket.on('data', (chunk) => {
        taken += chunk.length;
      });
    }),
  );
  const { status } = await call(`http://127.0.0.1:${port}/`, { method: 'POST', body: Buffer.alloc(bodyBytes) });
  expect(status).toBe(413);
  const closed = new Promise((resolve) => peer?.once('close', resolve));
  peer?.resume();
  await closed;
  expect(taken).toBeLessThan(bodyBytes);
});

describe('the deadline holds', () => {
  const inTime = async (url: string, request?: Partial<OutboundRequest>) => {
    const { code } = await getFailure(url, { timeoutMs: 200, ...request });
    expect(code).toBe('timeout');
  };

  test('with unresponsive name servers', async () => {
    const silent = dgram.createSocket('udp4');
    closing.push(() => silent.close());
    const port = await new Promise<number>((resolve) =>
      silent.bind(0, '127.0.0.1', () => resolve(silent.address().port)),
    );
    await inTime('http://slow.example/', {
      resolve: (name, signal) => resolveName(name, signal, [`127.0.0.1:${port}`]),
    });
  });

  test('during TLS', async () => inTime(`https://127.0.0.1:${await listen(net.createServer())}/`));

  test('before the headers', async () => inTime(`http://127.0.0.1:${await serve(() => {})}/`));

  test('for a body that arrives byte by byte', async () => {
    const port = await serve((_, res) => {
      const drip = setInterval(() => res.write('.'), 20);
      res.on('close', () => clearInterval(drip));
    });
    await inTime(`http://127.0.0.1:${port}/`);
  });

  test('for endless interim responses', async () => {
    const port = await listen(
      net.createServer((socket) => {
        const drip = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
        socket.on('close', () => clearInterval(drip));
      }),
    );
    await inTime(`http://127.0.0.1:${port}/`);
  });
});

test('TLS verifies the requested host, and fails without a certificate for it', async () => {
  const named: string[] = [];
  const server = tls.createServer({
    SNICallback: (name, done) => {
      named.push(name);
      done(new Error('no certificate'));
    },
  });
  const err = await getFailure(`https://hooks.example.:${await listen(server)}/`, {
    resolve: async () => ['127.0.0.1'],
  });
  expect(err.code).toBe('tls');
  expect(named).toEqual(['hooks.example']);
});

test('a connection error does not reveal the address', async () => {
  const server = net.createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  const err = await getFailure(`http://hooks.example:${port}/`, { resolve: async () => ['127.0.0.1'] });
  expect([err.code, err.message]).toEqual(['connect', `hooks.example:${port} can't be reached (ECONNREFUSED)`]);
});

test.each([
  ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'connect'],
  ['a change of protocol', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', 'connect'],
  ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 'too_large'],
])('a response that is %s is an error', async (_, bytes, code) => {
  expect((await getFailure(`http://127.0.0.1:${await speak(bytes)}/`)).code).toBe(code);
});

test('an interrupted response is an error', async () => {
  const port = await serve((_, res) => {
    res.writeHead(200, { 'content-length': '100' }).write('half');
    setTimeout(() => res.destroy(), 20);
  });
  expect((await getFailure(`http://127.0.0.1:${port}/`)).code).toBe('connect');
});
