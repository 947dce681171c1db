import { setupResource, waitUntil } from '@gantry/testing';
import request from 'supertest';
import { testWorkerApi } from '../../test/test-worker-api';

const api = testWorkerApi();
const member = setupResource(() => api.addMember('member'));

const as = (credential: string) => ({ Authorization: `Bearer ${credential}` });
const get = (path: string, credential: string) => request(api.url).get(path).set(as(credential));
const post = (path: string, credential: string, body: object) =>
  request(api.url).post(path).set(as(credential)).send(body);
const remove = (path: string, credential: string) => request(api.url).delete(path).set(as(credential));
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

test('a personal token is shown once, works in both headers, and is listed without its value', async () => {
  const { body } = await post('/auth/tokens', member.jwt, { name: 'laptop' }).expect(201);
  expect(body).toMatchObject({ name: 'laptop', role: null, expires_at: null, prefix: body.token.slice(0, 9) });
  expect(body.token).toMatch(/^svc_[0-9A-Za-z]{49}$/);
  await get('/auth/me', body.token).expect(200);
  const me = await request(api.url).get('/auth/me').set('x-svc-token', body.token).expect(200);
  expect(me.body).toMatchObject({ id: member.userId, credential: 'personal_token', token_id: body.id, role: 'member' });
  const findListed = await get('/auth/tokens', member.jwt).expect(200);
  expect(findListed.body[0]).toMatchObject({ id: body.id, name: 'laptop', prefix: body.prefix });
  expect(findListed.text).not.toContain(body.token);
});

test('a workspace token acts as an admin of its one workspace and as no user', async () => {
  const { token } = await api.createToken('workspace', api.owner.jwt, { name: 'ci' });
  expect(token).toMatch(/^wst_/);
  const { body } = await get('/auth/me', token).expect(200);
  expect(body).toMatchObject({ id: null, email: null, role: 'admin', workspace_id: api.workspaceId });
  expect(body.workspaces).toHaveLength(1);
  await get('/auth/tokens', token).expect(403);
  await post('/auth/tokens', token, { name: 'x' }).expect(403);
});

test('a revoked token is refused at once, and removed from the list', async () => {
  const { id, token } = await api.createToken('personal', member.jwt);
  await get('/auth/me', token).expect(200);
  await remove(`/auth/tokens/${id}`, token).expect(204);
  await get('/auth/me', token).expect(401);
  await remove(`/auth/tokens/${id}`, member.jwt).expect(404);
  expect((await get('/auth/tokens', member.jwt)).body.map((findListed: { id: string }) => findListed.id)).not.toContain(
    id,
  );
});

test('a token expires at its time, to the second, although it was used just before', async () => {
  const { token } = await api.createToken('personal', member.jwt, {
    expires_at: new Date(Date.now() + 700).toISOString(),
  });
  await get('/auth/me', token).expect(200);
  await waitUntil(async () => (await get('/auth/me', token)).status === 401);
});

test.each(['2001-01-01T00:00:00.000Z', 'tomorrow', '2999-13-01T00:00:00Z', 12])(
  'expires_at %j is a 400',
  async (value) => {
    const { body } = await post('/auth/tokens', member.jwt, { name: 'x', expires_at: value }).expect(400);
    expect(body.detail).toContain('expires_at');
  },
);

test.each([
  [{}, 'name'],
  [{ name: '' }, 'name'],
  [{ name: '  ' }, 'name'],
  [{ name: 'a\u0000' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ name: 'x', role: 'root' }, 'role'],
  [{ name: 'x', user_id: 'usr_other' }, 'user_id'],
  [{ name: 'x', workspace_id: 'ws_other' }, 'workspace_id'],
])('%j is a 400 that names %s', async (body, field) => {
  const answer = await post('/auth/tokens', member.jwt, body).expect(400);
  expect(answer.body.errors).toEqual(expect.arrayContaining([expect.objectContaining({ path: field })]));
});

describe('a token has no more permissions than its creator', () => {
  test('a member can neither create nor see nor revoke workspace tokens', async () => {
    const { id } = await api.createToken('workspace', api.owner.jwt);
    await post('/api/workspace/tokens', member.jwt, { name: 'x' }).expect(403);
    await get('/api/workspace/tokens', member.jwt).expect(403);
    await remove(`/api/workspace/tokens/${id}`, member.jwt).expect(403);
  });

  test('a workspace token can be an admin at most', async () => {
    await post('/api/workspace/tokens', api.owner.jwt, { name: 'x', role: 'owner' }).expect(400);
    const { token } = await api.createToken('workspace', api.owner.jwt, { role: 'viewer' });
    expect((await get('/auth/me', token)).body.role).toBe('viewer');
    await post('/api/workspace/tokens', token, { name: 'x', role: 'viewer' }).expect(403);
  });

  test('a member cannot request a higher role', async () => {
    await post('/auth/tokens', member.jwt, { name: 'x', role: 'admin' }).expect(403);
    await post('/auth/tokens', member.jwt, { name: 'x', role: 'viewer' }).expect(201);
  });

  test("a limited token's tokens have its limit, whether requested or not", async () => {
    const { token } = await api.createToken('personal', api.owner.jwt, { role: 'viewer' });
    expect((await get('/auth/me', token)).body.role).toBe('viewer');
    await post('/auth/tokens', token, { name: 'x', role: 'owner' }).expect(403);
    const child = await post('/auth/tokens', token, { name: 'x' }).expect(201);
    expect((await get('/auth/me', child.body.token)).body.role).toBe('viewer');
    await post('/api/workspace/tokens', child.body.token, { name: 'x' }).expect(403);
  });

  test('an expiring token creates none that outlives it', async () => {
    const ends = inAnHour();
    const { token } = await api.createToken('personal', api.owner.jwt, { expires_at: ends });
    await post('/auth/tokens', token, { name: 'x', expires_at: '2999-01-01T00:00:00.000Z' }).expect(403);
    expect((await post('/auth/tokens', token, { name: 'x' }).expect(201)).body.expires_at).toBe(ends);
    expect((await post('/api/workspace/tokens', token, { name: 'x' }).expect(201)).body.expires_at).toBe(ends);
  });

  test('a token follows its user: a demotion takes effect within the lifetime of a cached identity', async () => {
    const admin = await api.addMember('admin');
    const { token } = await api.createToken('personal', admin.jwt, { role: 'admin' });
    await api.database.pool.query("UPDATE memberships SET role = 'viewer' WHERE user_id = $1", [admin.userId]);
    api.identities.evictUser(admin.userId);
    expect((await get('/auth/me', token)).body.role).toBe('viewer');
  });
});

describe('a token that a token created', () => {
  interface Listed {
    id: string;
    created_by_token_id: string | null;
    created_by_token_revoked: boolean;
    made_tokens: number;
  }
  const createToken = async (path: string, credential: string): Promise<{ id: string; token: string }> =>
    (await post(path, credential, { name: 'made by a token' }).expect(201)).body;
  const findListed = async (path: string, id: string): Promise<Listed | undefined> =>
    (await get(path, api.owner.jwt).expect(200)).body.find((token: Listed) => token.id === id);

  async function family() {
    const root = await api.createToken('personal', api.owner.jwt);
    const child = await createToken('/auth/tokens', root.token);
    const grandchild = await createToken('/auth/tokens', child.token);
    const ofWorkspace = await createToken('/api/workspace/tokens', grandchild.token);
    return { root, child, grandchild, ofWorkspace };
  }

  test('is shown with its creator, and the creator with the number of its tokens', async () => {
    const { root, child, grandchild, ofWorkspace } = await family();
    expect(await findListed('/auth/tokens', root.id)).toMatchObject({ created_by_token_id: null, made_tokens: 3 });
    expect(await findListed('/auth/tokens', child.id)).toMatchObject({ created_by_token_id: root.id, made_tokens: 2 });
    expect(await findListed('/api/workspace/tokens', ofWorkspace.id)).toMatchObject({
      created_by_token_id: grandchild.id,
      created_by_token_revoked: false,
      made_tokens: 0,
    });
  });

  test('stays valid when only its creator is revoked, and shows that', async () => {
    const { root, child, ofWorkspace } = await family();
    await remove(`/auth/tokens/${root.id}`, api.owner.jwt).expect(204);
    await get('/auth/me', child.token).expect(200);
    await get('/auth/me', ofWorkspace.token).expect(200);
    expect(await findListed('/auth/tokens', child.id)).toMatchObject({
      created_by_token_id: root.id,
      created_by_token_revoked: true,
    });
    // Also after the creator's row has been swept.
    await api.database.pool.query('DELETE FROM tokens WHERE id = $1', [root.id]);
    expect((await findListed('/auth/tokens', child.id))?.created_by_token_revoked).toBe(true);
  });

  test('is revoked with its creator on request, of whichever kind and however far down', async () => {
    const { root, child, grandchild, ofWorkspace } = await family();
    const another = await api.createToken('personal', api.owner.jwt);
    for (const { token } of [root, child, grandchild, ofWorkspace]) await get('/auth/me', token).expect(200);
    await remove(`/auth/tokens/${root.id}?with_made=true`, api.owner.jwt).expect(204);
    for (const { token } of [root, child, grandchild, ofWorkspace]) await get('/auth/me', token).expect(401);
    await get('/auth/me', another.token).expect(200);
  });

  test('in a workspace token too', async () => {
    const root = await api.createToken('workspace', api.owner.jwt);
    const child = await createToken('/api/workspace/tokens', root.token);
    expect(await findListed('/api/workspace/tokens', root.id)).toMatchObject({ made_tokens: 1 });
    await remove(`/api/workspace/tokens/${root.id}?with_made=true`, api.owner.jwt).expect(204);
    await get('/auth/me', child.token).expect(401);
  });

  test('none is left out that was requested while its creator was being revoked', async () => {
    const root = await api.createToken('personal', api.owner.jwt);
    const asked = Array.from({ length: 12 }, (_, i) => post('/auth/tokens', root.token, { name: `n${i}` }));
    const [answers] = await Promise.all([
      Promise.all(asked),
      remove(`/auth/tokens/${root.id}?with_made=true`, api.owner.jwt).expect(204),
    ]);
    for (const { status, body } of answers) {
      if (status === 201) await get('/auth/me', body.token).expect(401);
      else expect(status).toBe(401);
    }
  });
});

describe('tokens of others', () => {
  test('cannot be listed or revoked, and look as if they did not exist', async () => {
    const mine = await api.createToken('personal', api.owner.jwt);
    const theirs = await api.createToken('workspace', api.foreign.owner.jwt);
    await remove(`/auth/tokens/${mine.id}`, member.jwt).expect(404);
    await remove(`/api/workspace/tokens/${theirs.id}`, api.owner.jwt).expect(404);
    // Nor through the route of the other kind.
    await remove(`/api/workspace/tokens/${mine.id}`, api.owner.jwt).expect(404);
    await get('/auth/me', mine.token).expect(200);
    await get('/auth/me', theirs.token).expect(200);
    const findListed = await get('/api/workspace/tokens', api.owner.jwt).expect(200);
    expect(findListed.text).not.toContain(theirs.id);
  });

  test.each(['nope', 'tok_%00', '..%2f..%2fauth', 'tok_%F0%9F%A6%86', '%zz', "' OR 1=1 --"])(
    'the id %j is a 400 or 404',
    async (id) => {
      const { status } = await remove(`/auth/tokens/${id}`, member.jwt);
      expect([400, 404]).toContain(status);
    },
  );
});

test('last_used_at is updated after the response, once a minute', async () => {
  const { id, token } = await api.createToken('personal', member.jwt);
  const lastUsed = async () => {
    const { body } = await get('/auth/tokens', member.jwt);
    return body.find((findListed: { id: string }) => findListed.id === id).last_used_at;
  };
  expect(await lastUsed()).toBeNull();
  await get('/auth/me', token).expect(200);
  const first = await waitUntil(lastUsed);
  expect(Math.abs(Date.now() - Date.parse(first))).toBeLessThan(10_000);
  api.identities.clear();
  await get('/auth/me', token).expect(200);
  expect(await lastUsed()).toBe(first);
});

test('the number of tokens is limited', async () => {
  const hoarder = await api.addMember('member');
  await api.database.pool.query(
    `INSERT INTO tokens (id, user_id, name, prefix, hash, pepper_version, created_by)
     SELECT 'tok_' || i, $1, 'n', 'svc_', decode(lpad(to_hex(i), 64, '0'), 'hex'), 'v1', $1 FROM generate_series(1, 200) i`,
    [hoarder.userId],
  );
  await post('/auth/tokens', hoarder.jwt, { name: 'one more' }).expect(409);
});
