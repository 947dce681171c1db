import { auditRecorded } from '@gantry/events';
import { type TestPerson, testSkillsApi } from '../test/test-skills-api';

const api = testSkillsApi();

async function listEntries({ workspaceId }: TestPerson) {
  const { rows } = await api.database.pool.query(
    'SELECT data FROM outbox WHERE type = $1 AND workspace_id = $2 ORDER BY created_at, id',
    [auditRecorded.type, workspaceId],
  );
  return rows.map(({ data }) => auditRecorded.data.parse(data));
}

test('every change is announced with its actor, action, resource and address, without keys and texts', async () => {
  const person = api.person();
  const me = api.as(person);
  const published = await me
    .post('/api/v1/skills')
    .set('User-Agent', 'a browser')
    .send({ title: 'One', body_md: 'the whole text' })
    .expect(201);
  const skill = `/api/v1/skills/${published.body.slug}`;
  await me.patch(skill).send({ body_md: 'the whole text, longer', visibility: 'public' }).expect(200);
  await me
    .post(`${skill}/share`)
    .send({ emails: ['bob@example.test'] })
    .expect(200);
  await me.delete(skill).expect(204);
  await me.post(`${skill}/restore`).expect(200);
  const created = await me.post('/api/v1/libraries').send({ title: 'Mine' }).expect(201);
  const library = `/api/v1/libraries/${created.body.slug}`;
  await me.patch(library).send({ visibility: 'public' }).expect(200);
  await me.post(`${library}/skills`).send({ skill_slug: published.body.slug }).expect(200);
  await me
    .put(`${library}/skills`)
    .send({ skill_slugs: [published.body.slug] })
    .expect(200);
  await me.delete(`${library}/skills/${published.body.slug}`).expect(204);
  await me.delete(library).expect(204);
  const { id, key } = await api.apiKey(person);
  const signedIn = api.as(person.jwt);
  const { body: rotated } = await signedIn.post(`/api/v1/api-keys/${id}/rotate`).expect(200);
  await signedIn.delete(`/api/v1/api-keys/${id}`).expect(204);

  const entries = await listEntries(person);
  expect(entries.map(({ action }) => action)).toEqual([
    ...['published', 'changed', 'shared', 'deleted', 'restored'].map((what) => `skill.${what}`),
    ...['created', 'changed', 'skill_added', 'reordered', 'skill_removed', 'deleted'].map((what) => `library.${what}`),
    ...['created', 'rotated', 'revoked'].map((what) => `api_key.${what}`),
  ]);
  expect(entries[0]).toMatchObject({
    source: 'skills-api',
    actor: { kind: 'personal_token', id: person.userId, label: person.email },
    resource: { type: 'skill', id: expect.stringMatching(/^skl_/) },
    details: { slug: published.body.slug, visibility: 'unlisted' },
    address: expect.stringContaining('127.0.0.1'),
    userAgent: 'a browser',
    requestId: expect.stringMatching(/^req_/),
  });
  expect(entries[1]?.details).toMatchObject({ version: 2, visibility: { from: 'unlisted', to: 'public' } });
  const text = JSON.stringify(entries);
  for (const secret of [key, rotated.key, 'the whole text']) expect(text).not.toContain(secret);
});

test('refused and ineffective requests are not announced', async () => {
  const person = api.person();
  const me = api.as(person);
  const { body: skill } = await me.post('/api/v1/skills').send({ title: 'Two', body_md: 'x' }).expect(201);
  const { body: library } = await me.post('/api/v1/libraries').send({ title: 'Two' }).expect(201);
  const add = () => me.post(`/api/v1/libraries/${library.slug}/skills`).send({ skill_slug: skill.slug });
  await add().expect(200);
  const before = await listEntries(person);
  await add().expect(200);
  await me.post(`/api/v1/skills/${skill.slug}/restore`).expect(200);
  await api.as(api.person()).delete(`/api/v1/skills/${skill.slug}`).expect(403);
  await me.delete(`/api/v1/libraries/${library.slug}/skills/no-such-skill`).expect(404);
  expect(await listEntries(person)).toEqual(before);
});
