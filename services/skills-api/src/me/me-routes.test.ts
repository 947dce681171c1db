/** Accounts of worker-api used on this service: two databases, one token, NATS between them. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLastUseTracker, createRemoteIdentityResolver, createTokenHasher } from '@gantry/auth';
import { startRelay, watchWorkspaceClosures } from '@gantry/events';
import { createHealth, createPostgresCheck } from '@gantry/http';
import {
  BY_EVENT,
  createDatabase,
  getTrustedIssuer,
  setupAccounts,
  setupResource,
  WORKER_API_ISSUER,
  waitUntil,
} from '@gantry/testing';
import { parseKeyRing } from '@gantry/vault';
import request from 'supertest';
import { createApiKeyTokens } from '../api-keys/api-key';
import { createApp } from '../app';
import { openDatabase } from '../database';
import { createRenderCache } from '../rendering/rendered-cache';
import { createRenderer } from '../rendering/renderer';
import { createViewCounter } from '../skills/view-counts';
import { createFindMembers } from '../workspaces/find-members';

const { log, nats, accounts, bus } = setupAccounts('skills-api');
const database = setupResource(
  async () => openDatabase((await createDatabase('skills-api')).url, log),
  (opened) => opened.close(),
);
const hasher = createTokenHasher(parseKeyRing(`v1:${Buffer.alloc(32, 7).toString('base64')}`));
setupResource(
  () => startRelay({ pool: database.pool, bus, service: 'skills-api', log }),
  (relay) => relay.stop(),
);
const identities = setupResource(
  () => {
    const { pool, prisma } = database;
    const ownTokens = createApiKeyTokens({
      prisma,
      hasher,
      keyUse: createLastUseTracker({ pool, table: 'api_keys', log }),
    });
    return createRemoteIdentityResolver({ bus, ...getTrustedIssuer(accounts), ownTokens, log });
  },
  (remote) => remote.stop(),
);
const closures = setupResource(
  () => watchWorkspaceClosures({ pool: database.pool, bus, log }),
  (opened) => opened.stop(),
);
let server: Server;
let url: string;

beforeAll(async () => {
  const { pool } = database;
  const app = createApp({
    database,
    health: createHealth(
      { postgres: createPostgresCheck(pool), nats: () => bus.nc.flush() },
      { optionalDependencies: ['nats'] },
    ),
    identify: identities.identify,
    closures,
    hasher,
    views: createViewCounter({ pool, log }),
    render: createRenderCache(createRenderer({ log })),
    findMembers: createFindMembers(bus),
    isFuzzy: true,
    // No direct eviction, so that the event is tested.
    evictKey: () => {},
    baseUrl: WORKER_API_ISSUER,
    dashboardUrl: 'http://dashboard.test',
    skillsUrl: 'http://skills.test',
    log,
    validateResponses: true,
  });
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const getMe = (headers: Record<string, string>) => request(url).get('/api/me').set(headers);
const bearerHeader = (credential: string) => ({ Authorization: `Bearer ${credential}` });
const revoke = (tokenId: string) =>
  request(accounts.url).delete(`/auth/tokens/${tokenId}`).set(bearerHeader(accounts.owner.jwt)).expect(204);

test('it is alive and ready', async () => {
  await request(url).get('/healthz').expect(200);
  await request(url).get('/health').expect(200);
});

test('every credential of the account is accepted: personal token, workspace token, JWT, cookie', async () => {
  const { workspaceId, owner } = accounts;
  const svc = await accounts.createToken('personal', owner.jwt);
  const wst = await accounts.createToken('workspace', owner.jwt);
  const where = { workspace_id: workspaceId, role: 'owner' };
  const whole = { id: owner.userId, email: owner.email, email_verified: false, name: null, ...where };
  expect((await getMe({ 'x-svc-token': svc.token }).expect(200)).body).toEqual({
    ...whole,
    credential: 'personal_token',
  });
  expect((await getMe(bearerHeader(owner.jwt)).expect(200)).body).toEqual({ ...whole, credential: 'jwt' });
  expect((await getMe({ Cookie: `svc_cloud_session=${owner.cookie}` }).expect(200)).body).toEqual({
    ...whole,
    credential: 'session',
  });
  expect((await getMe(bearerHeader(wst.token)).expect(200)).body).toMatchObject({
    id: null,
    role: 'admin',
    workspace_id: workspaceId,
  });
});

test('without a credential, or with an invented one, the response has its own error shape', async () => {
  expect((await getMe({}).expect(401)).body).toEqual({ error: expect.any(String), code: 'no_credential' });
  await getMe(bearerHeader(`svc_${'a'.repeat(49)}`)).expect(401);
  await getMe(bearerHeader('eyJhbGciOiJub25lIn0.e30.x')).expect(401);
});

test('the workspace of another account is refused', async () => {
  await getMe({ ...bearerHeader(accounts.owner.jwt), 'x-svc-workspace': accounts.foreign.workspaceId }).expect(403);
});

test('a token that was just used is refused within two seconds of its revocation', async () => {
  const { id, token } = await accounts.createToken('personal', accounts.owner.jwt);
  await getMe(bearerHeader(token)).expect(200);
  await revoke(id);
  await waitUntil(async () => (await getMe(bearerHeader(token))).status === 401, BY_EVENT);
});

test('an API key stands for its user as worker-api knows them, gives no other access, and ends within two seconds', async () => {
  const session = bearerHeader(accounts.owner.jwt);
  const { body } = await request(url).post('/api/v1/api-keys').set(session).send({ name: 'laptop' }).expect(201);
  const list = () => request(url).get('/api/v1/me/skills').set(bearerHeader(body.key));
  await list().expect(200);
  await getMe(bearerHeader(body.key)).expect(403);
  await request(accounts.url).get('/auth/me').set(bearerHeader(body.key)).expect(401);
  await request(url).delete(`/api/v1/api-keys/${body.id}`).set(session).expect(204);
  await waitUntil(async () => (await list()).status === 401, BY_EVENT);
});

test('a share with an address is for the account that has verified it, not for one that was invited by that name', async () => {
  const publisher = bearerHeader(accounts.foreign.owner.jwt);
  const grace = await accounts.addMember('member');
  const emails = [grace.email, 'victim@example.com'];
  const skill = { title: 'Shared with two', slug: 'shared-with-two', body_md: 'x', visibility: 'private' };
  await request(url).post('/api/v1/skills').set(publisher).send(skill).expect(201);
  await request(url).post('/api/v1/skills/shared-with-two/share').set(publisher).send({ emails }).expect(200);
  const read = (jwt: string) => request(url).get('/api/v1/skills/shared-with-two').set(bearerHeader(jwt));
  await read(grace.jwt).expect(200);

  // Without email the inviter gets the link, and may open it.
  const asOwner = bearerHeader(accounts.owner.jwt);
  const invited = await request(accounts.url)
    .post(`/api/workspaces/${accounts.workspaceId}/members/invite`)
    .set(asOwner)
    .send({ email: 'victim@example.com' })
    .expect(201);
  const joined = await request(accounts.url)
    .post('/auth/invitations/register')
    .send({ token: invited.body.invite_url.split('#')[1], password: 'correct horse battery staple' })
    .expect(201);
  const jwt: string = joined.body.access_token;
  expect((await getMe(bearerHeader(jwt)).expect(200)).body).toMatchObject({ email: emails[1], email_verified: false });
  await read(jwt).expect(404);
  const key = await request(url).post('/api/v1/api-keys').set(bearerHeader(jwt)).send({ name: 'x' }).expect(201);
  await read(key.body.key).expect(404);
});

test('signing out everywhere with the tokens ends the API keys too', async () => {
  const person = await accounts.addMember('member');
  const key = await request(url).post('/api/v1/api-keys').set(bearerHeader(person.jwt)).send({ name: 'x' }).expect(201);
  const list = () => request(url).get('/api/v1/me/skills').set(bearerHeader(key.body.key));
  await list().expect(200);
  await request(accounts.url)
    .post('/auth/logout/everywhere')
    .set(bearerHeader(person.jwt))
    .send({ tokens: true })
    .expect(204);
  await waitUntil(async () => (await list()).status === 401, BY_EVENT);
});

test('without NATS a known caller is served for some seconds, an unknown one gets 503 and not 401', async () => {
  const known = await accounts.createToken('personal', accounts.owner.jwt);
  const unknown = await accounts.createToken('personal', accounts.owner.jwt);
  await getMe(bearerHeader(known.token)).expect(200);
  await nats.kill();
  await getMe(bearerHeader(known.token)).expect(200);
  const response = await getMe(bearerHeader(unknown.token)).expect(503);
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  const { body } = await request(url).get('/health').expect(200);
  expect(body).toEqual({ status: 'degraded', down: ['nats'] });

  // Revoked while NATS was down: refused as soon as the connection is back.
  await revoke(known.id);
  await nats.restart();
  await waitUntil(async () => (await getMe(bearerHeader(known.token))).status === 401);
  await waitUntil(async () => (await getMe(bearerHeader(unknown.token))).status === 200);
});

test('a member whose address worker-api has not verified reads what is shared with it', async () => {
  const owner = bearerHeader(accounts.owner.jwt);
  const member = await accounts.addMember('member', { emailVerified: false });
  const input = { title: 'For one member', body_md: 'x', visibility: 'private' };
  const { slug } = (await request(url).post('/api/v1/skills').set(owner).send(input).expect(201)).body;
  const read = () => request(url).get(`/api/v1/skills/${slug}`).set(bearerHeader(member.jwt));
  await read().expect(404);
  const emails = [member.email, 'elsewhere@example.com'];
  const shared = await request(url).post(`/api/v1/skills/${slug}/share`).set(owner).send({ emails }).expect(200);
  expect(shared.body.readers).toEqual([{ email: member.email, user_id: member.userId, email_verified: false }]);
  await read().expect(200);
});
