import { request as askOver, type Bus, connectBus, INTROSPECT_SUBJECT, introspectReply } from '@gantry/events';
import { waitUntil } from '@gantry/testing';
import request from 'supertest';
import { type Cable, layCable } from './test/cable';
import { PASSWORD, testWorkerApi, withCookie } from './test/test-worker-api';

let database: Cable;
let token: string;
const api = testWorkerApi({
  reach: async (url) => {
    database = await layCable(url);
    return database.url;
  },
});
beforeAll(async () => {
  ({ token } = await api.createToken('personal', api.owner.jwt));
});
afterAll(() => database.close());

const getMe = () => request(api.url).get('/auth/me').set('x-svc-token', token);

describe('while PostgreSQL is away', () => {
  beforeAll(() => database.cut());
  afterAll(async () => {
    database.mend();
    await waitUntil(async () => (await request(api.url).get('/health')).status === 200);
  });

  test.each([
    ['signing in', () => request(api.url).post('/auth/login').send({ email: 'owner@example.com', password: PASSWORD })],
    ['refreshing', () => request(api.url).post('/auth/refresh').set('Cookie', withCookie(api.owner.cookie))],
    ['a token that is not cached', getMe],
    ['the platform config', () => request(api.url).get('/api/system/platform-config')],
  ])('%s answers 503 with Retry-After and leaks no internals', async (_what, sendRequest) => {
    api.identities.clear();
    const answer = await sendRequest();
    expect(answer.status).toBe(503);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.text).not.toMatch(/ECONN|prisma|postgres|127\.0\.0\.1|select/i);
  });

  test('the process is alive, and reports that it is not ready and why', async () => {
    await request(api.url).get('/healthz').expect(200);
    expect((await request(api.url).get('/health').expect(503)).body).toEqual({
      status: 'unavailable',
      down: ['postgres'],
    });
  });

  test('cached signing keys are still published', () => request(api.url).get('/.well-known/jwks.json').expect(200));

  test('other services get an error at once, and not an unknown identity', async () => {
    const requester: Bus = await connectBus({ ...api.nats.as('skills-api'), name: 'skills-api', log: api.logs.log });
    const answer = askOver(
      requester,
      INTROSPECT_SUBJECT,
      { kind: 'token', token },
      introspectReply,
      5_000,
      'worker-api',
    );
    await expect(answer).rejects.toThrow(/identity/);
    await requester.nc.close();
  });
});

test('everything works again once PostgreSQL is back', async () => {
  await getMe().expect(200);
  await request(api.url).post('/auth/login').send({ email: 'owner@example.com', password: PASSWORD }).expect(200);
});

test('without NATS users sign in and revoke tokens; the event is published when NATS is back', async () => {
  const { id, token: doomed } = await api.createToken('personal', api.owner.jwt);
  await api.nats.kill();
  await getMe().expect(200);
  await request(api.url).delete(`/auth/tokens/${id}`).set('Authorization', `Bearer ${api.owner.jwt}`).expect(204);
  await request(api.url).get('/auth/me').set('x-svc-token', doomed).expect(401);
  const { body } = await request(api.url).get('/health').expect(200);
  expect(body).toMatchObject({ status: 'degraded', down: ['nats', 'jetstream'] });
  const countPending = async () => (await api.database.pool.query('SELECT 1 FROM outbox')).rowCount;
  expect(await countPending()).toBeGreaterThan(0);
  await api.nats.restart();
  await waitUntil(async () => (await countPending()) === 0);
  await waitUntil(async () => (await request(api.url).get('/health')).body.status === 'ok');
});
