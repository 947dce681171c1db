import { randomBytes } from 'node:crypto';
import { createTokenHasher } from '@gantry/auth';
import { setupResource, waitUntil } from '@gantry/testing';
import { parseKeyRing } from '@gantry/vault';
import request from 'supertest';
import { createCaller } from '../../test/caller';
import { findToken, setupMail } from '../../test/mail-catcher';
import {
  BASE_URL,
  DASHBOARD_URL,
  getCookie,
  PASSWORD,
  type Person,
  testWorkerApi,
  withCookie,
} from '../../test/test-worker-api';
import { createIntrospector } from '../identity/introspection';

const NEW_PASSWORD = 'another staple altogether';
const oldPepper = `v1:${randomBytes(32).toString('base64')}`;

let person: Person;
const mail = setupMail();
const api = testWorkerApi(() => ({ smtpUrl: mail.url, tokenPeppers: parseKeyRing(oldPepper) }));
const anonymous = setupResource(() => createCaller(api.url));
beforeEach(async () => {
  person = await api.addMember('member');
});

const as = ({ jwt }: Person) => createCaller(api.url, jwt);
const signIn = (email: string, password: string) => anonymous.post('/auth/login', { email, password });
const withSession = (cookie: string) => request(api.url).get('/auth/me').set('Cookie', withCookie(cookie));

test('a changed password ends every session and JWT, and opens a new one', async () => {
  const elsewhere = await signIn(person.email, PASSWORD).expect(200);
  const { token } = await api.createToken('personal', person.jwt);
  const change = { current_password: PASSWORD, new_password: NEW_PASSWORD };
  const changed = await as(person).post('/auth/password', change).expect(200);
  await withSession(getCookie(changed)).expect(200);
  await createCaller(api.url, changed.body.access_token).get('/auth/me').expect(200);
  for (const jwt of [person.jwt, elsewhere.body.access_token])
    await createCaller(api.url, jwt).get('/auth/me').expect(401);
  for (const cookie of [person.cookie, getCookie(elsewhere)]) await withSession(cookie).expect(401);
  await createCaller(api.url, token).get('/auth/me').expect(200);
  await signIn(person.email, PASSWORD).expect(401);
  await signIn(person.email, NEW_PASSWORD).expect(200);
});

test('changing needs the current password, a strong new one, and a signed-in person', async () => {
  const change = (current_password: string, new_password: string) =>
    as(person).post('/auth/password', { current_password, new_password });
  expect((await change('wrong password', NEW_PASSWORD).expect(403)).body.code).toBe('wrong_password');
  const weak = await change(PASSWORD, 'short').expect(400);
  expect(weak.body.errors[0].path).toBe('new_password');
  const { token } = await api.createToken('personal', person.jwt);
  const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
  expect((await createCaller(api.url, token).post('/auth/password', body).expect(403)).body.code).toBe('needs_sign_in');
  await signIn(person.email, PASSWORD).expect(200);
});

test('a forgotten password is replaced by a link that works once', async () => {
  const asked = await anonymous.post('/auth/password/forgot', { email: ` ${person.email.toUpperCase()}` }).expect(202);
  expect(asked.body).toEqual({ delivery: 'email' });
  const message = await mail.messageTo(person.email);
  expect(message).toContain(`${DASHBOARD_URL}/reset-password#rst_`);
  const token = findToken(message);
  await anonymous.post('/auth/password/reset', { token, new_password: 'short' }).expect(400);
  const reset = await anonymous.post('/auth/password/reset', { token, new_password: NEW_PASSWORD }).expect(200);
  await withSession(getCookie(reset)).expect(200);
  await withSession(person.cookie).expect(401);
  await as(person).get('/auth/me').expect(401);
  await signIn(person.email, NEW_PASSWORD).expect(200);
  await anonymous.post('/auth/password/reset', { token, new_password: PASSWORD }).expect(410);
});

test('a newer link invalidates the older one, and an expired one opens nothing', async () => {
  const requestReset = async (seen: number) => {
    await anonymous.post('/auth/password/forgot', { email: person.email }).expect(202);
    await waitUntil(() => mail.recipients.filter((to) => to === person.email).length > seen);
    return findToken(await mail.messageTo(person.email));
  };
  const [older, newer] = [await requestReset(0), await requestReset(1)];
  const reset = (token: string) => anonymous.post('/auth/password/reset', { token, new_password: NEW_PASSWORD });
  await reset(older).expect(404);
  await api.database.pool.query('UPDATE password_resets SET expires_at = now() WHERE user_id = $1', [person.userId]);
  await reset(newer).expect(410);
  await reset('rst_made-up').expect(404);
});

test('an unknown address gets the same response, and no mail', async () => {
  const answer = await anonymous.post('/auth/password/forgot', { email: 'nobody@example.com' }).expect(202);
  expect(answer.body).toEqual({ delivery: 'email' });
  await anonymous.post('/auth/password/forgot', { email: person.email }).expect(202);
  await mail.messageTo(person.email);
  expect(mail.recipients).not.toContain('nobody@example.com');
});

test('an admin gets a link for a member, unless it would open workspaces of others', async () => {
  const admin = await api.addMember('admin');
  const link = (userId: string) =>
    as(admin).post(`/api/workspaces/${api.workspaceId}/members/${userId}/password-reset`);
  const { body } = await link(person.userId).expect(201);
  await anonymous
    .post('/auth/password/reset', { token: findToken(body.reset_url), new_password: NEW_PASSWORD })
    .expect(200);
  await as(await api.addMember('viewer'))
    .post(`/api/workspaces/${api.workspaceId}/members/${person.userId}/password-reset`)
    .expect(403);
  await api.database.prisma.membership.create({
    data: { workspaceId: api.foreign.workspaceId, userId: person.userId, role: 'member' },
  });
  expect((await link(person.userId).expect(409)).body.code).toBe('member_elsewhere');
});

describe('a link that an admin created is valid no longer than its reason', () => {
  let admin: Person;
  const memberPath = (userId: string) => `/api/workspaces/${api.workspaceId}/members/${userId}`;
  const setRole = (userId: string, role: string) =>
    as(api.owner)
      .put(`${memberPath(userId)}/role`, { role })
      .expect(200);
  const createLink = async () => {
    const { body } = await as(admin)
      .post(`${memberPath(person.userId)}/password-reset`)
      .expect(201);
    return findToken(body.reset_url);
  };
  const open = (token: string) => anonymous.post('/auth/password/reset', { token, new_password: NEW_PASSWORD });
  beforeEach(async () => {
    admin = await api.addMember('admin');
  });

  test.each<[string, () => unknown]>([
    ['another link was made', () => createLink()],
    ['a link was mailed', () => requestByMail()],
    [
      'the password was changed',
      () => as(person).post('/auth/password', { current_password: PASSWORD, new_password: 'a third one of mine' }),
    ],
    ['the member has another role', () => setRole(person.userId, 'viewer')],
    ['the member was removed', () => as(api.owner).remove(memberPath(person.userId)).expect(204)],
    ['the member joined another workspace', () => as(person).post('/api/workspaces', { name: 'My own' }).expect(201)],
    ['the admin lost the role', () => setRole(admin.userId, 'member')],
    ['the admin was removed', () => as(api.owner).remove(memberPath(admin.userId)).expect(204)],
    ['the admin was disabled', () => updateUser('disabled_at = now()', admin.userId)],
    ['the member was disabled', () => updateUser('disabled_at = now()', person.userId)],
    ['the address has changed', () => updateUser("email = 'renamed-' || email", person.userId)],
  ])('it ends when %s', async (_why, change) => {
    const token = await createLink();
    await change();
    expect([404, 410]).toContain((await open(token)).status);
  });

  test('it ends when the member has joined other workspaces, however that happened', async () => {
    const token = await createLink();
    await api.database.prisma.membership.create({
      data: { workspaceId: api.foreign.workspaceId, userId: person.userId, role: 'member' },
    });
    await open(token).expect(410);
    await signIn(person.email, PASSWORD).expect(200);
  });

  test('a token can’t create one: it would open a session', async () => {
    const personal = await api.createToken('personal', admin.jwt);
    const ofWorkspace = await api.createToken('workspace', admin.jwt);
    for (const { token } of [personal, ofWorkspace]) {
      const refused = await createCaller(api.url, token)
        .post(`${memberPath(person.userId)}/password-reset`)
        .expect(403);
      expect(refused.body.code).toBe('needs_sign_in');
    }
  });

  test('the admin may have used it, so the address is not verified afterwards', async () => {
    const { body } = await open(await createLink()).expect(200);
    const me = await createCaller(api.url, body.access_token).get('/auth/me').expect(200);
    expect(me.body).toMatchObject({ id: person.userId, email_verified: false });
  });
});

const updateUser = (columns: string, userId: string) =>
  api.database.pool.query(`UPDATE users SET ${columns} WHERE id = $1`, [userId]);

async function requestByMail(): Promise<string> {
  const seen = mail.recipients.filter((to) => to === person.email).length;
  await anonymous.post('/auth/password/forgot', { email: person.email }).expect(202);
  await waitUntil(() => mail.recipients.filter((to) => to === person.email).length > seen);
  return findToken(await mail.messageTo(person.email));
}

test('a mailed link is the first verification of an address: older credentials end, for their creator is unknown', async () => {
  person = await api.addMember('member', { emailVerified: false });
  const { token: made } = await api.createToken('personal', person.jwt);
  const token = await requestByMail();
  const reset = await anonymous.post('/auth/password/reset', { token, new_password: NEW_PASSWORD }).expect(200);
  const me = await createCaller(api.url, reset.body.access_token).get('/auth/me').expect(200);
  expect(me.body).toMatchObject({ id: person.userId, email_verified: true });
  await createCaller(api.url, made).get('/auth/me').expect(401);
});

test('a verified address keeps its tokens when the password is reset by mail', async () => {
  const { token: made } = await api.createToken('personal', person.jwt);
  const token = await requestByMail();
  await anonymous.post('/auth/password/reset', { token, new_password: NEW_PASSWORD }).expect(200);
  expect((await createCaller(api.url, made).get('/auth/me').expect(200)).body.email_verified).toBe(true);
});

test('an approved device gets no token once its person has signed out everywhere', async () => {
  const { body: codes } = await anonymous.post('/api/cli-auth/devices').expect(200);
  await as(person).post('/api/cli-auth/devices/approve', { user_code: codes.user_code }).expect(204);
  await as(person).post('/auth/logout/everywhere').expect(204);
  const { device_code, user_code } = codes;
  await anonymous.post('/auth/cli-exchange', { device_code, user_code }).expect(410);
});

test('a person lists their sessions, and ends one or all of them', async () => {
  const other = await signIn(person.email, PASSWORD).expect(200);
  const { body } = await as(person).get('/auth/sessions').expect(200);
  expect(body.map((session: { current: boolean }) => session.current)).toEqual([false, true]);
  await as(api.owner).remove(`/auth/sessions/${body[0].id}`).expect(404);
  await as(person).remove(`/auth/sessions/${body[0].id}`).expect(204);
  await withSession(getCookie(other)).expect(401);
  await as(person).get('/auth/me').expect(200);

  const { token } = await api.createToken('personal', person.jwt);
  await as(person).post('/auth/logout/everywhere').expect(204);
  await as(person).get('/auth/me').expect(401);
  await withSession(person.cookie).expect(401);
  await createCaller(api.url, token).get('/auth/me').expect(200);
  const again = createCaller(api.url, (await signIn(person.email, PASSWORD).expect(200)).body.access_token);
  await again.post('/auth/logout/everywhere', { tokens: true }).expect(204);
  await createCaller(api.url, token).get('/auth/me').expect(401);
});

test('a token that is used moves to the current pepper, so that the old one can be removed', async () => {
  const { id, token } = await api.createToken('personal', person.jwt);
  const newPepper = `v2:${randomBytes(32).toString('base64')}`;
  const { pool } = api.database;
  const version = async () => (await pool.query('SELECT pepper_version FROM tokens WHERE id = $1', [id])).rows[0];
  expect(await version()).toEqual({ pepper_version: 'v1' });
  const tokenUse = { note: () => {}, flush: async () => {} };
  const introspectUnder = (peppers: string) =>
    createIntrospector({ pool, hasher: createTokenHasher(parseKeyRing(peppers)), tokenUse, baseUrl: BASE_URL })({
      kind: 'token',
      token,
    });
  expect(await introspectUnder(newPepper)).toBeNull();
  expect(await introspectUnder(`${oldPepper},${newPepper}`)).toMatchObject({ tokenId: id });
  expect(await version()).toEqual({ pepper_version: 'v2' });
  expect(await introspectUnder(newPepper)).toMatchObject({ tokenId: id });
});
