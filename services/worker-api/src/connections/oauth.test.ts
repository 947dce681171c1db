/** Against a provider with bad habits: see test/fake-provider.ts. */
import { setupResource, waitUntil } from '@gantry/testing';
import request from 'supertest';
import { computeRestoreCutoff } from '../accounts/workspaces/delete-workspace';
import { createCaller } from '../test/caller';
import { appAt, buildProviderOptions, type FakeProvider, startFakeProvider } from '../test/fake-provider';
import { DASHBOARD_URL, testWorkerApi, withCookie } from '../test/test-worker-api';
import { revokeBeforePurge } from './revocations';

let clock = Date.now();
const provider = setupResource(startFakeProvider, ({ stop }) => stop());
const api = testWorkerApi(() => buildProviderOptions(provider, () => clock));
const kind = { expiresIn: 3_600, rotates: true, withoutRefreshToken: false, account: 'ada@example.com' };

beforeEach(() => {
  clock = Date.now();
  Object.assign(provider.habits, {
    ...kind,
    answers: undefined,
    repeats: undefined,
    waits: undefined,
    scope: undefined,
  });
});

afterEach(async () => {
  // So that the next test refreshes and revokes its own connections alone, in a workspace that is not deleted.
  await api.deps.prisma.connection.deleteMany();
  await api.deps.prisma.connectionRevocation.deleteMany();
  await api.deps.prisma.workspace.updateMany({ data: { deletedAt: null } });
});

const owner = () => createCaller(api.url, api.owner.jwt);
const begin = async (body: object = {}) =>
  (
    await owner()
      .post('/api/connections', { app: 'acme', ...body })
      .expect(201)
  ).body;
const arrive = (back: URL, cookie: string | null = api.owner.cookie) => {
  const asked = request(api.url).get(back.pathname + back.search);
  return cookie === null ? asked : asked.set('Cookie', withCookie(cookie));
};
async function connect(body: object = {}) {
  const begun = await begin(body);
  await arrive(provider.consent(begun.authorization_url)).expect(200);
  return read(begun.id);
}
const read = async (id: string) => (await owner().get(`/api/connections/${id}`).expect(200)).body;
const later = (minutes: number) => {
  clock += minutes * 60_000;
};

describe('consent', () => {
  test('redirects with PKCE and returns as an active connection, whose secrets are stored encrypted', async () => {
    const begun = await begin({ label: 'Team account' });
    expect(begun).toMatchObject({ status: 'pending', app: 'acme', account_label: null });
    const { searchParams } = new URL(begun.authorization_url);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(searchParams.get('redirect_uri')).toBe(`${DASHBOARD_URL}/auth/connections/callback`);
    expect(searchParams.get('scope')).toBe('contacts.read');
    const page = await arrive(provider.consent(begun.authorization_url)).expect(200);
    expect(page.text).toContain('Team account is connected as ada@example.com.');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(await read(begun.id)).toMatchObject({
      status: 'active',
      account_label: 'ada@example.com',
      scopes: ['contacts.read'],
      problem: null,
    });
    const { rows } = await api.database.pool.query('SELECT row_to_json(c)::text AS text FROM connections c');
    for (const token of provider.good) expect(rows.map(({ text }) => text).join()).not.toContain(token);
  });

  test('is completed once, by the user who began it, within ten minutes', async () => {
    const begun = await begin();
    const back = provider.consent(begun.authorization_url);
    const stranger = await api.addMember('admin');
    expect((await arrive(back, null).expect(400)).text).toContain('Sign in to the dashboard');
    await arrive(back, stranger.cookie).expect(400);
    await arrive(back, api.foreign.owner.cookie).expect(400);
    expect((await read(begun.id)).status).toBe('pending');
    await arrive(back).expect(200);
    expect((await arrive(back).expect(400)).text).toContain('already been used');

    const late = await begin();
    const lateBack = provider.consent(late.authorization_url);
    later(11);
    await arrive(lateBack).expect(400);
    expect((await read(late.id)).status).toBe('pending');
  });

  test('with another state, or the code of another authorization, connects nothing', async () => {
    const [one, two] = [await begin(), await begin()];
    const back = provider.consent(one.authorization_url);
    const wrong = new URL(back);
    wrong.searchParams.set('state', 'a-guess');
    await arrive(wrong).expect(400);
    const swapped = new URL(back);
    swapped.searchParams.set('state', new URL(two.authorization_url).searchParams.get('state') ?? '');
    expect((await arrive(swapped).expect(400)).text).toContain('invalid_grant');
    expect((await read(two.id)).status).toBe('pending');
  });

  test('that the provider refuses is reported in its words, escaped', async () => {
    const begun = await begin();
    const back = provider.consent(begun.authorization_url);
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', '<script>alert(1)</script> said no');
    const page = await arrive(back).expect(400);
    expect(page.text).toContain('access_denied: &lt;script&gt;alert(1)&lt;/script&gt; said no');
    expect(page.text).not.toContain('<script>alert');
    expect(await read(begun.id)).toMatchObject({
      status: 'pending',
      problem: expect.stringContaining('access_denied'),
    });
  });

  test.each([
    ['500', { status: 500, body: '<h1>oops</h1>' }, 'status 500'],
    ['HTML', { status: 200, body: '<script>alert(1)</script>' }, 'usable response'],
    ['a redirect', { status: 302, body: '' }, 'usable response'],
    [
      'an error with status 200',
      { status: 200, body: '{"ok":false,"error":"invalid_code"}', type: 'application/json' },
      'invalid_code',
    ],
    ['no token', { status: 200, body: '{"token_type":"bearer"}', type: 'application/json' }, 'usable response'],
    ['more than we read', { status: 200, body: 'x'.repeat(300_000) }, '256 KB'],
  ])('whose token endpoint responds with %s connects nothing and reports it', async (_what, answers, said) => {
    const begun = await begin();
    provider.habits.answers = answers;
    const page = await arrive(provider.consent(begun.authorization_url)).expect(400);
    expect(page.text).toContain(said);
    expect(page.text).not.toContain('<script>alert');
    expect((await read(begun.id)).status).toBe('pending');
  });

  test('is for users: a workspace token cannot start it', async () => {
    const { token } = await api.createToken('workspace', api.owner.jwt);
    const { body } = await createCaller(api.url, token).post('/api/connections', { app: 'acme' }).expect(403);
    expect(body.code).toBe('person_needed');
  });

  test('is widened again by the same account; another account is another connection', async () => {
    const made = await connect();
    const widen = async () =>
      (
        await owner()
          .post(`/api/connections/${made.id}/authorize`, { scopes: ['contacts.read', 'contacts.write'] })
          .expect(200)
      ).body.authorization_url;
    const url = await widen();
    expect(new URL(url).searchParams.get('scope')).toBe('contacts.read contacts.write');
    await arrive(provider.consent(url)).expect(200);
    expect((await read(made.id)).scopes).toEqual(['contacts.read', 'contacts.write']);
    provider.habits.account = 'eve@example.com';
    const page = await arrive(provider.consent(await widen())).expect(400);
    expect(page.text).toContain('eve@example.com');
    expect(await read(made.id)).toMatchObject({ status: 'active', account_label: 'ada@example.com' });
  });

  test('to a deleted connection stores nothing', async () => {
    const begun = await begin();
    await owner().remove(`/api/connections/${begun.id}`).expect(204);
    await arrive(provider.consent(begun.authorization_url)).expect(400);
  });
});

describe('refresh', () => {
  const tick = () => api.connectionLoop.tick();
  const refreshes = () => provider.asked.filter((form) => form.get('grant_type') === 'refresh_token').length;
  beforeAll(() =>
    owner()
      .post('/api/alerts', { on: ['connection.failed'], url: 'https://hooks.example.com/a' })
      .expect(201),
  );
  const waitForAlert = (id: string) =>
    waitUntil(() =>
      api.deps.prisma.alertDelivery.findFirst({
        where: { type: 'connection.failed', payload: { path: ['data', 'connection', 'id'], equals: id } },
      }),
    );

  test('happens before the expiry, and works with repeated rotation', async () => {
    const { id } = await connect();
    for (let turn = 0; turn < 3; turn++) {
      later(51);
      await tick();
      const connection = await read(id);
      expect(connection.status).toBe('active');
      expect(new Date(connection.expires_at).getTime()).toBeGreaterThan(clock + 59 * 60_000);
    }
    const { body } = await owner().post(`/api/connections/${id}/test`).expect(200);
    expect(body).toMatchObject({ ok: true, account_label: 'ada@example.com' });
  });

  test('is requested once, though two replicas check', async () => {
    const { id } = await connect();
    const other = await api.replica();
    later(51);
    const before = refreshes();
    await Promise.all([tick(), other.connectionLoop.tick(), tick()]);
    await Promise.all([tick(), other.connectionLoop.tick()]);
    expect((await read(id)).status).toBe('active');
    const presented = provider.asked.slice(-(refreshes() - before)).map((form) => form.get('refresh_token'));
    expect(new Set(presented).size).toBe(presented.length);
  });

  test('is stored when PostgreSQL is back, since the old token may be used up', async () => {
    const { id } = await connect();
    const { pool } = api.database;
    // Not rolled back with what is refused.
    await pool.query('CREATE SEQUENCE refusals');
    await pool.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM nextval('refusals'); RAISE EXCEPTION 'no connection is left' USING ERRCODE = '53300'; END $$`);
    later(51);
    const before = refreshes();
    await pool.query(`CREATE TRIGGER refuses BEFORE UPDATE OF sealed ON connections EXECUTE FUNCTION refuse()`);
    const refreshing = tick();
    await waitUntil(async () => (await pool.query('SELECT is_called FROM refusals')).rows[0].is_called);
    await pool.query('DROP FUNCTION refuse() CASCADE');
    await refreshing;
    later(51);
    await tick();
    expect(await read(id)).toMatchObject({ status: 'active', problem: null });
    const presented = provider.asked.slice(before - refreshes()).map((form) => form.get('refresh_token'));
    expect(new Set(presented).size).toBe(presented.length);
  });

  test('is not disturbed by a test of the connection', async () => {
    const { id } = await connect();
    later(51);
    let answer = () => {};
    provider.habits.waits = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const before = refreshes();
    const refreshing = tick();
    await waitUntil(() => refreshes() > before);
    const tested = await owner().post(`/api/connections/${id}/test`).expect(200);
    expect(tested.body.ok).toBe(true);
    const again = tick();
    answer();
    await Promise.all([refreshing, again]);
    const presented = provider.asked.slice(before - refreshes()).map((form) => form.get('refresh_token'));
    expect(new Set(presented).size).toBe(presented.length);
    expect((await read(id)).status).toBe('active');
  });

  test.each([
    ['nothing', undefined],
    ['a text', '3600'],
    ['nonsense', 'soon'],
  ])('continues if the clock of the provider is %s', async (_what, expiresIn) => {
    provider.habits.expiresIn = expiresIn;
    const { id } = await connect();
    later(52);
    const before = refreshes();
    await tick();
    expect(refreshes()).toBeGreaterThan(before);
    expect((await read(id)).status).toBe('active');
  });

  test('that fails temporarily is retried, and fails only when the token has expired', async () => {
    const { id } = await connect();
    provider.habits.answers = { status: 503, body: '<h1>away</h1>' };
    later(51);
    await tick();
    expect(await read(id)).toMatchObject({ status: 'active', problem: null });
    later(15);
    await tick();
    expect(await read(id)).toMatchObject({ status: 'error', problem: expect.stringContaining('status 503') });
    provider.habits.answers = undefined;
    later(20);
    await tick();
    expect(await read(id)).toMatchObject({ status: 'active', problem: null });
  });

  test('that is refused for good makes it expired, once, until a member consents again', async () => {
    const { id } = await connect();
    const answer = { error: 'invalid_grant', error_description: 'revoked by <b>its owner</b>' };
    provider.habits.answers = { status: 400, body: JSON.stringify(answer), type: 'application/json' };
    later(51);
    await tick();
    await tick();
    const expired = await read(id);
    expect(expired).toMatchObject({
      status: 'expired',
      problem: expect.stringContaining('revoked by <b>its owner</b>'),
    });
    const { body: log } = await owner().get(`/api/audit-log?action=connection.failed&resource_id=${id}`).expect(200);
    expect(log).toHaveLength(1);
    const { payload } = await waitForAlert(id);
    expect(payload).toMatchObject({ data: { connection: { id, app: 'acme', status: 'expired' } } });
    provider.habits.answers = undefined;
    const { body } = await owner().post(`/api/connections/${id}/authorize`, {}).expect(200);
    await arrive(provider.consent(body.authorization_url)).expect(200);
    expect(await read(id)).toMatchObject({ status: 'active', problem: null });
  });

  test.each([
    ['as it is', (text: string) => text],
    ['percent-encoded', encodeURIComponent],
    ['as Basic has it', (text: string) => Buffer.from(text).toString('base64')],
    ['inside of other base64', (text: string) => Buffer.from(`it was ${text}, which is wrong`).toString('base64')],
    ['in hex', (text: string) => Buffer.from(text).toString('hex')],
  ])('whose error repeats the request %s reveals nothing of it', async (_how, encode) => {
    const before = provider.asked.length;
    const { id } = await connect();
    provider.habits.repeats = encode;
    later(51);
    await tick();
    const { refresh_token: token = '' } = Object.fromEntries(provider.asked.at(-1) ?? []);
    expect([provider.asked.length > before, token]).toEqual([true, expect.stringMatching(/^rt_/)]);
    const { client_secret: secret } = appAt(provider);
    await waitForAlert(id);
    const { rows } = await api.database.pool.query(
      `SELECT row_to_json(c)::text AS text FROM connections c WHERE id = $1
       UNION ALL SELECT row_to_json(a)::text FROM audit_log a UNION ALL SELECT row_to_json(d)::text FROM alert_deliveries d`,
      [id],
    );
    const shown = rows.map(({ text }) => text).join() + api.logs.text();
    expect(await read(id)).toMatchObject({ status: 'expired', problem: expect.stringContaining('***') });
    for (const value of [token, secret]) expect(shown).not.toContain(encode(value));
  });

  test('is impossible without a refresh token: the connection expires with its token', async () => {
    provider.habits.withoutRefreshToken = true;
    const { id } = await connect();
    later(50);
    await tick();
    expect((await read(id)).status).toBe('active');
    later(11);
    await tick();
    expect((await read(id)).status).toBe('expired');
  });
});

describe('a service of the workspace that moves under the same client', () => {
  let evil: FakeProvider;
  beforeAll(async () => {
    evil = await startFakeProvider();
    api.deps.outboundAllow.push(evil.host);
  });
  afterAll(() => evil.stop());
  beforeEach(() => evil.asked.splice(0));
  const { provider: _, ...client } = appAt({ url: '' });
  const moveTo = (slug: string, { url }: Pick<FakeProvider, 'url'>, more: object = {}) =>
    owner()
      .put(`/api/integrations/apps/${slug}`, {
        client_id: client.client_id,
        provider: appAt({ url }).provider,
        ...more,
      })
      .expect(200);
  const getSecret = async (slug: string) =>
    (await api.database.pool.query('SELECT client_secret FROM oauth_apps WHERE slug = $1', [slug])).rows[0]
      .client_secret;

  test('gets no stored secret, no token and no code from the other addresses', async () => {
    await moveTo('crm', provider, { client_secret: client.client_secret });
    const { id } = await connect({ app: 'crm' });
    const left = await begin({ app: 'crm' });
    await moveTo('crm', provider);
    expect(await getSecret('crm')).not.toBeNull();
    expect((await read(id)).status).toBe('active');

    await moveTo('crm', evil);
    expect(await getSecret('crm')).toBeNull();
    expect(await read(id)).toMatchObject({ status: 'expired', problem: expect.stringContaining('addresses') });
    const page = await arrive(provider.consent(left.authorization_url)).expect(400);
    expect(page.text).toContain('addresses');
    later(51);
    await api.connectionLoop.tick();
    await owner().post(`/api/connections/${id}/test`).expect(200);
    await owner().remove(`/api/connections/${id}`).expect(204);
    await api.connectionLoop.tick();
    expect([evil.asked, evil.revoked]).toEqual([[], []]);
  });

  test('gets none either if it takes the name of the operator’s, or of a deleted one', async () => {
    const { id } = await connect();
    await moveTo('acme', evil, { client_secret: client.client_secret });
    expect((await read(id)).status).toBe('expired');
    await api.database.pool.query(`UPDATE connections SET status = 'active', refresh_at = $2 WHERE id = $1`, [
      ...[id, new Date(clock - 1)],
    ]);
    await api.connectionLoop.tick();
    expect(await read(id)).toMatchObject({ status: 'expired', problem: expect.stringContaining('addresses') });
    expect(evil.asked).toEqual([]);
    await owner().remove('/api/integrations/apps/acme').expect(204);
  });
});

test('a test finds a token that the provider has revoked, and gets another', async () => {
  provider.habits.expiresIn = undefined;
  const before = new Set(provider.good);
  const { id } = await connect();
  for (const token of provider.good) if (!before.has(token)) provider.end(token);
  const { body } = await owner().post(`/api/connections/${id}/test`).expect(200);
  expect(body).toMatchObject({ ok: true, status: 'active' });
});

test('a deleted connection is revoked at the provider', async () => {
  const { id } = await connect();
  const before = provider.revoked.length;
  await owner().remove(`/api/connections/${id}`).expect(204);
  await api.connectionLoop.tick();
  expect(provider.revoked.length).toBe(before + 1);
  expect(provider.revoked.at(-1)).toMatch(/^rt_/);
  expect(await api.deps.prisma.connectionRevocation.count()).toBe(0);
});

test('connections of a workspace are revoked before it is purged, and not before', async () => {
  await connect();
  const markDeletedDaysAgo = (days: number) =>
    api.database.pool.query('UPDATE workspaces SET deleted_at = now() - make_interval(days => $2) WHERE id = $1', [
      ...[api.workspaceId, days],
    ]);
  const before = provider.revoked.length;
  await markDeletedDaysAgo(6);
  expect(await revokeBeforePurge(api.deps, computeRestoreCutoff())).toBe(0);
  await markDeletedDaysAgo(8);
  expect(await revokeBeforePurge(api.deps, computeRestoreCutoff())).toBeGreaterThan(0);
  expect(provider.revoked.length).toBeGreaterThan(before);
  expect(await api.deps.prisma.connection.count({ where: { kind: 'oauth', NOT: { sealed: null } } })).toBe(0);
});
