import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { safeFetchStream } from './safe-fetch';

let answer: (res: ServerResponse) => void = (res) => res.end();
const server = http.createServer((_, res) => answer(res));
let url = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const open = (more: { signal?: AbortSignal; responseBytesMax?: number; allow?: string[] } = {}) =>
  safeFetchStream(url, {
    method: 'POST',
    body: '{}',
    signal: new AbortController().signal,
    responseBytesMax: 1_000,
    allow: ['127.0.0.0/8'],
    ...more,
  });
const readText = async (body: AsyncIterable<Buffer>) => {
  let text = '';
  for await (const piece of body) text += piece;
  return text;
};

test('pieces are read while more are still to come, and a redirect is a response', async () => {
  let more: (() => void) | undefined;
  answer = (res) => {
    res.writeHead(302, { Location: 'http://169.254.169.254/' });
    res.write('one');
    more = () => res.end(' two');
  };
  const { status, body } = await open();
  expect(status).toBe(302);
  const pieces = body[Symbol.asyncIterator]();
  expect(String((await pieces.next()).value)).toBe('one');
  more?.();
  expect(String((await pieces.next()).value)).toBe(' two');
  expect((await pieces.next()).done).toBe(true);
});

test('an endless response is aborted with an error', async () => {
  answer = (res) => res.end('x'.repeat(1_001));
  await expect(readText((await open()).body)).rejects.toMatchObject({ code: 'too_large' });
});

test('an interrupted response is reported by its code alone, and an aborted one by the reason', async () => {
  answer = (res) => {
    res.write('half');
    setImmediate(() => res.destroy());
  };
  const broken = await readText((await open()).body).catch((err) => err);
  expect(broken).toMatchObject({ name: 'OutboundError', code: 'connect' });
  expect(broken.message).not.toMatch(/ECONNREFUSED/);

  answer = (res) => res.write('half');
  const stop = new AbortController();
  const { body } = await open({ signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(readText(body)).rejects.toThrow('enough');
});

test('an unread body releases its connection', async () => {
  const closed = new Promise((resolve) => {
    answer = (res) => {
      res.write('half');
      res.once('close', resolve);
    };
  });
  (await open()).body.destroy();
  await closed;
});

test('private addresses are not connected to', async () => {
  await expect(open({ allow: [] })).rejects.toMatchObject({ code: 'refused_address' });
});
