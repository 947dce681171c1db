/** MCP servers that people sign in to, against one with bad habits: see test/fake-mcp-server.ts. */
import { createHash } from 'node:crypto';
import { setupResource } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from '../test/caller';
import { startFakeMcpServer } from '../test/fake-mcp-server';
import { DASHBOARD_URL, testWorkerApi, withCookie } from '../test/test-worker-api';
import { revokeDueGrants } from './revocations';

let clock = Date.now();
const server = setupResource(startFakeMcpServer, (one) => one.stop());
const api = testWorkerApi({ outboundAllow: ['127.0.0.0/8'], now: () => new Date(clock) });
const hostile = setupResource(startFakeMcpServer, (one) => one.stop());
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));

beforeEach(() => {
  clock = Date.now();
  for (const { habits } of [server, hostile]) {
    for (const name of Object.keys(habits)) delete habits[name as keyof typeof habits];
  }
});

const register = (more: object = {}) =>
  owner.post('/api/connections/mcp', { label: 'Tracker', url: server.url, auth: 'oauth', ...more });
const getCallback = (issuer: string) =>
  `${DASHBOARD_URL}/auth/connections/callback/${createHash('sha256').update(issuer).digest('base64url')}`;
const arrive = (back: URL) =>
  request(api.url)
    .get(back.pathname + back.search)
    .set('Cookie', withCookie(api.owner.cookie));
const read = async (id: string) => (await owner.get(`/api/connections/${id}`).expect(200)).body;
async function connectByServer() {
  const { body } = await register().expect(201);
  await arrive(server.consent(body.authorization_url)).expect(200);
  return body.id as string;
}

test('discovers where to sign in, requests a token for this server alone, and lists its tools with it', async () => {
  const { body } = await register().expect(201);
  expect(body).toMatchObject({ kind: 'mcp', status: 'pending', issuer: server.origin, app: 'tracker' });
  const asked = new URL(body.authorization_url);
  expect(asked.origin).toBe(server.origin);
  expect(Object.fromEntries(asked.searchParams)).toMatchObject({
    client_id: 'registered-1',
    resource: server.url,
    scope: 'read',
    code_challenge_method: 'S256',
    redirect_uri: getCallback(server.origin),
  });
  expect(server.seen.registrations.at(-1)).toMatchObject({
    token_endpoint_auth_method: 'none',
    redirect_uris: [getCallback(server.origin)],
  });
  expect((await owner.post(`/api/connections/${body.id}/test`).expect(200)).body).toMatchObject({
    ok: false,
    error: 'sign-in has not been completed yet',
  });
  const page = await arrive(server.consent(body.authorization_url)).expect(200);
  expect(page.text).toContain('Tracker is connected.');
  expect(await read(body.id)).toMatchObject({ status: 'active', problem: null, scopes: ['read'] });
  const tools = await owner.get(`/api/connections/${body.id}/tools`).expect(200);
  expect(tools.body).toMatchObject([{ name: 'list_issues' }]);
  const { rows } = await api.database.pool.query('SELECT row_to_json(c)::text AS text FROM connections c');
  const [token = ''] = server.good;
  const [refresh = ''] = server.refreshes;
  for (const secret of [token, refresh]) expect(rows.map(({ text }) => text).join()).not.toContain(secret);
});

test('an expired token is refreshed before a request, and the connection reports when it can no longer be refreshed', async () => {
  server.habits.expiresIn = 600;
  const id = await connectByServer();
  clock += 11 * 60_000;
  await owner.get(`/api/connections/${id}/tools`).expect(200);
  expect((await owner.post(`/api/connections/${id}/test`).expect(200)).body).toMatchObject({ ok: true });
  expect(server.seen.tokens.at(-1)).toMatchObject({ grant_type: 'refresh_token', resource: server.url });
  server.refreshes.clear();
  clock += 11 * 60_000;
  const tried = await owner.post(`/api/connections/${id}/test`).expect(200);
  expect(tried.body).toMatchObject({ ok: false, status: 'expired', error: expect.stringContaining('invalid_grant') });
  const again = await owner.post(`/api/connections/${id}/authorize`, {}).expect(200);
  await arrive(server.consent(again.body.authorization_url)).expect(200);
  expect(await read(id)).toMatchObject({ status: 'active', problem: null });
});

test('a token that the server refuses makes the connection expired', async () => {
  const id = await connectByServer();
  server.good.clear();
  const tried = await owner.post(`/api/connections/${id}/test`).expect(200);
  expect(tried.body).toMatchObject({ ok: false, status: 'expired' });
});

test('a server without metadata is its own authorization server', async () => {
  server.habits.isOld = true;
  expect((await register().expect(201)).body).toMatchObject({ issuer: server.origin });
});

test.each<[string, () => void, RegExp]>([
  ['needs no sign-in', () => Object.assign(server.habits, { isOpen: true }), /allows anonymous access/],
  [
    'describes another resource',
    () => Object.assign(server.habits, { resource: 'https://bank.example/mcp' }),
    /the server's metadata describes a different resource: https:\/\/bank\.example\/mcp/,
  ],
  [
    'names another issuer',
    () => Object.assign(server.habits, { issuer: 'https://evil.example' }),
    /belongs to a different issuer/,
  ],
  [
    'has no PKCE',
    () => Object.assign(server.habits, { metadata: { code_challenge_methods_supported: ['plain'] } }),
    /does not support PKCE/,
  ],
  [
    'accepts only clients with secrets',
    () => Object.assign(server.habits, { metadata: { token_endpoint_auth_methods_supported: ['client_secret_post'] } }),
    /accepts only clients with a secret/,
  ],
  [
    'sends tokens into a private network',
    () => Object.assign(server.habits, { metadata: { token_endpoint: 'http://10.0.0.7/token' } }),
    /the token_endpoint URL cannot be used/,
  ],
  [
    'refuses registrations',
    () => Object.assign(server.habits, { registers: { status: 403, body: { error: 'access_denied' } } }),
    /did not register us as a client: access_denied/,
  ],
  [
    'has no way to register a client',
    () => Object.assign(server.habits, { metadata: { registration_endpoint: null } }),
    /can neither register clients nor read our client document/,
  ],
])('a server that %s is refused with the reason, and nothing is created', async (_what, habit, says) => {
  const count = () => api.database.pool.query('SELECT count(*) FROM connections').then(({ rows }) => rows[0].count);
  const before = await count();
  habit();
  const { body } = await register().expect(409);
  expect(body).toMatchObject({ code: 'mcp_failed', detail: expect.stringMatching(says) });
  expect(await count()).toBe(before);
});

describe('a hostile server that tries to get the codes of an honest one', () => {
  const promised = { authorization_response_iss_parameter_supported: true };
  const registerHostile = () => register({ url: hostile.url });
  /** The browser at the honest server, where the hostile one has sent it, comes back to us. */
  async function expectRefusedReturn(habits: object, change: (back: URL) => URL | undefined = () => undefined) {
    Object.assign(hostile.habits, habits);
    const { body } = await registerHostile().expect(201);
    const back = server.consent(body.authorization_url);
    const page = await arrive(change(back) ?? back).expect(400);
    expect((await read(body.id)).status).toBe('pending');
    expect(hostile.seen.tokens).toEqual([]);
    return page.text;
  }
  beforeEach(() => hostile.seen.tokens.splice(0));

  test.each(['authorization_endpoint', 'token_endpoint', 'registration_endpoint'])(
    'claims the other’s %s as its own: refused',
    async (endpoint) => {
      hostile.habits.metadata = { [endpoint]: `${server.origin}/elsewhere` };
      const { body } = await registerHostile().expect(409);
      expect(body).toMatchObject({ code: 'mcp_failed', detail: expect.stringContaining('lists an endpoint on') });
    },
  );

  test('promises to identify itself, and the other one identifies itself instead: no code is sent to it', async () => {
    const metadata = { ...promised, authorization_endpoint: `${server.origin}/authorize` };
    expect(await expectRefusedReturn({ metadata })).toContain(`the response is not from ${hostile.origin}`);
  });

  test('promises to identify itself, and the other one does not: no code is sent to it', async () => {
    const metadata = { ...promised, authorization_endpoint: `${server.origin}/authorize` };
    const without = (back: URL) => void back.searchParams.delete('iss');
    expect(await expectRefusedReturn({ metadata }, without)).toContain(`the response is not from ${hostile.origin}`);
  });

  test('redirects the browser to the other one, which identifies itself: no code is sent to it', async () => {
    expect(await expectRefusedReturn({})).toContain(`the response is not from ${hostile.origin}`);
  });

  test('redirects the browser with the client of the other one, whose response arrives at its own address', async () => {
    const toTheOther = (back: URL) => {
      back.searchParams.delete('iss');
      return new URL(getCallback(server.origin) + back.search);
    };
    expect(await expectRefusedReturn({}, toTheOther)).toContain('sent to the address of a different issuer');
    const toAll = (back: URL) => new URL(`${DASHBOARD_URL}/auth/connections/callback${back.search}`);
    expect(await expectRefusedReturn({}, toAll)).toContain('sent to the address of a different issuer');
  });

  test('passes a refusal of the other one off as its own: its text is not shown', async () => {
    const refusal = (back: URL) => {
      back.searchParams.delete('code');
      back.searchParams.set('error', 'access_denied');
    };
    const page = await expectRefusedReturn({}, (back) => void refusal(back));
    expect(page).not.toContain('access_denied');
  });

  test('names a resource that the issuer has no tokens for: refused', async () => {
    hostile.habits.metadata = { protected_resources: [server.url] };
    const { body } = await registerHostile().expect(409);
    expect(body.detail).toContain('tokens only for other resources');
  });
});

test('a client from before issuers had their own addresses is registered again when a member consents again', async () => {
  const id = await connectByServer();
  await api.database.pool.query(
    `UPDATE connections SET "authorization" = "authorization" - 'redirectUri' - 'sendsIssuer' || $2::jsonb WHERE id = $1`,
    [id, JSON.stringify({ clientId: 'registered-long-ago' })],
  );
  const before = server.seen.registrations.length;
  const { body } = await owner.post(`/api/connections/${id}/authorize`, {}).expect(200);
  expect(server.seen.registrations.length).toBe(before + 1);
  expect(new URL(body.authorization_url).searchParams.get('redirect_uri')).toBe(getCallback(server.origin));
  await arrive(server.consent(body.authorization_url)).expect(200);
  clock += 61 * 60_000;
  expect((await owner.post(`/api/connections/${id}/test`).expect(200)).body).toMatchObject({ ok: true });
  expect(server.seen.tokens.at(-1)).toMatchObject({ grant_type: 'refresh_token', client_id: 'registered-1' });
});

test('headers are refused for a server with sign-in, and its address cannot be changed', async () => {
  const { body } = await register({ headers: { 'X-Team': 'a' } }).expect(400);
  expect(body.detail).toContain('headers: must be omitted for a server that requires sign-in');
  const id = await connectByServer();
  const moved = await owner.patch(`/api/connections/${id}`, { url: 'https://other.example/mcp' }).expect(400);
  expect(moved.body.detail).toContain('that requires sign-in');
  await owner.patch(`/api/connections/${id}`, { label: 'Renamed', allowed_tools: ['list_issues'] }).expect(200);
  const { token } = await api.createToken('workspace', api.owner.jwt, {});
  const refused = await createCaller(api.url, token)
    .post('/api/connections/mcp', { label: 'T', url: server.url, auth: 'oauth' })
    .expect(403);
  expect(refused.body.code).toBe('person_needed');
});

test('a deleted connection’s token is revoked at the server', async () => {
  const id = await connectByServer();
  const refresh = [...server.refreshes].at(-1);
  await owner.remove(`/api/connections/${id}?force=true`).expect(204);
  await revokeDueGrants(api.deps);
  expect(server.seen.revoked).toContain(refresh);
});

test('our client document has our name and our redirect addresses', async () => {
  const { body } = await request(api.url).get('/.well-known/oauth-client').expect(200);
  expect(body).toMatchObject({
    client_id: expect.stringMatching(/\/\.well-known\/oauth-client$/),
    token_endpoint_auth_method: 'none',
    redirect_uris: [`${DASHBOARD_URL}/auth/connections/callback`],
  });
  const callback = getCallback('https://issuer.example');
  const path = `/.well-known/oauth-client/${callback.slice(callback.lastIndexOf('/') + 1)}`;
  const ofIssuer = await request(api.url).get(path).expect(200);
  expect(ofIssuer.body).toMatchObject({ client_id: expect.stringContaining(path), redirect_uris: [callback] });
});
