import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AppError } from '@gantry/errors';
import express, { type ErrorRequestHandler } from 'express';
import { createFileStore, createStorageRoutes, type FileStore } from '.';

let directory: string;
let server: Server;
let store: FileStore;

const closed = new Set<string>();
beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'gantry-storage-'));
  const app = express();
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  store = createFileStore({ directory, signingKey: 'k'.repeat(32), publicUrl: url, internalUrl: url });
  app.use(createStorageRoutes(store, closed), ((err, _req, res, _next) => {
    res.status(err instanceof AppError ? err.status : 500).json({ code: err.code });
  }) satisfies ErrorRequestHandler);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true });
});

const upload = { sizeMax: 10_000, expiresSeconds: 60, audience: 'public' } as const;
/** The first upload makes the directory. */
const leftovers = () =>
  readdirSync(directory, { recursive: true }).filter((name) => /\.partial[\\/]/.test(String(name)));

/** Sends without a Content-Length, so that only counting can stop it. Resolves with the status. */
function stream(url: string, chunks: Buffer[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const req = httpRequest(url, { method: 'PUT' }, (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    });
    req.on('error', reject);
    for (const chunk of chunks) req.write(chunk);
    req.end();
  });
}

test('a file over the limit is refused by its announced length, and only its size is stored', async () => {
  const url = await store.presignPut('ws_a/uploads/announced', upload);
  const answer = await fetch(url, { method: 'PUT', body: Buffer.alloc(10_001, 'x') });
  expect(answer.status).toBe(413);
  expect(await store.head('ws_a/uploads/announced')).toEqual({ size: 10_001 });
  expect((await store.getBuffer('ws_a/uploads/announced', 20_000)).includes('x')).toBe(false);
});

test('a file over the limit is refused while it streams, and only its size is stored', async () => {
  const url = await store.presignPut('ws_a/uploads/streamed', upload);
  expect(await stream(url, [Buffer.alloc(6_000), Buffer.alloc(6_000)])).toBe(413);
  expect(await store.head('ws_a/uploads/streamed')).toEqual({ size: 10_001 });
  expect(leftovers()).toEqual([]);
});

test('a file of exactly the allowed size is accepted', async () => {
  const url = await store.presignPut('ws_a/uploads/exact', upload);
  expect(await stream(url, [Buffer.alloc(6_000), Buffer.alloc(4_000)])).toBe(200);
  expect(await store.head('ws_a/uploads/exact')).toEqual({ size: 10_000 });
});

test('an interrupted upload leaves nothing behind', async () => {
  const url = await store.presignPut('ws_a/uploads/cut', upload);
  await new Promise<void>((resolve) => {
    const req = httpRequest(url, { method: 'PUT', headers: { 'Content-Length': '9000' } });
    req.on('error', () => resolve());
    req.write(Buffer.alloc(100), () => req.destroy(new Error('gone')));
  });
  const deadline = Date.now() + 5_000;
  while (leftovers().length && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(leftovers()).toEqual([]);
  expect(await store.head('ws_a/uploads/cut')).toBeNull();
});

test('an upload that stalls is ended with 408, and leaves nothing behind', async () => {
  const url = await store.presignPut('ws_a/uploads/stalled', upload);
  const status = await new Promise<number>((resolve, reject) => {
    const req = httpRequest(url, { method: 'PUT', headers: { 'Content-Length': '9000' } }, (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    });
    req.on('error', reject);
    req.write(Buffer.alloc(100));
  });
  expect(status).toBe(408);
  const deadline = Date.now() + 10_000;
  while (leftovers().length && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(leftovers()).toEqual([]);
  expect(await store.head('ws_a/uploads/stalled')).toBeNull();
});

test.each([
  ['the size', (url: string) => url.replace('max=10000', 'max=99999')],
  ['the expiry', (url: string) => url.replace(/expires=\d+/, 'expires=9999999999')],
  ['the method', (url: string) => url.replace('method=PUT', 'method=GET')],
  ['the workspace', (url: string) => url.replace('ws_a', 'ws_b')],
  ['the signature', (url: string) => url.replace(/sig=../, 'sig=AA')],
  ['nothing but drops the signature', (url: string) => url.replace(/&sig=.*/, '')],
  ['the path, encoded', (url: string) => url.replace('ws_a/', 'ws_a%2f')],
])('a PUT whose URL changes %s is refused', async (_what, change) => {
  const url = change(await store.presignPut('ws_a/uploads/changed', upload));
  expect((await fetch(url, { method: 'PUT', body: 'x' })).status).toBe(403);
});

test('a URL opens nothing but its own object and method', async () => {
  await store.put('ws_a/secret', Buffer.from('x'));
  await store.put('ws_b/secret', Buffer.from('y'));
  const get = await store.presignGet('ws_a/secret', { expiresSeconds: 60, audience: 'internal' });
  expect((await fetch(get.replace('ws_a', 'ws_b'))).status).toBe(403);
  for (const method of ['PUT', 'DELETE']) {
    const { status, headers } = await fetch(get, { method });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  }
  expect((await fetch(await store.presignPut('ws_a/secret', upload))).status).toBe(405);
  expect((await store.getBuffer('ws_a/secret', 10)).toString()).toBe('x');
});

test('an expired URL is refused', async () => {
  await store.put('ws_a/old', Buffer.from('x'));
  const now = Date.now();
  const clock = jest.spyOn(Date, 'now').mockReturnValue(now - 61_000);
  const url = await store.presignGet('ws_a/old', { expiresSeconds: 60, audience: 'public' });
  clock.mockRestore();
  expect((await fetch(url)).status).toBe(403);
});

test('a download can neither run as a page nor be sniffed, and supports ranges', async () => {
  await store.put('ws_a/page.html', Buffer.from('<script>1</script>'));
  const url = await store.presignGet('ws_a/page.html', {
    expiresSeconds: 60,
    audience: 'public',
    contentType: 'text/html',
    filename: 'page.html',
  });
  const answer = await fetch(url);
  expect(answer.headers.get('Content-Type')).toBe('text/html');
  expect(answer.headers.get('Content-Security-Policy')).toContain('sandbox');
  expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(answer.headers.get('Content-Disposition')).toContain('attachment');
  const part = await fetch(url, { headers: { Range: 'bytes=1-6' } });
  expect(part.status).toBe(206);
  expect(await part.text()).toBe('script');
});

test('an upload with the wrong content type is refused where the URL names one', async () => {
  const url = await store.presignPut('ws_a/typed', { ...upload, contentType: 'application/zip' });
  const send = (type: string) => fetch(url, { method: 'PUT', body: 'x', headers: { 'Content-Type': type } });
  expect((await send('text/plain')).status).toBe(415);
  expect((await send('application/zip')).status).toBe(200);
});

test('a URL into a workspace that was closed after signing opens nothing, until it is restored', async () => {
  const key = 'ws_closing/uploads/a';
  const [put, get] = [await store.presignPut(key, upload), await store.presignGet(key, { ...upload })];
  expect((await fetch(put, { method: 'PUT', body: 'before' })).status).toBe(200);
  closed.add('ws_closing');
  expect((await fetch(put, { method: 'PUT', body: 'after' })).status).toBe(404);
  expect((await fetch(get)).status).toBe(404);
  closed.clear();
  expect(await (await fetch(get)).text()).toBe('before');
});
