/** Idempotency-Key on every operation that creates something, whatever happens to the first request. */
import { randomUUID } from 'node:crypto';
import { clearStoredResponse, createZip, setupResource } from '@gantry/testing';
import type { Test } from 'supertest';
import { testSkillsApi } from './test/test-skills-api';

const api = testSkillsApi();
const ada = setupResource(() => api.person());

const sql = (text: string, values: unknown[] = []) => api.database.pool.query(text, values);

const loadCounts = async () =>
  (
    await sql(`SELECT (SELECT count(*) FROM skills) AS skills, (SELECT count(*) FROM libraries) AS libraries,
      (SELECT array_agg(hash ORDER BY id) FROM api_keys) AS keys`)
  ).rows[0];

const post = (path: string, body?: object) => api.as(ada).post(path).send(body);
const FRONT = '---\nname: from-a-zip\ndescription: x\nno-such-field: 1\n---\n\nText';

const REPEATABLE: Record<string, () => Test> = {
  publishSkill: () => post('/api/v1/skills', { body_md: FRONT, title: 'Keyed' }),
  publishSkillInBrowser: () => post('/api/skills', { title: 'Keyed', body_md: 'x' }),
  createLibrary: () => post('/api/v1/libraries', { title: 'Keyed' }),
};

describe.each(Object.entries(REPEATABLE))('%s', (_operation, send) => {
  test.each(['kept', 'lost'])(
    'is executed once for one key, with the same response after one that was %s',
    async (what) => {
      const key = randomUUID();
      const first = await send().set('Idempotency-Key', key).expect(201);
      if (what === 'lost') await clearStoredResponse(sql, key);
      const before = await loadCounts();
      const again = await send().set('Idempotency-Key', key).expect(201);
      expect([again.body, again.headers.location]).toEqual([first.body, first.headers.location]);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(await loadCounts()).toEqual(before);
    },
  );
});

test('a zip is published once for one key, also if the response was lost', async () => {
  const zip = await createZip({ 'SKILL.md': FRONT, 'other.txt': 'x' });
  const send = () =>
    api.as(ada).post('/api/v1/skills/import').attach('bundle', zip, 'skill.zip').set('Idempotency-Key', 'zip');
  const first = await send().expect(201);
  await clearStoredResponse(sql, 'zip');
  expect((await send().expect(201)).body).toEqual(first.body);
});

test.each(['create', 'rotate'])(
  '%s: an API key is shown once, and the previous key is not rotated away',
  async (what) => {
    const { id } = await api.apiKey(ada);
    const send = () =>
      api
        .as(ada.jwt)
        .post(what === 'create' ? '/api/v1/api-keys' : `/api/v1/api-keys/${id}/rotate`)
        .send(what === 'create' ? { name: 'x' } : undefined)
        .set('Idempotency-Key', what);
    const first = await send();
    expect(first.status).toBeLessThan(300);
    const before = await loadCounts();
    const again = await send().expect(409);
    expect(again.body).toMatchObject({ code: 'already_done', details: [{ path: 'id', message: first.body.id }] });
    expect(await loadCounts()).toEqual(before);
  },
);

test('an API key gets no stored response of a session of the same person', async () => {
  const { key } = await api.apiKey(ada);
  await post('/api/v1/libraries', { title: 'Signed in' }).set('Idempotency-Key', 'library').expect(201);
  const byKey = api.as(key).post('/api/v1/libraries').set('Idempotency-Key', 'library').send({ title: 'Signed in' });
  expect((await byKey.expect(403)).body.code).toBe('session_required');
});

test('a skill that was deleted meanwhile is a 410 for its key, and is not published again', async () => {
  const send = () => post('/api/v1/skills', { title: 'Deleted', body_md: 'x' }).set('Idempotency-Key', 'deleted');
  const { body } = await send().expect(201);
  await api.as(ada).delete(`/api/v1/skills/${body.slug}`).expect(204);
  await send().expect(410);
});
