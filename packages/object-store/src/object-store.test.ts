/** The contract of both drivers, checked over HTTP as a client would: a PUT and a GET with only the URL. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { AppError } from '@gantry/errors';
import express, { type ErrorRequestHandler } from 'express';
import S3rver from 's3rver';
import { createFileStore, createStorageRoutes, ObjectMissingError, type ObjectStore, ObjectTooLargeError } from '.';
import { toStoreError } from './object-store';
import { createS3Store } from './s3-store';

interface Running {
  store: ObjectStore;
  stop(): Promise<void>;
}

const close = (server: Server) => new Promise<void>((resolve) => server.close(() => resolve()));

async function fileDriver(): Promise<Running> {
  const directory = mkdtempSync(path.join(tmpdir(), 'gantry-objects-'));
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = createFileStore({ directory, signingKey: 'k'.repeat(32), publicUrl: url, internalUrl: url });
  app.use(createStorageRoutes(store, new Set<string>()), ((err, _req, res, _next) => {
    res.status(err instanceof AppError ? err.status : 500).end();
  }) satisfies ErrorRequestHandler);
  return {
    store,
    stop: async () => {
      await close(server);
      rmSync(directory, { recursive: true });
    },
  };
}

async function s3Driver(): Promise<Running> {
  const directory = mkdtempSync(path.join(tmpdir(), 'gantry-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'gantry-test', configs: [] }],
  });
  const { port } = await server.run();
  const store = createS3Store({
    bucket: 'gantry-test',
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    pathStyle: true,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  });
  return {
    store,
    stop: async () => {
      await server.close();
      rmSync(directory, { recursive: true });
    },
  };
}

const put = (url: string, body: string, type = 'application/zip') =>
  fetch(url, { method: 'PUT', body, headers: { 'Content-Type': type } });
const upload = { sizeMax: 1_000, expiresSeconds: 60, audience: 'public' } as const;
const download = { expiresSeconds: 60, audience: 'internal' } as const;

describe.each([
  ['file', fileDriver],
  ['s3', s3Driver],
])('the %s driver', (_name, start) => {
  let running: Running;
  let store: ObjectStore;
  beforeAll(async () => {
    running = await start();
    store = running.store;
    await store.check();
  });
  afterAll(() => running.stop());

  test('returns the stored content, from a buffer and from a stream', async () => {
    await store.put('ws_a/one', Buffer.from('bytes'));
    await store.put('ws_a/deep/er/two', Readable.from([Buffer.from('str'), Buffer.from('eam')]));
    expect((await store.getBuffer('ws_a/one', 100)).toString()).toBe('bytes');
    expect((await store.getBuffer('ws_a/deep/er/two', 100)).toString()).toBe('stream');
    expect(await store.head('ws_a/one')).toEqual({ size: 5 });
  });

  test('replaces an object as a whole', async () => {
    await store.put('ws_a/again', Buffer.from('first and longer'));
    await store.put('ws_a/again', Buffer.from('second'));
    expect((await store.getBuffer('ws_a/again', 100)).toString()).toBe('second');
  });

  test('reports missing objects, and finds no deleted ones', async () => {
    expect(await store.head('ws_a/nothing')).toBeNull();
    await expect(store.get('ws_a/nothing')).rejects.toThrow(ObjectMissingError);
    await store.put('ws_a/gone', Buffer.from('x'));
    await store.delete('ws_a/gone');
    await store.delete('ws_a/gone');
    await expect(store.getBuffer('ws_a/gone', 10)).rejects.toThrow(ObjectMissingError);
  });

  test('deletes a folder with its content, and nothing beside it', async () => {
    const gone = ['ws_b/one', 'ws_b/deep/er/two', 'ws_b/deep/three'];
    const kept = ['ws_b2/one', 'ws_c/ws_b/one'];
    for (const key of [...gone, ...kept]) await store.put(key, Buffer.from('x'));
    await store.deleteFolder('ws_b');
    await store.deleteFolder('ws_b');
    expect(await Promise.all(gone.map((key) => store.head(key)))).toEqual([null, null, null]);
    expect(await Promise.all(kept.map((key) => store.head(key)))).toEqual([{ size: 1 }, { size: 1 }]);
    await expect(store.deleteFolder('')).rejects.toThrow('not an object key');
  });

  test('reads no more bytes than requested', async () => {
    await store.put('ws_a/large', Buffer.alloc(100));
    await expect(store.getBuffer('ws_a/large', 99)).rejects.toThrow(ObjectTooLargeError);
    expect(await store.getBuffer('ws_a/large', 100)).toHaveLength(100);
  });

  test.each(['../x', 'a/../b', '/etc/passwd', 'a//b', 'a/.hidden', '', 'a\\b', 'a\0b', 'ws_a/%2e%2e/b', 'a/'])(
    'refuses the key %j',
    async (key) => {
      await expect(store.put(key, Buffer.from('x'))).rejects.toThrow('not an object key');
      await expect(store.presignGet(key, download)).rejects.toThrow('not an object key');
    },
  );

  test('accepts an upload at a presigned URL and serves it at another, as an attachment under its name', async () => {
    const uploaded = await put(await store.presignPut('ws_a/uploads/1', upload), 'zip bytes');
    expect(uploaded.status).toBe(200);
    const url = await store.presignGet('ws_a/uploads/1', { ...download, filename: 'my "répört".zip' });
    const answer = await fetch(url);
    expect(await answer.text()).toBe('zip bytes');
    expect(answer.headers.get('Content-Type')).toBe('application/octet-stream');
    expect(answer.headers.get('Content-Disposition')).toBe(
      `attachment; filename="my _r_p_rt_.zip"; filename*=UTF-8''my%20%22r%C3%A9p%C3%B6rt%22.zip`,
    );
  });

  test('a URL is valid for at most ten minutes', async () => {
    await expect(store.presignGet('ws_a/one', { ...download, expiresSeconds: 601 })).rejects.toThrow('at most 600');
    await expect(store.presignPut('ws_a/one', { ...upload, expiresSeconds: 601 })).rejects.toThrow('at most 600');
  });
});

test('a directory that cannot be written makes the store report a problem', async () => {
  const parent = mkdtempSync(path.join(tmpdir(), 'gantry-objects-'));
  const directory = path.join(parent, 'store');
  symlinkSync('/dev/full', directory);
  const urls = { publicUrl: 'http://a', internalUrl: 'http://b' };
  const store = createFileStore({ directory, signingKey: 'k'.repeat(32), ...urls });
  await expect(store.check()).rejects.toThrow();
  rmSync(parent, { recursive: true });
});

/** A store whose directory is a file, as after a volume was not mounted. */
async function fileStoreWithoutDirectory(): Promise<Running> {
  const parent = mkdtempSync(path.join(tmpdir(), 'gantry-objects-'));
  const directory = path.join(parent, 'store');
  writeFileSync(directory, '');
  const urls = { publicUrl: 'http://a', internalUrl: 'http://b' };
  return {
    store: createFileStore({ directory, signingKey: 'k'.repeat(32), ...urls }),
    stop: async () => rmSync(parent, { recursive: true }),
  };
}

/** A bucket whose policy denies the methods that `isDenied` names, and serves every key. */
async function startBucket(isDenied: (method: string) => boolean, now?: () => number): Promise<Running> {
  const server = createServer((req, res) => {
    req.resume();
    if (!isDenied(req.method ?? '')) return res.end(req.method === 'GET' ? 'bytes' : '');
    res.writeHead(403, { 'Content-Type': 'application/xml' });
    res.end('<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  return {
    store: createS3Store({ bucket: 'denied', region: 'us-east-1', endpoint, pathStyle: true, credentials, now }),
    stop: async () => {
      server.closeAllConnections();
      await close(server);
    },
  };
}

test.each([
  ['a directory that is a file', fileStoreWithoutDirectory],
  ['a bucket that denies access', () => startBucket(() => true)],
])('%s is a 503 for each operation, and loses nothing', async (_what, start) => {
  const { store, stop } = await start();
  const operations = [
    () => store.put('ws_a/one', Buffer.from('x')),
    () => store.get('ws_a/one'),
    () => store.getBuffer('ws_a/one', 10),
    () => store.head('ws_a/one'),
    () => store.delete('ws_a/one'),
    () => store.deleteFolder('ws_a'),
  ];
  for (const operation of operations) {
    await expect(operation()).rejects.toMatchObject({ status: 503, code: 'unavailable', retryAfterSeconds: 2 });
  }
  await expect(store.check()).rejects.toThrow();
  await stop();
});

test.each(['PUT', 'DELETE'])(
  'a check notices a bucket that refuses %s alone, probes it every 30 s at most, and passes again',
  async (refused) => {
    let isRefusing = true;
    let nowMs = 0;
    const probes: string[] = [];
    const isDenied = (method: string) => {
      if (method === 'PUT') probes.push(method);
      return isRefusing && method === refused;
    };
    const { store, stop } = await startBucket(isDenied, () => nowMs);
    const isDown = { status: 503, code: 'unavailable' };
    await expect(store.check()).rejects.toMatchObject(isDown);
    isRefusing = false;
    nowMs = 29_999;
    await expect(store.check()).rejects.toMatchObject(isDown);
    expect(probes).toHaveLength(1);
    nowMs = 30_000;
    await store.check();
    isRefusing = true;
    nowMs = 59_999;
    await store.check();
    expect(probes).toHaveLength(2);
    nowMs = 60_000;
    await expect(store.check()).rejects.toMatchObject(isDown);
    const change = refused === 'PUT' ? store.put('ws_a/one', Buffer.from('x')) : store.delete('ws_a/one');
    await expect(change).rejects.toMatchObject(isDown);
    expect(String(await store.getBuffer('ws_a/one', 10))).toBe('bytes');
    await stop();
  },
);

test('a full disk is a 503 with Retry-After, and quotes no path', () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write '/secret/path'"), { code: 'ENOSPC' });
  const error = toStoreError(full);
  expect(error).toMatchObject({ status: 503, code: 'unavailable', retryAfterSeconds: 2 });
  expect(String(error)).not.toContain('/secret/path');
  const other = new Error('a bug');
  expect(toStoreError(other)).toBe(other);
});
