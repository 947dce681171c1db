import path from 'node:path';
import type { Principal } from '@gantry/limits';
import { plainHasher, setupPool } from '@gantry/testing';
import { pino } from 'pino';
import request from 'supertest';
import { created, ok } from './handler';
import { findNulPaths } from './request-text';
import { createSurface } from './surface';

const NUL = '\0';
const pool = setupPool('automation-api');
const member = { kind: 'personal_token', userId: 'usr_1', workspaceId: 'ws_a', role: 'member' } as Principal;

const surface = () =>
  createSurface({
    openapiFile: path.join(__dirname, 'test/echo.yaml'),
    operations: {
      makeThing: { create: () => created({ id: 'thing' }), assertVisible: async () => {} },
      makeSecretThing: { create: () => created({ id: 'secret' }), assertVisible: async () => {} },
      getThing: () => ok({ id: 'thing' }),
    },
    authenticate: async () => member,
    errorShape: 'error',
    pool,
    hasher: plainHasher,
    log: pino({ level: 'silent' }),
  });

const post = (query = '') => request(surface()).post(`/api/things${query}`);

test.each([
  ['NUL in a text', { name: `a${NUL}` }, 'name'],
  ['NUL in the name of a property', { name: 'a', [`x${NUL}`]: 1 }, 'x\u{fffd}'],
  ['an unpaired surrogate', { name: 'a\ud800' }, 'name'],
  ['an unpaired surrogate where NUL is allowed', { name: 'a', data: ['\udc00'] }, 'data.0'],
])('%s is refused with its place', async (_what, body, place) => {
  const answer = await post().set('Content-Type', 'application/json').send(JSON.stringify(body));
  expect([answer.status, answer.body.details?.[0].path]).toEqual([400, place]);
});

test('NUL is accepted where the schema allows it', async () => {
  await post()
    .send({ name: 'a', data: { deep: [`x${NUL}`, { [NUL]: NUL }] } })
    .expect(201);
});

test('NUL is refused in the query and in the path', async () => {
  await post('?word=a%00').send({ name: 'a' }).expect(400);
  await request(surface()).get('/api/things/a%00b').expect(400);
});

test('a body that is required and empty is refused', async () => {
  const empty = await post().set('Content-Type', 'application/json').set('Content-Length', '0').send('');
  expect([empty.status, empty.body.details]).toEqual([400, [{ path: 'body', message: 'is required' }]]);
  expect((await post().set('Content-Type', 'application/json')).status).toBe(400);
});

test('an Idempotency-Key that is empty is refused', async () => {
  const answer = await post().set('Idempotency-Key', '').send({ name: 'a' });
  expect(answer.status).toBe(400);
});

test('paths of NUL are found through references, lists and alternatives, also in recursive schemas', () => {
  const schemas: Record<string, Record<string, unknown>> = {
    'x:tree': { properties: { text: { 'x-nul': 'allowed' }, children: { items: { $ref: 'x:tree' } } } },
  };
  const schema = { allOf: [{ properties: { trees: { items: { $ref: 'x:tree' } } } }, { properties: { name: {} } }] };
  expect(findNulPaths(schema, schemas)).toEqual([['trees', '*', 'text']]);
});
