import { createServer, type Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { HEADER_BYTES_MAX, handleMalformedRequests } from './malformed-request';

let server: Server;
beforeAll(async () => {
  server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, (req, res) => {
    if (req.url === '/begun') res.writeHead(200, { 'Content-Type': 'text/plain' }).write('begun');
    else req.resume().once('end', () => res.end('ok'));
  });
  handleMalformedRequests(server, 'detail');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Returns everything that is received until the connection ends. */
function send(request: string): Promise<string> {
  return new Promise((resolve) => {
    const { port } = server.address() as AddressInfo;
    const socket = net.connect(port, '127.0.0.1', () => socket.write(Buffer.from(request, 'latin1')));
    let received = '';
    socket.on('data', (data) => {
      received += data;
    });
    socket.on('error', () => {}).once('close', () => resolve(received));
  });
}

test.each([
  [400, 'malformed_request', 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n'],
  [400, 'malformed_request', 'GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n'],
  [400, 'malformed_request', 'GET / HTTP/1.1\r\nHost: x\r\nCookie: a\x01b\r\n\r\n'],
  [431, 'header_too_large', `GET / HTTP/1.1\r\nHost: x\r\nCookie: ${'a'.repeat(HEADER_BYTES_MAX)}\r\n\r\n`],
])('what the parser refuses with %d has a body and a request id', async (status, code, request) => {
  const [head = '', body = ''] = (await send(request)).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/^X-Request-Id: req_[\w-]{21}$/m);
  expect(head).toMatch(/^Cache-Control: no-store$/m);
  expect(JSON.parse(body)).toEqual({ detail: expect.any(String), code });
});

test('a started response is aborted, not followed by another one', async () => {
  const received = await send('POST /begun HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n');
  expect(received).not.toContain('malformed_request');
});
