/** One rule decides access to a skill, for every route and every format. */
import { type TestPerson, testSkillsApi } from '../test/test-skills-api';

const credentials: Record<string, TestPerson | string | null> = { anonymous: null };
const slugs: Record<string, string> = {};

const STATES = ['private', 'unlisted', 'public', 'shared', 'deleted'] as const;
const READERS = [
  'owner',
  'key',
  'shared-with',
  'claims the address',
  'stranger',
  'colleague',
  'same user elsewhere',
  'anonymous',
] as const;

const api = testSkillsApi();
beforeAll(async () => {
  const owner = api.person();
  const friend = api.person({ email: 'Friend@Example.test' });
  Object.assign(credentials, {
    owner,
    key: (await api.apiKey(owner)).key,
    'shared-with': friend,
    'claims the address': api.person({ email: friend.email, emailVerified: false }),
    stranger: api.person(),
    colleague: api.person({ workspaceId: owner.workspaceId, role: 'owner' }),
    'same user elsewhere': api.person({ email: owner.email }),
  });
  for (const state of STATES) {
    const visibility = state === 'shared' ? 'private' : state === 'deleted' ? 'public' : state;
    const input = { title: `A ${state} skill`, body_md: `text of ${state}`, visibility };
    const { body } = await api.as(owner).post('/api/v1/skills').send(input).expect(201);
    slugs[state] = body.slug;
    if (state === 'shared') {
      await api
        .as(owner)
        .post(`/api/v1/skills/${body.slug}/share`)
        .send({ emails: ['friend@example.test'] })
        .expect(200);
    }
    if (state === 'deleted') await api.as(owner).delete(`/api/v1/skills/${body.slug}`).expect(204);
  }
});

const ROUTES: Record<string, (slug: string) => string> = {
  API: (slug) => `/api/v1/skills/${slug}`,
  page: (slug) => `/s/${slug}`,
  Markdown: (slug) => `/s/${slug}.md`,
  JSON: (slug) => `/s/${slug}.json`,
  zip: (slug) => `/s/${slug}.zip`,
  'SKILL.md': (slug) => `/.well-known/agent-skills/${slug}/SKILL.md`,
};

function expectedStatus(state: (typeof STATES)[number], reader: (typeof READERS)[number]): number {
  const isOwner = reader === 'owner' || reader === 'key';
  if (state === 'deleted') return isOwner ? 410 : 404;
  if (isOwner || state === 'public' || state === 'unlisted') return 200;
  return state === 'shared' && reader === 'shared-with' ? 200 : 404;
}

const cases = STATES.flatMap((state) =>
  READERS.map((reader) => [state, reader, expectedStatus(state, reader)] as const),
);

test.each(cases)('a %s skill, read by %s: %i on every route and in every format', async (state, reader, status) => {
  const client = api.as(credentials[reader] ?? null);
  const slug = slugs[state] as string;
  for (const [name, route] of Object.entries(ROUTES)) {
    const response = await client.get(route(slug));
    expect([name, response.status]).toEqual([name, status]);
    if (status !== 200) expect(response.text).not.toContain(`text of ${state}`);
  }
  const findable = status === 200 && (state !== 'unlisted' || reader === 'owner' || reader === 'key');
  const { body: hits } = await client.get(`/api/v1/search?q=${state}%20skill`).expect(200);
  expect(hits.some((hit: { slug: string }) => hit.slug === slug)).toBe(findable);
});

test.each(STATES)('only a public one is in the index: %s', async (state) => {
  const { body } = await api.as(null).get('/.well-known/agent-skills/index.json?limit=1000').expect(200);
  expect(body.skills.some((skill: { name: string }) => skill.name === slugs[state])).toBe(state === 'public');
});

test('a skill that the caller cannot read can’t be saved, filed, put into a library or changed either', async () => {
  const stranger = api.as(credentials.stranger ?? null);
  const slug = slugs.private;
  await stranger.post('/api/v1/libraries').send({ title: 'Mine', slug: 'of-a-stranger' }).expect(201);
  await stranger.post(`/api/v1/skills/${slug}/save`).expect(404);
  await stranger.put(`/api/v1/me/skills/${slug}/override`).send({ folder: 'x' }).expect(404);
  await stranger.post('/api/v1/libraries/of-a-stranger/skills').send({ skill_slug: slug }).expect(404);
  await stranger.patch(`/api/v1/skills/${slug}`).send({ title: 'x' }).expect(404);
  await stranger.delete(`/api/v1/skills/${slug}`).expect(404);
  await stranger.patch(`/api/v1/skills/${slugs.public}`).send({ title: 'x' }).expect(403);
  await stranger.post(`/api/v1/skills/${slugs.deleted}/restore`).expect(404);
});

test('an ended session is anonymous on a public page, and refused where sign-in is required', async () => {
  const cookie = `svc_cloud_session=${api.person().cookie.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))}`;
  await api.as(null).get(`/s/${slugs.public}`).set('Cookie', cookie).expect(200);
  await api.as(null).get(`/s/${slugs.private}`).set('Cookie', cookie).expect(404);
  await api.as(null).get('/api/v1/me/skills').set('Cookie', cookie).expect(401);
});
