/** Against an OpenID provider that we did not write. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import request from 'supertest';
import { createCaller } from '../test/caller';
import { followRedirects } from '../test/follow-redirects';
import { DASHBOARD_URL, startTestWorkerApi, type TestWorkerApi, withCookie } from '../test/test-worker-api';

const CALLBACK = `${DASHBOARD_URL}/auth/connections/callback`;
const SECRET = 'a-secret-of-this-test';

let server: Server;
let api: TestWorkerApi;
/** Replaces the ID token on its way. */
let forge: ((idToken: string) => string) | null;
let asked: string[];
beforeEach(() => {
  forge = null;
  asked = [];
});

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
    asked.push(req.url ?? '');
    if (req.url === '/closed/.well-known/openid-configuration') {
      return res.writeHead(503, { 'Content-Type': 'text/plain' }).end('closed today');
    }
    if (req.url === '/token') rewrite(res);
    if (!req.url?.startsWith('/interaction/')) return answer(req, res);
    return provider.interactionFinished(req, res, { login: { accountId: 'ada' } });
  });
  const own = {
    protocol: 'oidc' as const,
    name: 'House ID',
    issuer,
    hosts: ['api.house.example'],
    scopes: ['email'],
    authorize_url: `${issuer}/auth`,
    token_url: `${issuer}/token`,
    userinfo_url: `${issuer}/me`,
  };
  api = await startTestWorkerApi({
    outboundAllow: [`127.0.0.1:${port}`],
    oauthApps: {
      house: { client_id: 'gantry', client_secret: SECRET, provider: own },
      closed: { client_id: 'gantry', client_secret: SECRET, provider: { ...own, issuer: `${issuer}/closed` } },
    },
  });
});
afterAll(async () => {
  await api.stop();
  server.closeAllConnections();
  server.close();
});

const begin = async (app = 'house') =>
  (await createCaller(api.url, api.owner.jwt).post('/api/connections', { app }).expect(201)).body;

/** A forged token has the length of the true one. */
function rewrite(res: ServerResponse): void {
  const end = res.end.bind(res) as (body?: unknown) => ServerResponse;
  res.end = ((body?: unknown) =>
    end(
      forge ? String(body).replace(/("id_token":")([^"]+)/, (_, name, token) => name + forge?.(token)) : body,
    )) as typeof res.end;
}

/** Signs in and consents there. @returns where the browser is sent back to */
const consent = (location: string) => followRedirects(new URL(location), CALLBACK);

const arrive = (back: URL) =>
  request(api.url)
    .get(back.pathname + back.search)
    .set('Cookie', withCookie(api.owner.cookie));

test('it is requested with a nonce, and names its account', async () => {
  const begun = await begin();
  const { searchParams } = new URL(begun.authorization_url);
  expect(searchParams.get('nonce')).toMatch(/.{40,}/);
  expect(searchParams.get('scope')).toBe('openid email');
  const page = await arrive(await consent(begun.authorization_url)).expect(200);
  expect(page.text).toContain('House ID is connected as ada@example.com.');
});

test('a response in the name of another issuer connects nothing', async () => {
  const begun = await begin();
  const back = await consent(begun.authorization_url);
  back.searchParams.set('iss', 'https://evil.example');
  await arrive(back).expect(400);
});

test('an ID token with the nonce of another authorization connects nothing', async () => {
  const begun = await begin();
  const url = new URL(begun.authorization_url);
  url.searchParams.set('nonce', 'of-another-departure-that-somebody-watched');
  await arrive(await consent(url.href)).expect(400);
});

describe('an ID token is refused without the signature of its issuer', () => {
  const forgeries: [string, (idToken: string) => string][] = [
    [
      'by a foreign key',
      (idToken) => {
        const signed = idToken.slice(0, idToken.lastIndexOf('.'));
        const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
        return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
      },
    ],
    ['with an invalid signature', (idToken) => idToken.replace(/[^.]+$/, (signature) => 'A'.repeat(signature.length))],
  ];
  test.each(forgeries)('one that is signed %s connects nothing', async (_, forged) => {
    const begun = await begin();
    const back = await consent(begun.authorization_url);
    forge = forged;
    await arrive(back).expect(400);
    const { body } = await createCaller(api.url, api.owner.jwt).get(`/api/connections/${begun.id}`).expect(200);
    expect(body).toMatchObject({ status: 'pending', account_label: null });
  });

  test('an issuer whose keys are not found connects nothing, reports why, and is not asked for tokens', async () => {
    const begun = await begin('closed');
    const back = await consent(begun.authorization_url);
    back.searchParams.delete('iss');
    const page = await arrive(back).expect(400);
    expect(page.text).toMatch(/ID tokens could not be retrieved: 127\.0\.0\.1:\d+ responded with status 503/);
    expect(asked).not.toContain('/token');
  });

  test('its document is fetched once, and its keys each time', async () => {
    for (let i = 0; i < 2; i++) {
      const begun = await begin();
      await arrive(await consent(begun.authorization_url)).expect(200);
    }
    expect(asked.filter((url) => url.startsWith('/.well-known')).length).toBeLessThanOrEqual(1);
    expect(asked.filter((url) => url === '/jwks')).toHaveLength(2);
  });
});
