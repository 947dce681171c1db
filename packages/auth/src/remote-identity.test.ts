/** A credential of the real worker-api at another service that has only NATS and the published keys. */
import {
  BY_EVENT,
  getTrustedIssuer,
  setupAccounts,
  setupResource,
  WORKER_API_ISSUER,
  waitUntil,
} from '@gantry/testing';
import express, { type ErrorRequestHandler, type Express } from 'express';
import request from 'supertest';
import { createAuthenticator } from './authenticator';
import { createRemoteIdentityResolver } from './remote-identity';

const PAGE = 'http://dashboard.test';

const { log, nats, accounts, bus } = setupAccounts('automation-api');
const identities = setupResource(
  () => createRemoteIdentityResolver({ bus, ...getTrustedIssuer(accounts), log }),
  (remote) => remote.stop(),
);
let app: Express;

beforeAll(() => {
  const authenticate = createAuthenticator({
    identify: identities.identify,
    closures: new Set<string>(),
    publicUrls: [WORKER_API_ISSUER, PAGE],
  });
  const sendError: ErrorRequestHandler = (err, _req, res, _next) => {
    res.status(err.status ?? 500).json({ code: err.code, retryAfterSeconds: err.retryAfterSeconds });
  };
  app = express();
  app.all('/me', async (req, res) => {
    res.json(await authenticate(req));
  });
  app.use(sendError);
});

const me = (headers: Record<string, string>) => request(app).get('/me').set(headers);
const bearer = (credential: string) => ({ Authorization: `Bearer ${credential}` });
const cookie = () => ({ Cookie: `svc_cloud_session=${accounts.owner.cookie}` });
const revoke = (tokenId: string) =>
  request(accounts.url).delete(`/auth/tokens/${tokenId}`).set(bearer(accounts.owner.jwt)).expect(204);

test('every credential of the account is accepted: personal token, workspace token, JWT, cookie', async () => {
  const { workspaceId, owner } = accounts;
  const svc = await accounts.createToken('personal', owner.jwt);
  const wst = await accounts.createToken('workspace', owner.jwt);
  const person = { userId: owner.userId, email: owner.email, workspaceId, role: 'owner' };
  expect((await me({ 'x-svc-token': svc.token }).expect(200)).body).toMatchObject({
    ...person,
    kind: 'personal_token',
  });
  expect((await me(bearer(owner.jwt)).expect(200)).body).toMatchObject({ ...person, kind: 'jwt' });
  expect((await me(cookie()).expect(200)).body).toMatchObject({ ...person, kind: 'session' });
  expect((await me(bearer(wst.token)).expect(200)).body).toMatchObject({ userId: null, role: 'admin', workspaceId });
});

test('a request without a credential is anonymous, and an invented one is a 401', async () => {
  expect((await me({}).expect(200)).body).toBeNull();
  await me(bearer(`svc_${'a'.repeat(49)}`)).expect(401);
  await me(bearer('eyJhbGciOiJub25lIn0.e30.x')).expect(401);
});

test('another user’s workspace is refused', async () => {
  await me({ ...bearer(accounts.owner.jwt), 'x-svc-workspace': accounts.foreign.workspaceId }).expect(403);
});

test('with the cookie, only the platform’s pages may make changes', async () => {
  const post = (headers: Record<string, string>) =>
    request(app)
      .post('/me')
      .set({ ...cookie(), ...headers });
  await post({ Origin: PAGE, 'Sec-Fetch-Site': 'same-origin' }).expect(200);
  const foreign: Record<string, string>[] = [
    {},
    { Origin: 'http://evil.test' },
    { Origin: PAGE, 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'null' },
  ];
  for (const headers of foreign) {
    expect((await post(headers).expect(403)).body.code).toBe('cross_origin');
  }
});

test('a token that was just used is refused within two seconds of its revocation', async () => {
  const { id, token } = await accounts.createToken('personal', accounts.owner.jwt);
  await me(bearer(token)).expect(200);
  await revoke(id);
  await waitUntil(async () => (await me(bearer(token))).status === 401, BY_EVENT);
});

test('a session that was signed out is refused within two seconds, and the JWT that came from it', async () => {
  const { cookie, jwt } = await accounts.addMember('member');
  const session = { Cookie: `svc_cloud_session=${cookie}` };
  await me(session).expect(200);
  await me(bearer(jwt)).expect(200);
  await request(accounts.url).post('/auth/logout').set(session).expect(204);
  await waitUntil(async () => (await me(session)).status === 401, BY_EVENT);
  await waitUntil(async () => (await me(bearer(jwt))).status === 401, BY_EVENT);
});

test('without NATS a known caller is served for some seconds, an unknown one gets 503 and not 401', async () => {
  const known = await accounts.createToken('personal', accounts.owner.jwt);
  const unknown = await accounts.createToken('personal', accounts.owner.jwt);
  await me(bearer(known.token)).expect(200);
  await nats.kill();
  await me(bearer(known.token)).expect(200);
  expect((await me(bearer(unknown.token)).expect(503)).body.retryAfterSeconds).toBeGreaterThan(0);

  // Revoked while NATS was down: refused as soon as the connection is back.
  await revoke(known.id);
  await nats.restart();
  await waitUntil(async () => (await me(bearer(known.token))).status === 401);
  await waitUntil(async () => (await me(bearer(unknown.token))).status === 200);
});
