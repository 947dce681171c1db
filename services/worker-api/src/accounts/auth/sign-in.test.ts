import { performance } from 'node:perf_hooks';
import request from 'supertest';
import { getCookie, PASSWORD, startTestWorkerApi, testWorkerApi } from '../../test/test-worker-api';

const api = testWorkerApi();

const signIn = (body: object) => request(api.url).post('/auth/login').send(body);

test('the right password opens a session and returns a JWT for an hour', async () => {
  const answer = await signIn({ email: 'owner@example.com', password: PASSWORD }).expect(200);
  expect(Object.keys(answer.body).sort()).toEqual(['access_token', 'expires_in', 'token_type']);
  expect(getCookie(answer)).toMatch(/^ses_/);
  expect(answer.headers['cache-control']).toBe('no-store');
});

test.each(['OWNER@Example.COM', '  owner@example.com ', 'ｏｗｎｅｒ@example.com'])(
  '%j is the same account',
  async (email) => {
    await signIn({ email, password: PASSWORD }).expect(200);
  },
);

test('an unknown address, a wrong password, a malformed address and a disabled user get the same response', async () => {
  const gone = await api.addMember('member');
  await api.database.pool.query('UPDATE users SET disabled_at = now() WHERE id = $1', [gone.userId]);
  const answers = await Promise.all([
    signIn({ email: 'nobody@example.com', password: PASSWORD }),
    signIn({ email: 'owner@example.com', password: 'wrong horse battery' }),
    signIn({ email: 'no body', password: PASSWORD }),
    signIn({ email: gone.email, password: PASSWORD }),
  ]);
  expect(answers.map((answer) => answer.status)).toEqual([401, 401, 401, 401]);
  expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
  expect(answers.every((answer) => getCookie(answer) === '')).toBe(true);
});

test('an unknown address takes as long as a wrong password', async () => {
  const time = async (email: string) => {
    const start = performance.now();
    await signIn({ email, password: 'wrong horse battery' });
    return performance.now() - start;
  };
  let [unknown, wrong] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const ratio = () => Math.max(unknown / wrong, wrong / unknown);
  // Alternating, and the minimum of each: other load on the machine only adds to both, more rarely to all of many.
  for (let i = 0; i < 9 || (i < 100 && ratio() >= 3); i++) {
    unknown = Math.min(unknown, await time('nobody@example.com'));
    wrong = Math.min(wrong, await time('owner@example.com'));
  }
  // Without the same hashing the ratio would be ten or more.
  expect(ratio()).toBeLessThan(3);
});

test.each([
  ['no password', { email: 'owner@example.com' }],
  ['an unknown property', { email: 'owner@example.com', password: PASSWORD, remember: true }],
  ['an operator object', { email: { contains: '' }, password: PASSWORD }],
  ['an array', ['owner@example.com', PASSWORD]],
  ['U+0000 in the address', { email: 'no\u0000body', password: PASSWORD }],
])('%s is a 400', async (_what, body) => {
  await signIn(body).expect(400);
});

test('malformed JSON is a 400, another content type a 415', async () => {
  await request(api.url).post('/auth/login').set('Content-Type', 'application/json').send('{"email":').expect(400);
  await request(api.url).post('/auth/login').type('form').send('email=owner@example.com').expect(415);
});

test('the eleventh attempt in a minute from one address is refused with Retry-After', async () => {
  const strict = await startTestWorkerApi({
    nats: api.nats,
    rateLimits: { requestsPerMinute: 600, runsPerMinute: 120, signInsPerMinute: 10 },
  });
  const attempt = () => request(strict.url).post('/auth/login').send({ email: 'x@example.com', password: 'y' });
  let answer = await attempt();
  // Setup and the sign-in of the builder count as well: they came from this address.
  for (let i = 0; i < 10 && answer.status === 401; i++) answer = await attempt();
  expect(answer.status).toBe(429);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.headers['ratelimit-limit']).toBe('10');
  await strict.stop();
});
