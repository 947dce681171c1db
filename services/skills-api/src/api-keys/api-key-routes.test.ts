import { type TestPerson, testSkillsApi } from '../test/test-skills-api';
import { KEYS_PER_USER_MAX } from './api-key';

const api = testSkillsApi();
let ada: TestPerson;
beforeEach(() => {
  ada = api.person();
});

const canUseKey = async (key: string) => (await api.as(key).get('/api/v1/me/skills')).status === 200;

test('a key is shown once, listed by its prefix, stored as a hash, and its last use is recorded', async () => {
  const { body } = await api.as(ada.jwt).post('/api/v1/api-keys').send({ name: ' Laptop ' }).expect(201);
  expect(body).toMatchObject({ name: 'Laptop', prefix: body.key.slice(0, 9), last_used_at: null });
  expect(body.key).toMatch(/^rly_[0-9A-Za-z]{49}$/);
  expect(await canUseKey(body.key)).toBe(true);
  await api.keyUse.flush();
  const { body: list, text } = await api.as(ada.jwt).get('/api/v1/api-keys').expect(200);
  expect(list).toEqual([expect.objectContaining({ id: body.id, last_used_at: expect.any(String) })]);
  expect(text).not.toContain(body.key);
  const { rows } = await api.database.pool.query('SELECT * FROM api_keys');
  expect(JSON.stringify(rows)).not.toContain(body.key);
});

test('after a rotation the new secret works and the old one is refused at once; after revocation, neither works', async () => {
  const { id, key } = await api.apiKey(ada);
  expect(await canUseKey(key)).toBe(true);
  const { body } = await api.as(ada.jwt).post(`/api/v1/api-keys/${id}/rotate`).expect(200);
  expect([await canUseKey(key), await canUseKey(body.key)]).toEqual([false, true]);
  await api.as(ada.jwt).delete(`/api/v1/api-keys/${id}`).expect(204);
  expect(await canUseKey(body.key)).toBe(false);
  await api.as(ada.jwt).delete(`/api/v1/api-keys/${id}`).expect(404);
  expect(await api.listOutboxTypes()).toContain('auth.token.revoked.v1');
});

test('a key can’t create, list, rotate or revoke keys, nor change those of another account', async () => {
  const { id, key } = await api.apiKey(ada);
  await api.as(key).post('/api/v1/api-keys').send({ name: 'x' }).expect(403);
  await api.as(key).get('/api/v1/api-keys').expect(403);
  await api.as(key).post(`/api/v1/api-keys/${id}/rotate`).expect(403);
  await api.as(key).delete(`/api/v1/api-keys/${id}`).expect(403);
  await api.as(api.person().jwt).delete(`/api/v1/api-keys/${id}`).expect(404);
  expect(await canUseKey(key)).toBe(true);
});

test('no token creates, lists, rotates or revokes keys: a key would have more rights and outlive it', async () => {
  const { id, key } = await api.apiKey(ada);
  const viewer = api.person({ role: 'viewer' });
  const expiring = api.person({ expiresAt: Date.now() + 60_000 });
  for (const token of [ada.token, viewer.token, expiring.token, api.workspaceToken(ada.workspaceId)]) {
    const program = api.as(token);
    for (const response of [
      await program.post('/api/v1/api-keys').send({ name: 'x' }),
      await program.get('/api/v1/api-keys'),
      await program.post(`/api/v1/api-keys/${id}/rotate`),
      await program.delete(`/api/v1/api-keys/${id}`),
    ]) {
      expect([response.status, response.body.code]).toEqual([403, 'session_required']);
    }
  }
  expect(await canUseKey(key)).toBe(true);
});

test('no account has more than the maximum of keys, also after many simultaneous requests', async () => {
  const eager = api.person();
  const createKey = () => api.as(eager.jwt).post('/api/v1/api-keys').send({ name: 'x' });
  const responses = await Promise.all(Array.from({ length: KEYS_PER_USER_MAX + 5 }, createKey));
  let created = responses.filter(({ status }) => status === 201).length;
  expect(created).toBeLessThanOrEqual(KEYS_PER_USER_MAX);
  // A busy machine may have refused some with 503.
  while ((await createKey()).status !== 409) created++;
  expect(created).toBe(KEYS_PER_USER_MAX);
});

test('a session works with an Origin of ours and not with another', async () => {
  const call = (origin: string) =>
    api
      .as(null)
      .post('/api/v1/api-keys')
      .set('Cookie', `svc_cloud_session=${ada.cookie}`)
      .set('Origin', origin)
      .send({ name: 'x' });
  await call('http://skills.test').expect(201);
  await call('http://evil.test').expect(403);
});
