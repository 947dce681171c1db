/** Against a real provider in this process: Gantry refuses everything that it does not accept. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import request from 'supertest';
import { createCaller } from '../../test/caller';
import { followRedirects } from '../../test/follow-redirects';
import { DASHBOARD_URL, getCookie, PASSWORD, startTestWorkerApi, type TestWorkerApi } from '../../test/test-worker-api';
import { normaliseEmail } from '../users/email';

const CALLBACK = `${DASHBOARD_URL}/auth/oidc/callback`;
/** The provider's claims for each of its accounts. */
const people: Record<string, { email: string; email_verified: boolean; name?: string }> = {
  ada: { email: 'ada@example.com', email_verified: true, name: 'Ada' },
  eve: { email: 'owner@example.com', email_verified: false },
  own: { email: 'owner@example.com', email_verified: true },
  bob: { email: 'bob@example.com', email_verified: true },
};

let count = 0;
/** Creates an account of the provider that has verified this address. Returns its subject identifier. */
function createAccount(email: string): string {
  const subject = `subject${++count}`;
  people[subject] = { email, email_verified: true };
  return subject;
}

let api: TestWorkerApi;
let server: Server;
let owner: ReturnType<typeof createCaller>;
beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'gantry', client_secret: 'a-secret-of-this-test', redirect_uris: [CALLBACK] }],
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...people[sub] }) }),
    loadExistingGrant: async (context) => {
      const grant = new context.oidc.provider.Grant({
        accountId: context.oidc.session?.accountId ?? '',
        clientId: 'gantry',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on('request', (req, res) => {
    if (!req.url?.startsWith('/interaction/')) return answer(req, res);
    // The provider's own sign-in page, reduced to the account that signs in.
    const accountId = /as=(\w+)/.exec(req.headers.cookie ?? '')?.[1] ?? '';
    return provider.interactionFinished(req, res, { login: { accountId } });
  });
  api = await startTestWorkerApi({
    oidc: {
      issuer,
      clientId: 'gantry',
      clientSecret: 'a-secret-of-this-test',
      scopes: 'openid email profile',
      name: 'Test ID',
      signUp: 'invited',
    },
  });
  owner = createCaller(api.url, api.owner.jwt);
});
afterAll(async () => {
  await api.stop();
  server.closeAllConnections();
  server.close();
});

const getCookies = (answer: { headers: Record<string, unknown> }): string[] =>
  ([] as string[]).concat((answer.headers['set-cookie'] as string[]) ?? []).map((set) => set.split(';')[0] ?? '');

/** Starts the redirect to the provider. */
async function startOidc(returnTo = '/automations') {
  const left = await request(api.url).get(`/auth/oidc/start?return_to=${returnTo}`).expect(302);
  return { location: new URL(String(left.headers.location)), cookie: getCookies(left).join('; ') };
}

/** Signs in there. Returns the redirect back. */
const signInThere = (location: URL, account: string) => followRedirects(location, CALLBACK, [['as', account]]);

const sendCallback = (back: URL, cookie: string) =>
  request(api.url)
    .get(back.pathname + back.search)
    .set('Cookie', cookie);

async function signIn(account: string) {
  const { location, cookie } = await startOidc();
  return sendCallback(await signInThere(location, account), cookie).expect(302);
}

/** Starts verifying an address with one session, and returns with another, or none. */
async function prove(account: string, cookie: string, returning: string | null = cookie) {
  const session = (value: string) => `svc_cloud_session=${value}`;
  const left = await request(api.url)
    .get('/auth/oidc/start?prove=true&return_to=/settings/account')
    .set('Cookie', session(cookie))
    .expect(302);
  const back = await signInThere(new URL(String(left.headers.location)), account);
  return sendCallback(back, [...getCookies(left), ...(returning ? [session(returning)] : [])].join('; ')).expect(302);
}

/** The error code in the address of the sign-in page or another one; the whole address if nothing failed. */
function getFailure(answer: { headers: Record<string, unknown> }): string | null {
  const url = new URL(String(answer.headers.location));
  const error = url.searchParams.get('error');
  if (url.href.startsWith(`${DASHBOARD_URL}/settings/`)) return error ? `${url.pathname} ${error}` : url.href;
  return url.origin + url.pathname === `${DASHBOARD_URL}/sign-in` ? url.searchParams.get('error') : url.href;
}

test('the sign-in page learns that there is a provider', async () => {
  const { body } = await createCaller(api.url).get('/api/system/platform-config').expect(200);
  expect(body).toMatchObject({
    sign_in_methods: ['password', 'oidc'],
    oidc_name: 'Test ID',
    oidc_start_url: '/auth/oidc/start',
  });
});

test('the authorization request has PKCE, state and nonce', async () => {
  const { location } = await startOidc();
  expect(location.searchParams.get('code_challenge_method')).toBe('S256');
  for (const name of ['code_challenge', 'state', 'nonce']) expect(location.searchParams.get(name)).toMatch(/.{40,}/);
});

describe('an account with an unverified address', () => {
  test('is not linked: its creator would still know its password', async () => {
    const answer = await signIn('own');
    expect(getFailure(answer)).toBe('oidc_address_unproven');
    expect(getCookie(answer)).toBe('');
    expect((await owner.get('/auth/me')).body).toMatchObject({ id: api.owner.userId, email_verified: false });
  });

  test('only a signed-in user starts its verification', async () => {
    await request(api.url).get('/auth/oidc/start?prove=true').expect(401);
    await request(api.url)
      .get('/auth/oidc/start?prove=true')
      .set('Authorization', `Bearer ${api.owner.jwt}`)
      .expect(401);
  });

  test.each([
    ['an address that the provider has not verified', 'eve', 'oidc_email_not_verified'],
    ['another address', 'bob', 'oidc_other_address'],
  ])('is not verified by %s', async (_what, account, code) => {
    expect(getFailure(await prove(account, api.owner.cookie))).toBe(`/settings/account ${code}`);
    expect((await owner.get('/auth/me')).body.email_verified).toBe(false);
  });

  test('is not verified if another account or none is signed in at the return', async () => {
    const { cookie } = await api.addMember('member');
    for (const returning of [cookie, null]) {
      expect(getFailure(await prove('own', api.owner.cookie, returning))).toMatch(/^\/settings\/account oidc_/);
    }
    expect((await owner.get('/auth/me')).body.email_verified).toBe(false);
  });

  test('is verified by the provider that its signed-in user returns from; every other session ends', async () => {
    const { userId, email, jwt, cookie } = await api.addMember('member', { emailVerified: false });
    const elsewhere = await createCaller(api.url).post('/auth/login', { email, password: PASSWORD }).expect(200);
    const answer = await prove(createAccount(email), cookie);
    expect(answer.headers.location).toBe(`${DASHBOARD_URL}/settings/account`);
    const { body } = await createCaller(api.url, jwt).get('/auth/me').expect(200);
    expect(body).toMatchObject({ id: userId, email_verified: true });
    await createCaller(api.url, elsewhere.body.access_token).get('/auth/me').expect(401);
  });
});

test('an identity that is linked to one account verifies nothing for another', async () => {
  const [one, other] = [await api.addMember('member'), await api.addMember('member', { emailVerified: false })];
  const account = createAccount(one.email);
  await signIn(account);
  people[account] = { email: other.email, email_verified: true };
  expect(getFailure(await prove(account, other.cookie))).toBe('/settings/account oidc_linked_elsewhere');
});

test('a user who has verified the address here is signed in to the account, at the requested page', async () => {
  const { userId, email, cookie } = await api.addMember('member', { emailVerified: false });
  const account = createAccount(email);
  await prove(account, cookie);
  const answer = await signIn(account);
  expect(answer.headers.location).toBe(`${DASHBOARD_URL}/automations`);
  const me = await request(api.url)
    .get('/auth/me')
    .set('Cookie', `svc_cloud_session=${getCookie(answer)}`)
    .expect(200);
  expect(me.body).toMatchObject({ id: userId, credential: 'session' });
});

test('an invited person signs in without a password, and again later', async () => {
  await owner.post(`/api/workspaces/${api.workspaceId}/members/invite`, { email: 'ada@example.com' }).expect(201);
  const session = { Cookie: `svc_cloud_session=${getCookie(await signIn('ada'))}` };
  const me = await request(api.url).get('/auth/me').set(session).expect(200);
  expect(me.body).toMatchObject({ email: 'ada@example.com', email_verified: true, name: 'Ada', role: 'member' });
  await createCaller(api.url)
    .post('/auth/login', { email: 'ada@example.com', password: 'anything at all' })
    .expect(401);
  // From now on the provider's subject identifier counts, not the address.
  people.ada = { email: 'renamed@example.com', email_verified: false };
  const again = await request(api.url)
    .get('/auth/me')
    .set({ Cookie: `svc_cloud_session=${getCookie(await signIn('ada'))}` })
    .expect(200);
  expect(again.body.id).toBe(me.body.id);
});

test.each([
  ['an address that the provider has not verified', 'eve', 'oidc_email_not_verified'],
  ['a person without an invitation', 'bob', 'oidc_not_invited'],
])('%s is refused', async (_who, account, code) => {
  const answer = await signIn(account);
  expect(getFailure(answer)).toBe(code);
  expect(getCookie(answer)).toBe('');
});

test('an address that the provider reassigned to another person gives no access to the account that had it', async () => {
  const { email } = await api.addMember('member');
  await signIn(createAccount(email));
  const answer = await signIn(createAccount(email));
  expect([getFailure(answer), getCookie(answer)]).toEqual(['oidc_address_of_another', '']);
});

test.each(['\uff4fscar@example.com', 'os\u212aar@example.com'])(
  'an address that only we would spell like another, %s, gives no access to the other account',
  async (email) => {
    const id = `usr_${email.codePointAt(0)}`;
    await api.database.prisma.user.create({
      data: { id, email: normaliseEmail(email) ?? '', emailVerifiedAt: new Date() },
    });
    people.alike = { email, email_verified: true };
    expect(getFailure(await signIn('alike'))).toBe('oidc_email_not_verified');
  },
);

test('another browser, another state, and a repeated return are refused', async () => {
  const { location, cookie } = await startOidc();
  const { email } = await api.addMember('member');
  const back = await signInThere(location, createAccount(email));
  const other = await startOidc();
  expect(getFailure(await sendCallback(back, other.cookie).expect(302))).toBe('oidc_failed');
  expect(getFailure(await sendCallback(back, '').expect(302))).toBe('oidc_failed');
  const swapped = new URL(back);
  swapped.searchParams.set('state', other.location.searchParams.get('state') ?? '');
  expect(getFailure(await sendCallback(swapped, cookie).expect(302))).toBe('oidc_failed');
  // Its own code, in a redirect with another verifier and nonce.
  expect(getFailure(await sendCallback(swapped, other.cookie).expect(302))).toBe('oidc_failed');
  expect((await sendCallback(back, cookie).expect(302)).headers.location).toBe(`${DASHBOARD_URL}/automations`);
  expect(getFailure(await sendCallback(back, cookie).expect(302))).toBe('oidc_expired');
});

test('it redirects only to our own addresses', async () => {
  for (const target of ['//evil.test', '/\\evil.test', 'https://evil.test']) {
    await request(api.url)
      .get(`/auth/oidc/start?return_to=${encodeURIComponent(target)}`)
      .expect(400);
  }
  const left = await request(api.url).get('/auth/oidc/start').set('Host', 'evil.test').expect(302);
  expect(new URL(String(left.headers.location)).searchParams.get('redirect_uri')).toBe(CALLBACK);
});
