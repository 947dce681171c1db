/**
 * The way of a client that we did not write: openid-client finds the server, and a person consents as the dashboard
 * does.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setupResource } from '@gantry/testing';
import * as client from 'openid-client';
import request from 'supertest';
import { createCaller } from '../../test/caller';
import { connectMcp } from '../../test/connect-mcp';
import { createWorker } from '../../test/create-worker';
import { BASE_URL, type Person, testWorkerApi } from '../../test/test-worker-api';

const REDIRECT = 'http://127.0.0.1/callback';
const RESOURCE = `${BASE_URL}/mcp`;
const api = testWorkerApi();
const program = setupResource(() => createCaller(api.url));
let person: Person;
beforeEach(async () => {
  person = await api.addMember('member');
});

/** The public address of the test is no name: its requests go to where it listens. */
const toTest: client.CustomFetch = (url, options) => fetch(url.replace(BASE_URL, api.url), options as RequestInit);

async function discover(): Promise<client.Configuration> {
  return client.dynamicClientRegistration(
    new URL(BASE_URL),
    { client_name: 'Desktop agent', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' },
    client.None(),
    { algorithm: 'oauth2', execute: [client.allowInsecureRequests], [client.customFetch]: toTest },
  );
}

interface Allowed {
  toolsets?: string[];
  readonly?: boolean;
  decision?: 'allow' | 'deny';
}

/** As the page does it. @returns where the browser goes */
const decide = (params: Record<string, string>, allowed: Allowed = {}, by = person) =>
  createCaller(api.url, by.jwt).post('/auth/oauth/authorization', {
    request: params,
    decision: 'allow',
    toolsets: ['workers', 'runs'],
    ...allowed,
  });

async function buildAuthorizationUrl(config: client.Configuration, more: Record<string, string> = {}) {
  const verifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    state: 'a-state',
    resource: RESOURCE,
    scope: 'mcp',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...more,
  });
  return { verifier, url, params: Object.fromEntries(url.searchParams) };
}

async function connectClient(allowed: Allowed = {}, by = person) {
  const config = await discover();
  const { verifier, params } = await buildAuthorizationUrl(config);
  const { body } = await decide(params, allowed, by).expect(200);
  const back = new URL(body.redirect_to);
  const checks = { expectedState: 'a-state', pkceCodeVerifier: verifier };
  const tokens = await client.authorizationCodeGrant(config, back, checks, { resource: RESOURCE });
  return { config, back, verifier, tokens, clientId: config.clientMetadata().client_id };
}

const exchange = (fields: Record<string, string>) =>
  request(api.url).post('/auth/oauth/token').type('form').send(fields);

const callApi = (accessToken: string) =>
  request(api.url)
    .post('/mcp')
    .set({ Authorization: `Bearer ${accessToken}`, Accept: 'application/json, text/event-stream' })
    .send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

test('a caller without a credential is told where to get one, and both documents link to the next', async () => {
  const { headers } = await request(api.url).post('/mcp').send({}).expect(401);
  const [, metadata = ''] = /resource_metadata="([^"]+)"/.exec(headers['www-authenticate'] ?? '') ?? [];
  expect(metadata).toBe(`${BASE_URL}/.well-known/oauth-protected-resource/mcp`);
  const { body: resource } = await program.get(new URL(metadata).pathname).expect(200);
  expect(resource).toMatchObject({ resource: RESOURCE, authorization_servers: [BASE_URL] });
  const { body: server } = await program.get('/.well-known/oauth-authorization-server').expect(200);
  expect(server).toMatchObject({ issuer: BASE_URL, code_challenge_methods_supported: ['S256'] });
  const known = await request(api.url).get('/api/workers').expect(401);
  expect(known.headers['www-authenticate']).toBe('Bearer');
});

test('a person authorizes a client, which then acts as them in that workspace, within the granted permissions', async () => {
  const { tokens } = await connectClient({ toolsets: ['workers'], readonly: true });
  expect(tokens).toMatchObject({ expires_in: 3_600, scope: 'mcp:read' });
  const agent = await connectMcp(api, tokens.access_token);
  const { tools } = await agent.listTools();
  const reading = [
    'list_workers',
    'get_worker',
    'get_worker_files',
    'get_conversation',
    'list_examples',
    'get_evaluation',
    'get_candidate',
  ];
  expect(tools.map(({ name }) => name)).toEqual(reading);
  expect((await agent.callTool({ name: 'list_workers', arguments: {} })).isError).toBeFalsy();
  const refused = await agent.callTool({ name: 'create_worker', arguments: { name: 'No' } });
  expect(refused.isError).toBe(true);
  await agent.close();

  const browser = createCaller(api.url, person.jwt);
  const { body: grants } = await browser.get('/auth/oauth/grants').expect(200);
  expect(grants).toMatchObject([
    { client: { name: 'Desktop agent', host: null }, workspace: { id: api.workspaceId }, readonly: true },
  ]);
  await browser.remove(`/auth/oauth/grants/${grants[0].id}`).expect(204);
  await callApi(tokens.access_token).expect(401);
  await browser.remove(`/auth/oauth/grants/${grants[0].id}`).expect(404);
});

test('a client is offered published workers if the person grants that set', async () => {
  const { id } = await createWorker(api, { name: 'For clients' });
  await createCaller(api.url, api.owner.jwt).post('/api/mcp-tools', { worker_id: id, name: 'for_clients' }).expect(201);
  const listOfferedTools = async (toolsets: string[]) => {
    const agent = await connectMcp(api, (await connectClient({ toolsets })).tokens.access_token);
    return (await agent.listTools()).tools.map(({ name }) => name);
  };
  expect(await listOfferedTools(['published'])).toEqual(['for_clients']);
  expect(await listOfferedTools(['skills'])).not.toContain('for_clients');
});

test('its token is for /mcp alone: the HTTP API, and operations that create credentials, refuse it', async () => {
  const { tokens } = await connectClient();
  await callApi(tokens.access_token).expect(200);
  for (const path of ['/api/workers', '/auth/me', '/auth/tokens', '/auth/oauth/grants']) {
    await createCaller(api.url, tokens.access_token).get(path).expect(401);
  }
  await callApi(tokens.refresh_token ?? '').expect(401);
});

test('a code is valid once, for its own client, address and verifier; reuse revokes the grant', async () => {
  const config = await discover();
  const other = await discover();
  const { verifier, params } = await buildAuthorizationUrl(config);
  const { body } = await decide(params).expect(200);
  const code = new URL(body.redirect_to).searchParams.get('code') ?? '';
  const right = {
    grant_type: 'authorization_code',
    client_id: config.clientMetadata().client_id,
    code,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
    resource: RESOURCE,
  };
  const wrongs = [
    { ...right, code_verifier: randomBytes(32).toString('base64url') },
    { ...right, redirect_uri: 'http://127.0.0.1/other' },
    { ...right, client_id: other.clientMetadata().client_id },
  ];
  for (const wrong of wrongs) expect((await exchange(wrong).expect(400)).body.error).toBe('invalid_grant');
  const elsewhere = await exchange({ ...right, resource: 'https://elsewhere.example/mcp' }).expect(400);
  expect(elsewhere.body.error).toBe('invalid_target');
  const { code_verifier: _, ...withoutProof } = right;
  expect((await exchange(withoutProof).expect(400)).body.error).toBe('invalid_request');
  const first = await exchange(right).expect(200);
  await callApi(first.body.access_token).expect(200);
  expect((await exchange(right).expect(400)).body.error).toBe('invalid_grant');
  await callApi(first.body.access_token).expect(401);
});

test('if one code is sent twice at the same moment, neither sender keeps tokens', async () => {
  const config = await discover();
  const { verifier, params } = await buildAuthorizationUrl(config);
  const { body } = await decide(params).expect(200);
  const fields = {
    grant_type: 'authorization_code',
    client_id: config.clientMetadata().client_id,
    redirect_uri: REDIRECT,
    code: new URL(body.redirect_to).searchParams.get('code') ?? '',
    code_verifier: verifier,
  };
  const both = await Promise.all([exchange(fields), exchange(fields)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect((await createCaller(api.url, person.jwt).get('/auth/oauth/grants')).body).toEqual([]);
});

test('a refresh token rotates, and reuse revokes the grant, with an entry in the audit log', async () => {
  const { config, tokens } = await connectClient();
  const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', { resource: RESOURCE });
  expect(next.refresh_token).not.toBe(tokens.refresh_token);
  await callApi(next.access_token).expect(200);
  await expect(client.refreshTokenGrant(config, tokens.refresh_token ?? '')).rejects.toMatchObject({
    error: 'invalid_grant',
  });
  await expect(client.refreshTokenGrant(config, next.refresh_token ?? '')).rejects.toMatchObject({
    error: 'invalid_grant',
  });
  const { body } = await createCaller(api.url, api.owner.jwt).get('/api/audit-log?action=oauth_grant.revoked');
  expect(body[0]?.details).toMatchObject({ client: 'Desktop agent', reason: 'reuse' });
});

test('a client that revokes its refresh token has nothing left', async () => {
  const { config, tokens } = await connectClient();
  await client.tokenRevocation(config, tokens.access_token);
  await callApi(tokens.access_token).expect(401);
  const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
  await client.tokenRevocation(config, next.refresh_token ?? '');
  await callApi(next.access_token).expect(401);
  await client.tokenRevocation(config, 'ort_nonsense');
});

test('a member who leaves the workspace loses their clients, and rejoining does not restore them', async () => {
  const { config, tokens } = await connectClient();
  const owner = createCaller(api.url, api.owner.jwt);
  await owner.remove(`/api/workspaces/${api.workspaceId}/members/${person.userId}`).expect(204);
  await callApi(tokens.access_token).expect(401);
  await expect(client.refreshTokenGrant(config, tokens.refresh_token ?? '')).rejects.toMatchObject({
    error: 'invalid_grant',
  });
});

test('an unknown client and a foreign address are shown and never redirected to; other errors go back to the client', async () => {
  const config = await discover();
  const { params } = await buildAuthorizationUrl(config);
  const getAuthorization = (change: Record<string, string>) =>
    createCaller(api.url, person.jwt).post('/auth/oauth/authorization/lookup', { ...params, ...change });
  expect((await getAuthorization({ client_id: 'ocl_nobody' }).expect(400)).body.code).toBe('unknown_client');
  for (const redirect_uri of ['https://evil.example/', 'http://127.0.0.1.evil.example/callback', `${REDIRECT}/x`]) {
    expect((await getAuthorization({ redirect_uri }).expect(400)).body.code).toBe('redirect_mismatch');
    expect((await decide({ ...params, redirect_uri }).expect(400)).body.code).toBe('redirect_mismatch');
  }
  const free = await getAuthorization({ redirect_uri: 'http://127.0.0.1:4711/callback' }).expect(200);
  expect(free.body).toMatchObject({ opens: 'this_device', refused: null, client: { name: 'Desktop agent' } });
  const plain = await getAuthorization({ code_challenge_method: 'plain' }).expect(200);
  expect(new URL(plain.body.refused).searchParams.get('error')).toBe('invalid_request');
  const elsewhere = await getAuthorization({ resource: 'https://elsewhere.example/mcp' }).expect(200);
  expect(elsewhere.body.refused).toContain('error=invalid_target');
  const denied = await decide(params, { decision: 'deny' }).expect(200);
  expect(Object.fromEntries(new URL(denied.body.redirect_to).searchParams)).toMatchObject({
    error: 'access_denied',
    state: 'a-state',
    iss: BASE_URL,
  });
});

test('a token cannot authorize a client', async () => {
  const { params } = await buildAuthorizationUrl(await discover());
  const { token } = await api.createToken('personal', person.jwt);
  expect((await decide(params, {}, { ...person, jwt: token }).expect(403)).body.code).toBe('needs_sign_in');
});

test.each([
  [['javascript:alert(1)//x']],
  [['ms-msdt:/id PCWDiagnostic']],
  [['search-ms:query=x&crumb=location:evil.example']],
  [['shell:startup']],
  [['feed:javascript:alert(1)']],
  [['ms-officecmd.:x']],
  [['http://example.com/callback']],
  [['https://user@example.com/callback']],
  [['https://example.com/callback#x']],
  [['/callback']],
])('registration is refused for %j', async (redirect_uris) => {
  const refused = await program.post('/auth/oauth/register', { redirect_uris }).expect(400);
  expect(refused.body.error).toBe('invalid_redirect_uri');
});

test.each(['com.example.agent:/callback', 'cursor://anysphere.cursor-mcp/callback'])('%s opens an app', async (uri) => {
  const { body } = await program.post('/auth/oauth/register', { redirect_uris: [uri] }).expect(201);
  const { params } = await buildAuthorizationUrl(await discover(), { client_id: body.client_id, redirect_uri: uri });
  const getAuthorization = (request: object) =>
    createCaller(api.url, person.jwt).post('/auth/oauth/authorization/lookup', request);
  expect((await getAuthorization(params).expect(200)).body).toMatchObject({ opens: 'app', refused: null });
  // As one that was registered when any scheme was taken.
  await api.database.pool.query('UPDATE oauth_clients SET redirect_uris = $2 WHERE id = $1', [
    ...[body.client_id, ['shell:startup']],
  ]);
  const refused = await getAuthorization({
    ...params,
    redirect_uri: 'shell:startup',
    code_challenge_method: 'plain',
  }).expect(400);
  expect(refused.body.code).toBe('redirect_mismatch');
});

test('errors have the form of OAuth, whatever is wrong', async () => {
  expect((await exchange({ grant_type: 'password', client_id: 'x' }).expect(400)).body.error).toBe(
    'unsupported_grant_type',
  );
  expect((await exchange({}).expect(400)).body.error).toBe('invalid_request');
  const twice = await request(api.url)
    .post('/auth/oauth/token')
    .type('form')
    .send('client_id=a&client_id=b')
    .expect(400);
  expect(twice.body.error).toBe('invalid_request');
  expect((await program.post('/auth/oauth/token', {}).expect(415)).body.error).toBe('invalid_request');
});

test('a client in a page of any origin discovers, registers and gets tokens, without cookies; other routes are closed to it', async () => {
  const Origin = 'https://inspector.example';
  const preflight = (path: string, method: string) =>
    request(api.url).options(path).set({ Origin, 'Access-Control-Request-Method': method });
  for (const path of ['/auth/oauth/register', '/auth/oauth/token', '/auth/oauth/revoke']) {
    const { headers } = await preflight(path, 'POST').set('Access-Control-Request-Headers', 'content-type').expect(204);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-headers']).toBe('content-type');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  }
  for (const name of ['oauth-authorization-server', 'oauth-protected-resource']) {
    for (const path of [`/.well-known/${name}`, `/.well-known/${name}/mcp`]) {
      const { headers } = await request(api.url).get(path).set({ Origin }).expect(200);
      expect(headers['access-control-allow-origin']).toBe('*');
    }
  }
  const refused = await exchange({ grant_type: 'password', client_id: 'x' }).set({ Origin }).expect(400);
  expect(refused.headers['access-control-allow-origin']).toBe('*');
  for (const path of ['/auth/oauth/authorization', '/auth/oauth/grants', '/auth/login', '/api/workers', '/mcp']) {
    const { headers } = await preflight(path, 'POST');
    expect(headers['access-control-allow-origin']).not.toBe('*');
    expect(headers['access-control-allow-origin']).not.toBe(Origin);
  }
});

test('no code and no token is in the database in plain text', async () => {
  const { tokens, back } = await connectClient();
  const { rows } = await api.database.pool.query(
    "SELECT encode(hash, 'hex') AS hash FROM oauth_tokens UNION ALL SELECT encode(hash, 'hex') FROM oauth_codes",
  );
  const kept = rows.map(({ hash }) => hash);
  for (const secret of [tokens.access_token, tokens.refresh_token ?? '', back.searchParams.get('code') ?? '']) {
    expect(kept).not.toContain(Buffer.from(secret).toString('hex'));
    expect(kept).not.toContain(createHash('sha256').update(secret).digest('hex'));
  }
});
