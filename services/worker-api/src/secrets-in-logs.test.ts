/**
 * Tests that no log line contains a secret, at level debug and while everything fails. The service gets secrets by
 * every path that they take; then its tables are renamed, so that each of these paths logs an error.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import request from 'supertest';
import { createCaller } from './test/caller';
import { createWorker } from './test/create-worker';
import { parseModels } from './test/parse-models';
import { DASHBOARD_URL, PASSWORD, SETUP_TOKEN, startTestWorkerApi, type TestWorkerApi } from './test/test-worker-api';

const CLIENT_SECRET = 'client-secret-of-this-test-0123456789';
const AUTHORIZATION_CODE = 'authorization-code-0123456789abcdef';
const MODEL_KEY = 'key-of-the-model-provider-0123456789';
const MESSAGE = 'what-somebody-wrote-to-the-chat-0123456789';
const ACCESS_TOKEN = 'access-token-of-the-provider-0123456789';

let provider: Server;
let api: TestWorkerApi;
const secrets = new Map<string, string>();

beforeAll(async () => {
  provider = createServer(echoSecrets);
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  // The mail server does not exist: failed deliveries are logged.
  api = await startTestWorkerApi({
    smtpUrl: 'smtp://mailer:password-of-the-mail-server@127.0.0.1:1',
    models: parseModels([
      { name: 'echo', kind: 'openai-compatible', base_url: `${issuer}/v1`, api_key: MODEL_KEY, models: ['m'] },
    ]),
    oidc: { issuer, clientId: 'gantry', clientSecret: CLIENT_SECRET, scopes: 'openid', name: 'Test', signUp: 'anyone' },
  });
});
afterAll(async () => {
  await api.stop();
  provider.closeAllConnections();
  provider.close();
});

/** Echoes everything that it was sent, as careless providers do. */
function echoSecrets(...[req, res]: Parameters<NonNullable<Parameters<typeof createServer>[1]>>): void {
  const issuer = `http://${req.headers.host}`;
  const respond = (status: number, body: object) =>
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  if (req.url?.includes('.well-known')) {
    const endpoints = ['authorization', 'token', 'userinfo'].map((name) => [`${name}_endpoint`, `${issuer}/${name}`]);
    respond(200, { issuer, jwks_uri: `${issuer}/jwks`, ...Object.fromEntries(endpoints) });
    return;
  }
  let sent = '';
  req.on('data', (chunk) => {
    sent += chunk;
  });
  req.on('end', () => {
    const error_description = `can not use ${sent} of ${req.headers.authorization}`.replaceAll(/["\\]/g, '');
    if (sent.includes('not-an-id-token'))
      respond(200, { access_token: ACCESS_TOKEN, token_type: 'bearer', id_token: 1 });
    else respond(400, { error: 'invalid_grant', error_description });
  });
}

async function signInWithOidc(code: string): Promise<void> {
  const started = await request(api.url).get('/auth/oidc/start');
  if (started.status !== 302) return;
  const state = new URL(String(started.headers.location)).searchParams.get('state') ?? '';
  secrets.set(`state ${code}`, state);
  const cookies = ([] as string[]).concat((started.headers['set-cookie'] as unknown as string[]) ?? []);
  const cookie = cookies.map((set) => set.split(';')[0]).join('; ');
  for (const sent of [cookie, '']) {
    await request(api.url).get('/auth/oidc/callback').query({ code, state }).set('Cookie', sent);
  }
}

/** Sends each secret to every endpoint that takes it, and to wrong ones. */
async function useSecrets(): Promise<void> {
  const getSecret = (name: string) => secrets.get(name) ?? '';
  const anonymous = createCaller(api.url);
  const bodies: [string, object][] = [
    ['/auth/setup', { setup_token: SETUP_TOKEN, email: 'a@example.com', password: PASSWORD }],
    ['/auth/login', { email: api.owner.email, password: `${PASSWORD} and more` }],
    ['/auth/cli-exchange', { device_code: getSecret('device code'), user_code: 'BCDF-2345' }],
    ['/auth/invitations/lookup', { token: getSecret('invitation') }],
    ['/auth/invitations/register', { token: getSecret('invitation'), password: 'a' }],
    ['/auth/password/reset', { token: getSecret('reset link'), new_password: 'a' }],
    ['/auth/password/forgot', { email: api.owner.email }],
  ];
  for (const [path, body] of bodies) await anonymous.post(path, body);
  const paths = [
    `/api/cli-auth/poll/${getSecret('device code')}`,
    `/cli-auth/poll/${encodeURIComponent(getSecret('device code')).replace('_', '%5F')}`,
    `/api/cli-auth/polll/${getSecret('device code')}`,
    `/api/cli-auth/polll/${getSecret('device code').replace('_', '%5F')}`,
    `/api/reviews/${getSecret('review link')}`,
    `/api/shared/${getSecret('share link')}`,
    `/v1/reviews/${getSecret('review link')}?token=${getSecret('review link')}`,
    new URL(getSecret('download')).pathname + new URL(getSecret('download')).search,
    getSecret('download')
      .replace(/^.*?\/storage/, '/storage')
      .replace('?', '%3F'),
    getSecret('download').replace(/^.*?\/storage/, '/nothing'),
  ];
  for (const path of paths) await anonymous.get(path);
  for (const path of [`/api/webhooks/${getSecret('worker')}`, '/api/webhooks/unknown', '/webhooks/a/b']) {
    await request(api.url)
      .post(`${path}?token=${getSecret('webhook')}`)
      .send({});
    await request(api.url)
      .post(`${path}%3Ftoken=${getSecret('webhook')}`)
      .send({});
  }
  for (const name of ['personal token', 'workspace token', 'access JWT']) {
    await createCaller(api.url, getSecret(name)).get('/api/workers');
    await request(api.url).get('/api/runs?limit=x').set('x-svc-token', getSecret(name));
  }
  await request(api.url)
    .post('/auth/refresh')
    .set({ Cookie: `svc_cloud_session=${getSecret('session')}`, Origin: DASHBOARD_URL });
  await createCaller(api.url, getSecret('access JWT')).put('/api/secrets/IN_THE_LOG', { value: getSecret('secret') });
  await createCaller(api.url, api.owner.jwt).post('/api/chat', { message: MESSAGE, stream: false });
  await signInWithOidc(AUTHORIZATION_CODE);
  await signInWithOidc('not-an-id-token-0123456789');
}

test('no log line contains a secret, even when everything fails', async () => {
  const owner = createCaller(api.url, api.owner.jwt);
  const viewer = await api.addMember('viewer');
  const device = await createCaller(api.url).post('/api/cli-auth/devices').expect(200);
  const webhook = await createWorker(api, { trigger: { type: 'webhook', signed: true } });
  const heldWorker = await createWorker(api, { name: 'Held', inputs: [], approvals: { required: true } });
  const { body: run } = await owner.post(`/api/workers/${heldWorker.id}/runs`).expect(201);
  const { body: shared } = await owner.post(`/api/runs/${run.run_id}/share-links`).expect(201);
  const { body: approvals } = await owner.get(`/api/approvals?run_id=${run.run_id}`).expect(200);
  const invited = await owner.post(`/api/workspaces/${api.workspaceId}/members/invite`, { email: 'new@example.com' });
  const reset = await owner.post(`/api/workspaces/${api.workspaceId}/members/${viewer.userId}/password-reset`);
  await api.deps.objects.put(`${api.workspaceId}/a`, Buffer.from('a'));
  const download = await api.deps.objects.presignGet(`${api.workspaceId}/a`, {
    expiresSeconds: 60,
    audience: 'public',
  });
  secrets.set('worker', webhook.id);
  for (const [name, secret] of Object.entries({
    'device code': device.body.device_code,
    'user code': device.body.user_code,
    webhook: webhook.webhook_secret,
    'signing key': webhook.webhook_signing_key,
    'review link': approvals[0].review_url.split('/').at(-1),
    'share link': shared.token,
    invitation: String(invited.body.invite_url).split('#').at(-1),
    'reset link': String(reset.body.reset_url).split('#').at(-1),
    download,
    signature: new URL(download).searchParams.get('sig'),
    'personal token': (await api.createToken('personal', api.owner.jwt)).token,
    'workspace token': (await api.createToken('workspace', api.owner.jwt)).token,
    'access JWT': viewer.jwt,
    session: viewer.cookie,
    secret: 'value-of-a-secret-0123456789',
    'setup token': SETUP_TOKEN,
    password: PASSWORD,
    'client secret': CLIENT_SECRET,
    'authorization code': AUTHORIZATION_CODE,
    'provider token': ACCESS_TOKEN,
    'mail password': 'password-of-the-mail-server',
    'model key': MODEL_KEY,
    message: MESSAGE,
  })) {
    expect([name, typeof secret, String(secret).length > 8]).toEqual([name, 'string', true]);
    secrets.set(name, secret);
  }

  await useSecrets();
  const { rows } = await api.deps.pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  for (const { tablename } of rows)
    await api.deps.pool.query(`ALTER TABLE "${tablename}" RENAME TO "gone_${tablename}"`);
  await useSecrets();
  for (const { tablename } of rows)
    await api.deps.pool.query(`ALTER TABLE "gone_${tablename}" RENAME TO "${tablename}"`);

  const errors = api.logs.lines.filter(({ level }) => level === 50);
  expect(errors.length).toBeGreaterThan(10);
  expect(api.logs.text()).toContain('sign-in with the identity provider failed');
  expect(api.logs.text()).toContain('/api/cli-auth/poll/');
  secrets.delete('worker');
  const found = [...secrets].filter(([, secret]) => api.logs.text().includes(secret));
  expect(found.map(([name]) => name)).toEqual([]);
  // Not in parts either: the random part of a secret is at its end.
  const inParts = [...secrets].filter(
    ([, secret]) => secret.length > 40 && api.logs.text().includes(secret.slice(-24)),
  );
  expect(inParts.map(([name]) => name)).toEqual([]);
});
