import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createSurface } from '@gantry/http';
import { createDatabase, createTemporaryDir, plainHasher, type TestDatabase } from '@gantry/testing';
import express, { type Express } from 'express';
import { Pool } from 'pg';
import { pino } from 'pino';
import request from 'supertest';
import { serveDashboard } from './dashboard-files';

const builtDir = createTemporaryDir('dashboard');
mkdirSync(path.join(builtDir, 'assets'));
writeFileSync(path.join(builtDir, 'index.html'), '<!doctype html><title>Dashboard</title>');
writeFileSync(path.join(builtDir, 'assets/app-3f2a.js'), 'export {}');
writeFileSync(path.join(builtDir, 'favicon.svg'), '<svg/>');

const createFilesRouter = (directory: string) =>
  serveDashboard({ directory, addresses: { baseUrl: 'http://worker.test:8080', skillsUrl: 'http://skills.test/x' } });
const createApp = (directory: string) => express().use(createFilesRouter(directory));
const app = createApp(builtDir);
const browse = (route: string) => request(app).get(route).set('Accept', 'text/html,*/*;q=0.8');

test.each(['/', '/a/aut_x', '/device', '/runs?x=1'])('%s is the dashboard', async (route) => {
  const { text, headers } = await browse(route).expect(200);
  expect(text).toContain('Dashboard');
  expect(headers['cache-control']).toBe('no-cache');
  const csp = headers['content-security-policy'];
  expect(csp).toContain("script-src 'self'; style-src 'self';");
  expect(csp).toContain("connect-src 'self' http://worker.test:8080 http://skills.test;");
  expect(csp).toContain("frame-ancestors 'none'");
});

test('built files are cached for ever, because their name changes with their content', async () => {
  const { headers } = await request(app).get('/assets/app-3f2a.js').expect(200);
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect((await request(app).get('/favicon.svg').expect(200)).headers['cache-control']).toBe('no-cache');
});

test('a missing asset is not answered with the page', async () => {
  await browse('/assets/gone.js').expect(404);
});

test.each([
  '/api/unknown',
  '/api',
  '/apis',
  '/API/x',
  '/v1/x',
  '/openapi.json',
  '/auth/x',
  '/storage/x',
  '/healthz',
  '/.well-known/x',
])('%s is not served by the dashboard', async (route) => {
  const { text } = await browse(route).expect(404);
  expect(text).not.toContain('Dashboard');
});

test('clients that ask for JSON get no page', async () => {
  await request(app).get('/somewhere').set('Accept', 'application/json').expect(404);
});

test('files outside the directory are not served', async () => {
  for (const route of ['/../package.json', '/%2e%2e/package.json', '/assets/..%2f..%2fpackage.json']) {
    const { text } = await request(app).get(route).set('Accept', '*/*');
    expect(text).not.toContain('dependencies');
  }
});

test('a dashboard that is not built is reported', async () => {
  const missing = createApp(path.join(builtDir, 'nowhere'));
  const { text } = await request(missing).get('/').set('Accept', 'text/html').expect(503);
  expect(text).toContain('npm run build');
});

describe('ranges and conditional requests, with the whole surface in front', () => {
  const asset = '/assets/app-3f2a.js';
  const immutable = 'public, max-age=31536000, immutable';
  let database: TestDatabase;
  let pool: Pool;
  let surface: Express;
  let etag: string;
  let lastModified: string;

  beforeAll(async () => {
    database = await createDatabase('automation-api');
    pool = new Pool({ connectionString: database.url });
    surface = createSurface({
      openapiFile: path.resolve(__dirname, '../../../../packages/http/src/test/uploads.yaml'),
      operations: { uploadPack: () => {} },
      authenticate: async () => null,
      errorShape: 'error',
      pool,
      hasher: plainHasher,
      log: pino({ level: 'silent' }),
      beside: (beside) => beside.use(createFilesRouter(builtDir)),
    });
    const { headers } = await request(surface).get(asset).expect(200);
    etag = String(headers.etag);
    lastModified = String(headers['last-modified']);
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  test.each([
    ['a range', { Range: 'bytes=0-5' }, 'export'],
    ['the end', { Range: 'bytes=-2' }, '{}'],
    ['a range of the current version', () => ({ Range: 'bytes=0-5', 'If-Range': etag }), 'export'],
  ])('%s', async (_what, headers, text) => {
    const response = await request(surface)
      .get(asset)
      .set(typeof headers === 'function' ? headers() : headers)
      .buffer()
      .expect(206);
    expect([response.text, response.headers['cache-control']]).toEqual([text, immutable]);
    expect(response.headers['content-range']).toMatch(/^bytes \d+-\d+\/9$/);
  });

  test.each([
    ['an invalid range', { Range: 'bytes=x-y' }],
    ['another unit', { Range: 'lines=1-2' }],
    ['a range of an older version', { Range: 'bytes=0-5', 'If-Range': '"older"' }],
    ['another version', { 'If-None-Match': '"older"' }],
    ['an invalid date', { 'If-Modified-Since': 'yesterday' }],
  ])('%s: the whole file', async (_what, headers) => {
    const response = await request(surface).get(asset).set(headers).buffer();
    expect([response.status, response.text]).toEqual([200, 'export {}']);
  });

  test('no body if the browser has the current version', async () => {
    await request(surface).get(asset).set('If-None-Match', etag).expect(304);
    await request(surface).get(asset).set('If-Modified-Since', lastModified).expect(304);
  });

  test.each([
    [416, 'bad_range', { Range: 'bytes=1000-2000' }],
    [412, 'precondition_failed', { 'If-Match': '"older"' }],
    [412, 'precondition_failed', { 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
    [404, 'not_found', { Range: 'bytes=0-1' }],
  ])('%s is reported in JSON, and not cached', async (status, code, headers) => {
    for (const route of status === 404 ? ['/assets/gone.js'] : [asset, '/favicon.svg', '/']) {
      const response = await request(surface)
        .get(route)
        .set({ Accept: 'text/html', ...headers });
      expect([route, response.status, response.body.code, response.type]).toEqual([
        route,
        status,
        code,
        'application/json',
      ]);
      expect(response.headers).toMatchObject({ 'cache-control': 'no-store' });
      expect(response.headers.etag).toBeUndefined();
      expect(String(response.headers['content-range'])).toMatch(status === 416 ? /^bytes \*\/\d+$/ : /^undefined$/);
    }
  });
});
