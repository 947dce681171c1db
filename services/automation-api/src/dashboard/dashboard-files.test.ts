import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryDir } from '@gantry/testing';
import express from 'express';
import request from 'supertest';
import { dashboardFiles } from './dashboard-files';

const built = temporaryDir('dashboard');
mkdirSync(path.join(built, 'assets'));
writeFileSync(path.join(built, 'index.html'), '<!doctype html><title>Dashboard</title>');
writeFileSync(path.join(built, 'assets/app-3f2a.js'), 'export {}');
writeFileSync(path.join(built, 'favicon.svg'), '<svg/>');

const appOf = (directory: string) =>
  express().use(
    dashboardFiles({ directory, addresses: { baseUrl: 'http://worker.test:8080', skillsUrl: 'http://skills.test/x' } }),
  );
const app = appOf(built);
const browse = (route: string) => request(app).get(route).set('Accept', 'text/html,*/*;q=0.8');

test.each(['/', '/a/aut_x', '/device', '/runs?x=1'])('%s is the dashboard', async (route) => {
  const { text, headers } = await browse(route).expect(200);
  expect(text).toContain('Dashboard');
  expect(headers['cache-control']).toBe('no-cache');
  const csp = headers['content-security-policy'];
  expect(csp).toContain("script-src 'self';");
  expect(csp).toContain("connect-src 'self' http://worker.test:8080 http://skills.test;");
  expect(csp).toContain("frame-ancestors 'none'");
});

test('built files may be kept for ever, because their name changes with them', async () => {
  const { headers } = await request(app).get('/assets/app-3f2a.js').expect(200);
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect((await request(app).get('/favicon.svg').expect(200)).headers['cache-control']).toBe('no-cache');
});

test('a missing asset is no page', async () => {
  await browse('/assets/gone.js').expect(404);
});

test.each(['/api/unknown', '/auth/x', '/storage/x', '/healthz', '/.well-known/x'])(
  '%s is left to others',
  async (route) => {
    const { text } = await browse(route).expect(404);
    expect(text).not.toContain('Dashboard');
  },
);

test('programs that ask for JSON get no page', async () => {
  await request(app).get('/somewhere').set('Accept', 'application/json').expect(404);
});

test('files outside the directory stay there', async () => {
  for (const route of ['/../package.json', '/%2e%2e/package.json', '/assets/..%2f..%2fpackage.json']) {
    const { text } = await request(app).get(route).set('Accept', '*/*');
    expect(text).not.toContain('dependencies');
  }
});

test('a dashboard that is not built says so', async () => {
  const missing = appOf(path.join(built, 'nowhere'));
  const { text } = await request(missing).get('/').set('Accept', 'text/html').expect(503);
  expect(text).toContain('npm run build');
});
