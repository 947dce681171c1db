import { setupResource, waitUntil } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from '../../test/caller';
import { type Person, testWorkerApi } from '../../test/test-worker-api';

let person: Person;
let browser: ReturnType<typeof createCaller>;
const api = testWorkerApi();
const program = setupResource(() => createCaller(api.url));
beforeEach(async () => {
  person = await api.addMember('member');
  browser = createCaller(api.url, person.jwt);
});

interface Codes {
  device_code: string;
  user_code: string;
}

const start = async (): Promise<Codes> =>
  (await program.post('/api/cli-auth/devices', { client_name: 'laptop' }).expect(200)).body;
const exchange = (codes: Codes) =>
  program.post('/auth/cli-exchange', { device_code: codes.device_code, user_code: codes.user_code });
const decide = (verb: 'lookup' | 'approve' | 'deny', { user_code }: { user_code: string }) =>
  browser.post(`/api/cli-auth/devices/${verb}`, { user_code });
/** As if the interval had passed. */
const wait = () => api.database.pool.query("UPDATE device_requests SET polled_at = now() - interval '3 seconds'");

test("a program shows a code, a person approves it, and the program gets a token with the person's rights", async () => {
  const answer = await program.post('/api/cli-auth/devices').expect(200);
  expect(answer.body).toEqual({
    device_code: expect.stringMatching(/^dev_/),
    user_code: expect.stringMatching(/^[B-DF-HJKMNP-TV-XZ]{4}-[2-9]{4}$/),
    verification_url: 'http://dashboard.test/device',
    polling_interval_seconds: 2,
    expires_in_seconds: 600,
  });
  const codes: Codes = answer.body;
  const pending = await exchange(codes).expect(428);
  expect(pending.body.detail).toBe('authorization_pending');
  const typed = { user_code: codes.user_code.toLowerCase().replace('-', ' ') };
  const seen = await decide('lookup', typed).expect(200);
  expect(seen.body).toMatchObject({
    user_code: codes.user_code,
    address: expect.stringContaining('127.0.0.1'),
    workspace: { id: api.workspaceId },
  });
  await decide('approve', typed).expect(204);
  await wait();
  const { body } = await exchange(codes).expect(200);
  expect(body).toMatchObject({
    token: expect.stringMatching(/^svc_/),
    token_type: 'svc',
    workspace_id: api.workspaceId,
    user: { id: person.userId, email: person.email },
  });
  const me = await createCaller(api.url, body.token).get('/auth/me').expect(200);
  expect(me.body).toMatchObject({ id: person.userId, role: 'member', credential: 'personal_token' });
  const { body: tokens } = await browser.get('/auth/tokens').expect(200);
  expect(tokens).toHaveLength(1);
  await createCaller(api.url, body.token).remove(`/auth/tokens/${tokens[0].id}`).expect(204);
  await createCaller(api.url, body.token).get('/auth/me').expect(401);
});

test('the token acts in the workspace that the person chose', async () => {
  const { body: second } = await browser.post('/api/workspaces', { name: 'Second' }).expect(201);
  const codes = await start();
  const chosen = { Authorization: `Bearer ${person.jwt}`, 'x-svc-workspace': second.id };
  await request(api.url).post('/api/cli-auth/devices/approve').set(chosen).send(codes).expect(400);
  const { user_code } = codes;
  await request(api.url).post('/api/cli-auth/devices/approve').set(chosen).send({ user_code }).expect(204);
  const { body } = await exchange(codes).expect(200);
  expect(body.workspace_id).toBe(second.id);
  expect((await createCaller(api.url, body.token).get('/auth/me')).body.workspace_id).toBe(second.id);
});

test('one approval gives one token, also for two simultaneous requests', async () => {
  const codes = await start();
  await decide('approve', codes).expect(204);
  const both = await Promise.all([exchange(codes), exchange(codes)]);
  expect(both.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
  await wait();
  await exchange(codes).expect(410);
  await decide('approve', codes).expect(404);
  expect((await browser.get('/auth/tokens')).body).toHaveLength(1);
});

test('polling faster than the interval is refused with Retry-After', async () => {
  const codes = await start();
  await exchange(codes).expect(428);
  const fast = await exchange(codes).expect(429);
  expect(Number(fast.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(Number(fast.headers['retry-after'])).toBeLessThanOrEqual(2);
  await waitUntil(async () => (await exchange(codes)).status === 428, { everyMs: 2_000 });
});

test('a denied request can’t be approved any more', async () => {
  const codes = await start();
  await decide('deny', codes).expect(204);
  expect((await exchange(codes).expect(403)).body.code).toBe('access_denied');
  await decide('approve', codes).expect(404);
});

test('five wrong user codes end the request, and the right one comes too late', async () => {
  const codes = await start();
  for (let tries = 0; tries < 5; tries++) await exchange({ ...codes, user_code: 'BBBB-2222' }).expect(400);
  await exchange(codes).expect(410);
  await decide('lookup', codes).expect(404);
  await decide('approve', codes).expect(404);
});

test('a user who enters five unknown codes must wait, and others need not', async () => {
  for (let tries = 0; tries < 5; tries++) await decide('lookup', { user_code: 'ZZZZ-9999' }).expect(404);
  const codes = await start();
  const late = await decide('approve', codes).expect(429);
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(500);
  await exchange(codes).expect(428);
  const other = createCaller(api.url, (await api.addMember('member')).jwt);
  await other.post('/api/cli-auth/devices/approve', { user_code: codes.user_code }).expect(204);
});

test('it expires after ten minutes', async () => {
  const codes = await start();
  await api.database.pool.query('UPDATE device_requests SET expires_at = now() WHERE user_code = $1', [
    codes.user_code,
  ]);
  await exchange(codes).expect(410);
  await decide('approve', codes).expect(404);
});

test('a token cannot approve: it would create itself another one', async () => {
  const codes = await start();
  const { token } = await api.createToken('personal', person.jwt, { role: 'viewer' });
  const { token: ofWorkspace } = await api.createToken('workspace', api.owner.jwt);
  for (const credential of [token, ofWorkspace]) {
    const refused = await createCaller(api.url, credential)
      .post('/api/cli-auth/devices/approve', { user_code: codes.user_code })
      .expect(403);
    expect(refused.body.code).toBe('needs_sign_in');
  }
  await program.post('/api/cli-auth/devices/approve', { user_code: codes.user_code }).expect(401);
});

test('older clients poll with the device code alone', async () => {
  const codes = await start();
  const poll = () => program.get(`/api/cli-auth/poll/${codes.device_code}`);
  await poll().expect(428);
  await decide('approve', codes).expect(204);
  await wait();
  expect((await poll().expect(200)).body.token).toMatch(/^svc_/);
  await poll().expect(410);
});

test.each([
  [{}, 'device_code'],
  [{ device_code: 'x', user_code: '' }, 'user_code'],
  [{ device_code: 'x'.repeat(129), user_code: 'ABCD-2345' }, 'device_code'],
  [{ device_code: ['x'], user_code: 'ABCD-2345' }, 'device_code'],
  [{ device_code: 'x', user_code: 'ABCD-2345', admin: true }, 'admin'],
])('%j is a 400 that names %s', async (body, field) => {
  const answer = await program.post('/auth/cli-exchange', body).expect(400);
  expect(answer.body.errors).toEqual(expect.arrayContaining([expect.objectContaining({ path: field })]));
});

test('an unknown device code is a 404, and a program may not send control characters as its name', async () => {
  await exchange({ device_code: `dev_${'a'.repeat(49)}`, user_code: 'BCDF-2345' }).expect(404);
  await exchange({ device_code: 'made up', user_code: 'BCDF-2345' }).expect(404);
  await program.post('/api/cli-auth/devices', { client_name: 'a\u0000b' }).expect(400);
});
