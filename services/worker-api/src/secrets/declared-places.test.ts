/** Where in requests a credential may go: ADR 50. */
import fs from 'node:fs';
import path from 'node:path';
import { setupResource } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const key = { app: 'acme', label: 'Acme', value: 'sk_never_to_be_seen', hosts: ['api.acme.example'] };
const hosts = ['api.example.com'];

test('request headers, unless the connection or secret names other places', async () => {
  const { body: plain } = await owner.post('/api/connections', key).expect(201);
  expect(plain).toMatchObject({ places: ['header'] });
  const places = ['header:x-key', 'query:api_key', 'path', 'cookie:sid', 'body:auth'];
  const { body: named } = await owner.post('/api/connections', { ...key, places }).expect(201);
  expect(named).toMatchObject({ places });
  const { body: changed } = await owner.patch(`/api/connections/${named.id}`, { places: ['query'] }).expect(200);
  expect(changed).toMatchObject({ places: ['query'], hosts: key.hosts });

  const secret = { value: 'correct-horse-battery-staple', hosts };
  expect((await owner.put('/api/secrets/PLACED', secret).expect(201)).body).toMatchObject({ places: ['header'] });
  expect((await owner.put('/api/secrets/PLACED', { ...secret, places }).expect(200)).body).toMatchObject({ places });
  // They stay with a new value, as hosts do.
  expect((await owner.put('/api/secrets/PLACED', secret).expect(200)).body).toMatchObject({ places });
  await owner.put('/api/secrets/PLACED', { places: ['header'] }).expect(400);
});

test.each([[['anywhere']], [['path:a']], [['query:a b']], [['query:']], [[]], [['header', 'header']]])(
  'places %j are refused',
  async (places) => {
    await owner.post('/api/connections', { ...key, places }).expect(400);
    await owner.put('/api/secrets/REFUSED', { value: 'a-long-enough-value', hosts, places }).expect(400);
  },
);

test('a value that code can guess is saved with a warning', async () => {
  const short = { warnings: [expect.stringContaining('fewer than 12 characters')] };
  expect((await owner.put('/api/secrets/WEAK', { value: 'hunter2', hosts }).expect(201)).body).toMatchObject(short);
  const digits = { warnings: [expect.stringContaining('six digits')] };
  expect((await owner.put('/api/secrets/WEAK', { value: '471147', hosts }).expect(200)).body).toMatchObject(digits);
  expect((await owner.put('/api/secrets/WEAK', { value: 'long-enough-1', hosts }).expect(200)).body).not.toHaveProperty(
    'warnings',
  );
  // Code has it anyway.
  expect((await owner.put('/api/secrets/OPEN', { value: 'hunter2' }).expect(201)).body).not.toHaveProperty('warnings');
  const { body } = await owner.post('/api/connections', { ...key, value: 'hunter2' }).expect(201);
  expect(body).toMatchObject(short);
  expect((await owner.patch(`/api/connections/${body.id}`, { value: '471147' }).expect(200)).body).toMatchObject(
    digits,
  );
});

test('credentials from before keep the places that their records show', async () => {
  const { pool } = api.deps;
  const { body: connection } = await owner.post('/api/connections', { ...key, app: 'before' }).expect(201);
  await owner.put('/api/secrets/BEFORE', { value: 'correct-horse-battery-staple', hosts }).expect(201);
  await createWorker(api, { name: 'Before', inputs: [], secrets: ['BEFORE'], in_body: ['BEFORE'] });
  const { body: run } = await owner.post('/api/workers/before/runs', {}).expect(201);
  const requests = [
    { credentials: ['before'], path: `/bot gph_${'a'.repeat(32)}/send` },
    { credentials: ['BEFORE'], path: '/a', answer: { target: '/a?n=1&key={BEFORE}&{BEFORE}=x' } },
    { credentials: [], path: '/b' },
  ];
  for (const [i, data] of requests.entries()) {
    await pool.query(`INSERT INTO run_events (run_id, seq, at, type, data) VALUES ($1, $2, now(), 'request', $3)`, [
      ...[run.run_id, 2_000_000 + i, JSON.stringify(data)],
    ]);
  }
  const file = path.resolve(__dirname, '../../prisma/migrations/20261126100000_declared_places/migration.sql');
  const sql = fs.readFileSync(file, 'utf8');
  await pool.query(sql.slice(sql.indexOf('WITH requests')));
  expect((await owner.get(`/api/connections/${connection.id}`).expect(200)).body.places).toEqual(['header', 'path']);
  const { body: secrets } = await owner.get('/api/secrets').expect(200);
  const before = secrets.find(({ name }: { name: string }) => name === 'BEFORE');
  expect(before.places).toEqual(['header', 'body', 'query:key']);
});
