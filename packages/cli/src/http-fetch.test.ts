import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpFetch as createFetch, fetchOverHttp as fetchRequest } from './http-fetch';
import { Request, Upload } from './http-messages';

/** The program has these requests in the place of those of Node. */
const fetchOverHttp = (request: Request) => fetchRequest(request as never);
const createHttpFetch = (responseMsMax: number) => (request: Request) => createFetch(responseMsMax)(request as never);

let answer: (req: IncomingMessage, res: ServerResponse) => void;
const server = createServer((req, res) => answer(req, res));
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => server.close());

test('a request has its method, headers and body, also with a method that rarely has a body', async () => {
  for (const method of ['POST', 'DELETE']) {
    answer = async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      res.setHeader('Vary', ['a', 'b']);
      res.end(`${req.method} ${req.headers.authorization} ${Buffer.concat(chunks)}`);
    };
    const request = new Request(url, { method, headers: { Authorization: 'Bearer t' }, body: 'grüße' });
    const response = await fetchOverHttp(request);
    expect(response).toMatchObject({ ok: true, status: 200, url });
    expect(response.headers.get('vary')).toBe('a, b');
    expect(await response.text()).toBe(`${method} Bearer t grüße`);
  }
});

test('a body is streamed, and an abort ends it', async () => {
  answer = (_req, res) => void res.write('first');
  const controller = new AbortController();
  const response = await fetchOverHttp(new Request(url, { signal: controller.signal }));
  const reader = response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
  controller.abort();
  await expect(reader?.read()).rejects.toThrow('aborted');
});

test('a server that accepts a request and never responds is given up', async () => {
  answer = () => {};
  await expect(createHttpFetch(50)(new Request(url))).rejects.toThrow('no response after 50 ms');
  answer = (_req, res) => {
    res.flushHeaders();
    setTimeout(() => res.end('slow'), 200);
  };
  expect(await (await createHttpFetch(100)(new Request(url))).text()).toBe('slow');
});

test('responses without a body, redirects and the lack of a response are those of fetch', async () => {
  answer = (_req, res) => void res.writeHead(204).end();
  expect(await fetchOverHttp(new Request(url))).toMatchObject({ status: 204, body: null });
  answer = (req, res) =>
    req.url === '/' ? void res.writeHead(302, { Location: '/there' }).end() : void res.end(`at ${req.url}`);
  expect(await (await fetchOverHttp(new Request(url))).text()).toBe('at /there');
  answer = (req) => void req.socket.destroy();
  await expect(fetchOverHttp(new Request(url))).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(fetchOverHttp(new Request('http://127.0.0.1:1/'))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a header that could end early is refused, and its value is not repeated', () => {
  const { headers } = new Request(url);
  for (const [name, value] of [
    ['Authorization', 'Bearer secret\r\nX: 1'],
    ['a b', 'secret'],
    ['a', 'se\u2028cret'],
  ] as const) {
    expect(() => headers.set(name, value)).toThrow(`${name} is not a valid header`);
  }
  headers.set('Authorization', 'Bearer secret\n');
  expect(headers.get('authorization')).toBe('Bearer secret');
});

test('an upload is sent in pieces, and each that has left is reported', async () => {
  answer = async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    res.end(String(Buffer.concat(chunks).length));
  };
  const sent: number[] = [];
  const body = new Upload(Buffer.alloc(150_000), (bytes) => sent.push(bytes));
  expect(await (await fetchOverHttp(new Request(url, { method: 'PUT', body }))).text()).toBe('150000');
  expect(sent).toEqual([0, 65_536, 131_072, 150_000]);
  answer = (req) => void req.socket.destroy();
  await expect(fetchOverHttp(new Request(url, { method: 'PUT', body }))).rejects.toThrow();
});
