import { createOpaqueToken } from '@gantry/auth';
import {
  buildEventSubjectPattern,
  connectBus,
  enqueue,
  type Identity,
  INTROSPECT_SUBJECT,
  introspectReply,
  memberChanged,
  request,
  tokenRevoked,
} from '@gantry/events';
import { transaction } from '@gantry/postgres';
import { setupResource, terminateConnections, waitUntil } from '@gantry/testing';
import http from 'supertest';
import { testWorkerApi, withCookie } from '../../test/test-worker-api';

/** Answers are cached for 20 s: only an event ends one before. */
const BY_EVENT = { deadlineMs: 15_000 };

const api = testWorkerApi();
const asker = setupResource(
  () => connectBus({ ...api.nats.as('automation-api'), name: 'automation-api', log: api.logs.log }),
  (bus) => bus.nc.close(),
);

const introspect = async (question: object): Promise<Identity | null> =>
  (await request(asker, INTROSPECT_SUBJECT, question, introspectReply, 2_000, 'worker-api')).identity;

test('another service gets the holder of a personal token', async () => {
  const { id, token } = await api.createToken('personal', api.owner.jwt);
  expect(await introspect({ kind: 'token', token })).toEqual({
    kind: 'personal_token',
    userId: api.owner.userId,
    email: 'owner@example.com',
    emailVerified: false,
    holderSince: expect.any(Number),
    name: null,
    tokenId: id,
    defaultWorkspaceId: api.workspaceId,
    memberships: { [api.workspaceId]: 'owner' },
    expiresAt: null,
  });
});

test('a workspace token opens its workspace and no other', async () => {
  const { token } = await api.createToken('workspace', api.foreign.owner.jwt);
  expect(await introspect({ kind: 'token', token })).toMatchObject({
    kind: 'workspace_token',
    userId: null,
    memberships: { [api.foreign.workspaceId]: 'admin' },
  });
});

test('the limit of a personal token applies in every workspace of its user', async () => {
  const person = await api.addMember('member');
  await api.database.pool.query("INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, 'owner')", [
    api.foreign.workspaceId,
    person.userId,
  ]);
  const { token } = await api.createToken('personal', person.jwt, { role: 'viewer' });
  expect((await introspect({ kind: 'token', token }))?.memberships).toEqual({
    [api.workspaceId]: 'viewer',
    [api.foreign.workspaceId]: 'viewer',
  });
});

test('sessions and users are known too, disabled ones are not', async () => {
  const person = await api.addMember('viewer');
  expect(await introspect({ kind: 'session', cookie: person.cookie })).toMatchObject({
    kind: 'session',
    userId: person.userId,
  });
  expect(await introspect({ kind: 'user', userId: person.userId })).toMatchObject({
    kind: 'jwt',
    userId: person.userId,
  });
  await api.database.pool.query('UPDATE users SET disabled_at = now() WHERE id = $1', [person.userId]);
  expect(await introspect({ kind: 'session', cookie: person.cookie })).toBeNull();
  expect(await introspect({ kind: 'user', userId: person.userId })).toBeNull();
});

test('an address counts only once it is verified, and not for older credentials', async () => {
  const person = await api.addMember('member', { emailVerified: false });
  const before = await api.createToken('personal', person.jwt);
  const isProven = async (question: object) => (await introspect(question))?.emailVerified;
  const ofKey = (madeAt: number) => ({ kind: 'user', userId: person.userId, madeAt });
  const keyMadeAt = Date.now();
  expect(await isProven({ kind: 'token', token: before.token })).toBe(false);
  expect(await isProven({ kind: 'session', cookie: person.cookie })).toBe(false);
  expect(await isProven(ofKey(keyMadeAt))).toBe(false);
  await api.database.pool.query("UPDATE users SET email_verified_at = now() + interval '1 ms' WHERE id = $1", [
    person.userId,
  ]);
  expect(await isProven({ kind: 'session', cookie: person.cookie })).toBe(true);
  expect(await isProven({ kind: 'token', token: before.token })).toBe(false);
  expect(await isProven(ofKey(keyMadeAt))).toBe(false);
  await waitUntil(() => Date.now() > keyMadeAt + 50);
  const after = await api.createToken('personal', person.jwt);
  expect(await isProven({ kind: 'token', token: after.token })).toBe(true);
  expect(await isProven(ofKey(Date.now()))).toBe(true);
});

test('API keys of other services end with the other credentials of the account, and newer ones do not', async () => {
  const person = await api.addMember('member');
  const question = (madeAt: number) => ({ kind: 'user', userId: person.userId, madeAt });
  const keyMadeAt = Date.now();
  expect(await introspect(question(keyMadeAt))).not.toBeNull();
  await http(api.url)
    .post('/auth/logout/everywhere')
    .set('Authorization', `Bearer ${person.jwt}`)
    .send({ tokens: true })
    .expect(204);
  expect(await introspect(question(keyMadeAt - 1))).toBeNull();
  expect(await introspect(question(Date.now() + 1))).not.toBeNull();
});

test.each([
  ['an unknown token', { kind: 'token', token: createOpaqueToken('svc_') }],
  ['a token without its checksum', { kind: 'token', token: `svc_${'a'.repeat(49)}` }],
  ['a cookie asked for as a token', { kind: 'token', token: createOpaqueToken('ses_') }],
  ['a token asked for as a cookie', { kind: 'session', cookie: createOpaqueToken('svc_') }],
  ['an unknown user', { kind: 'user', userId: 'usr_nobody' }],
])('%s has no identity', async (_what, question) => {
  expect(await introspect(question)).toBeNull();
});

test('a revocation is announced, and so is a signed-out session', async () => {
  const announced: string[] = [];
  asker.nc.subscribe(buildEventSubjectPattern(tokenRevoked), {
    callback: (_err, message) => announced.push(JSON.parse(message.string()).data.tokenId),
  });
  await asker.nc.flush();
  const { id } = await api.createToken('personal', api.owner.jwt);
  await http(api.url).delete(`/auth/tokens/${id}`).set('Authorization', `Bearer ${api.owner.jwt}`).expect(204);
  await waitUntil(() => announced.includes(id));
  const person = await api.addMember('viewer');
  const session = (await introspect({ kind: 'session', cookie: person.cookie }))?.tokenId;
  await http(api.url).post('/auth/logout').set('Cookie', withCookie(person.cookie)).expect(204);
  await waitUntil(() => session && announced.includes(session));
});

test('a changed membership takes effect as soon as its event arrives', async () => {
  const person = await api.addMember('admin');
  const role = async () => (await http(api.url).get('/auth/me').set('Authorization', `Bearer ${person.jwt}`)).body.role;
  expect(await role()).toBe('admin');
  await api.database.pool.query("UPDATE memberships SET role = 'viewer' WHERE user_id = $1", [person.userId]);
  await transaction(api.database.pool, (tx) => enqueue(tx, memberChanged, api.workspaceId, { userId: person.userId }));
  await waitUntil(async () => (await role()) === 'viewer', BY_EVENT);
});

test('requests succeed again after every connection to the database was cut', async () => {
  const { token } = await api.createToken('personal', api.owner.jwt);
  await terminateConnections({ url: api.databaseUrl, drop: async () => {} });
  await waitUntil(() => introspect({ kind: 'token', token }));
});
