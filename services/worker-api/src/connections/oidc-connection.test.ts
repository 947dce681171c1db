/** Against an OpenID provider that we did not write. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import request from 'supertest';
import { callerOf } from '../test/caller';
import { DASHBOARD_URL, startTestWorkerApi, type TestWorkerApi, withCookie } from '../test/test-worker-api';

const CALLBACK = `${DASHBOARD_URL}/auth/connections/callback`;
const SECRET = 'a-secret-of-this-test';

let server: Server;
let api: TestWorkerApi;

beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'gantry', client_secret: SECRET, redirect_uris: [CALLBACK] }],
    claims: { email: ['email', 'email_verified'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, email: `${sub}@example.com` }) }),
    loadExistingGrant: async (context) => {
      const accountId = context.oidc.session?.accountId ?? '';
      const grant = new context.oidc.provider.Grant({ accountId, clientId: 'gantry' });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on('request', (req, res) => {
    if (!req.url?.startsWith('/interaction/')) return answer(req, res);
    return provider.interactionFinished(req, res, { login: { accountId: 'ada' } });
  });
  const own = {
    ...{ protocol: 'oidc' as const, name: 'House ID', issuer, hosts: ['api.house.example'], scopes: ['email'] },
    ...{ authorize_url: `${issuer}/auth`, token_url: `${issuer}/token`, userinfo_url: `${issuer}/me` },
  };
  api = await startTestWorkerApi({
    outboundAllow: [`127.0.0.1:${port}`],
    oauthApps: { house: { client_id: 'gantry', client_secret: SECRET, provider: own } },
  });
});
afterAll(async () => {
  await api.stop();
  server.closeAllConnections();
  server.close();
});

const begin = async () =>
  (await callerOf(api.url, api.owner.jwt).post('/api/connections', { app: 'house' }).expect(201)).body;

/** Signs in and consents there. @returns where the browser is sent back to */
async function consent(location: string): Promise<URL> {
  const jar = new Map<string, string>();
  for (let next = new URL(location); ; ) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=');
      jar.set(name, value);
    }
    next = new URL(answer.headers.get('location') ?? `about:${answer.status}`, next);
    if (next.href.startsWith(CALLBACK) || next.protocol === 'about:') return next;
  }
}

const arrive = (back: URL) =>
  request(api.url)
    .get(back.pathname + back.search)
    .set('Cookie', withCookie(api.owner.cookie));

test('it is asked with a nonce, and says whose account it is', async () => {
  const begun = await begin();
  const { searchParams } = new URL(begun.authorization_url);
  expect(searchParams.get('nonce')).toMatch(/.{40,}/);
  expect(searchParams.get('scope')).toBe('openid email');
  const page = await arrive(await consent(begun.authorization_url)).expect(200);
  expect(page.text).toContain('House ID is connected as ada@example.com.');
});

test('an answer in the name of another issuer connects nothing', async () => {
  const begun = await begin();
  const back = await consent(begun.authorization_url);
  back.searchParams.set('iss', 'https://evil.example');
  await arrive(back).expect(400);
});

test('an ID token with the nonce of another departure connects nothing', async () => {
  const begun = await begin();
  const url = new URL(begun.authorization_url);
  url.searchParams.set('nonce', 'of-another-departure-that-somebody-watched');
  await arrive(await consent(url.href)).expect(400);
});
