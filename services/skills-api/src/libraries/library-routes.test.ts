import { captureLogs, setupResource } from '@gantry/testing';
import { seedLibraries } from '../starter/seed-libraries';
import { type TestPerson, testSkillsApi } from '../test/test-skills-api';

const api = testSkillsApi();
const ada = setupResource(() => api.person());
const bob = setupResource(() => api.person());

async function createSkill(title: string, visibility = 'public', person = ada): Promise<string> {
  const { body } = await api.as(person).post('/api/v1/skills').send({ title, body_md: 'Text', visibility }).expect(201);
  return body.slug;
}
async function createLibrary(visibility = 'public'): Promise<string> {
  return (await api.as(ada).post('/api/v1/libraries').send({ title: 'Useful things', visibility }).expect(201)).body
    .slug;
}
const addSkill = (slug: string, skill_slug: string, person = ada) =>
  api.as(person).post(`/api/v1/libraries/${slug}/skills`).send({ skill_slug });
const listSlugs = async (slug: string, person: TestPerson | null) =>
  (await api.as(person).get(`/api/v1/libraries/${slug}`).expect(200)).body.skills.map(
    (one: { slug: string }) => one.slug,
  );

test('three libraries with real skills are installed once, however often the service starts', async () => {
  const { log } = captureLogs();
  await Promise.all([1, 2, 3].map(() => seedLibraries(api.database.prisma, log)));
  const { body } = await api.as(null).get('/api/v1/libraries').expect(200);
  expect(body).toHaveLength(3);
  for (const { slug, skill_count, starter } of body) {
    expect({ skill_count, starter }).toEqual({ skill_count: 3, starter: true });
    const { body: whole } = await api.as(null).get(`/api/v1/libraries/${slug}`).expect(200);
    for (const { slug: inside, title, version, description, tags } of whole.skills) {
      expect(title).toMatch(/^[A-Z][^-]+$/);
      expect(tags.length).toBeGreaterThan(0);
      expect({ inside, version }).toEqual({ inside, version: 1 });
      expect(description.length).toBeGreaterThan(40);
      await api.as(null).get(`/s/${inside}`).expect(200);
    }
    expect((await api.as(null).get(`/l/${slug}`).expect(200)).text).toContain(whole.skills[0].title);
  }
  await api.database.pool.query("UPDATE skills SET body_md = 'older' WHERE slug = 'review-a-change'");
  await seedLibraries(api.database.prisma, log);
  expect((await api.as(null).get('/api/v1/skills/review-a-change')).body.version).toBe(2);
});

test('a subscriber sees skills that are added later, in the order of the owner', async () => {
  const slug = await createLibrary();
  const [one, two, three] = [await createSkill('One'), await createSkill('Two'), await createSkill('Three')];
  await addSkill(slug, one).expect(200);
  for (let i = 0; i < 2; i++)
    await api.as(bob).post('/api/v1/me/subscriptions').send({ library_slug: slug }).expect(200);
  await addSkill(slug, two).expect(200);
  await addSkill(slug, three).expect(200);
  await addSkill(slug, three).expect(200);
  const { body } = await api.as(bob).get('/api/v1/me/subscriptions').expect(200);
  expect(body).toEqual([expect.objectContaining({ slug, subscribed: true, subscriber_count: 1, skill_count: 3 })]);
  await api
    .as(ada)
    .put(`/api/v1/libraries/${slug}/skills`)
    .send({ skill_slugs: [three] })
    .expect(200);
  expect(await listSlugs(slug, bob)).toEqual([three, one, two]);
  await api.as(ada).delete(`/api/v1/libraries/${slug}/skills/${one}`).expect(204);
  await api.as(ada).delete(`/api/v1/libraries/${slug}/skills/${one}`).expect(404);
  expect(await listSlugs(slug, bob)).toEqual([three, two]);
  await api.as(bob).delete(`/api/v1/me/subscriptions/${slug}`).expect(204);
  expect((await api.as(bob).get('/api/v1/me/subscriptions')).body).toEqual([]);
});

test('a library reveals nothing that its reader cannot see', async () => {
  const slug = await createLibrary();
  const open = await createSkill('Open');
  const hidden = await createSkill('Hidden', 'private');
  const linked = await createSkill('Linked by its owner', 'unlisted');
  const others = await createSkill('Linked by somebody else', 'unlisted', bob);
  const foreign = await createSkill('Of somebody else', 'private', bob);
  for (const one of [open, hidden, linked, others]) await addSkill(slug, one).expect(200);
  await addSkill(slug, foreign).expect(404);
  expect(await listSlugs(slug, ada)).toEqual([open, hidden, linked, others]);
  expect(await listSlugs(slug, null)).toEqual([open, linked]);
  expect((await api.as(null).get(`/l/${slug}`)).text).not.toContain(hidden);
  await api.as(ada).delete(`/api/v1/skills/${open}`).expect(204);
  expect(await listSlugs(slug, null)).toEqual([linked]);
});

test('only its owner changes a library, and a private one is visible to the owner alone', async () => {
  const slug = await createLibrary('private');
  await api.as(bob).get(`/api/v1/libraries/${slug}`).expect(404);
  await api.as(bob).post('/api/v1/me/subscriptions').send({ library_slug: slug }).expect(404);
  await api.as(ada).patch(`/api/v1/libraries/${slug}`).send({ visibility: 'public', title: 'Opened' }).expect(200);
  await api.as(bob).get(`/api/v1/libraries/${slug}`).expect(200);
  await addSkill(slug, await createSkill('Mine', 'public', bob), bob).expect(403);
  await api.as(bob).patch(`/api/v1/libraries/${slug}`).send({ title: 'Mine' }).expect(403);
  await api.as(bob).delete(`/api/v1/libraries/${slug}`).expect(403);
  await api.as(ada).delete(`/api/v1/libraries/${slug}`).expect(204);
  await api.as(ada).get(`/api/v1/libraries/${slug}`).expect(410);
  await api.as(bob).get(`/l/${slug}`).expect(404);
  await api.as(bob).post('/api/v1/libraries').send({ title: 'x', slug }).expect(409);
});

test.each([
  ['no title', {}, 'title'],
  ['a blank title', { title: ' ' }, 'title'],
  ['a bad slug', { title: 'x', slug: 'A' }, 'slug'],
  ['an unknown visibility', { title: 'x', visibility: 'some' }, 'visibility'],
])('%s is refused', async (_what, input, field) => {
  const { body } = await api.as(ada).post('/api/v1/libraries').send(input).expect(400);
  expect(body.details[0].path).toBe(field);
});

test('unknown libraries and skills are 404, a foreign skill in an order is named', async () => {
  const slug = await createLibrary();
  await addSkill('no-such-library', await createSkill('Some')).expect(404);
  await addSkill(slug, 'no-such-skill').expect(404);
  const { body } = await api
    .as(ada)
    .put(`/api/v1/libraries/${slug}/skills`)
    .send({ skill_slugs: ['no-such-skill'] })
    .expect(400);
  expect(body.details).toEqual([{ path: 'skill_slugs.0', message: '"no-such-skill" is not in this library' }]);
});
