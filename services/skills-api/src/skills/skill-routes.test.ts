import { setupResource, waitUntil } from '@gantry/testing';
import { type TestPerson, testSkillsApi } from '../test/test-skills-api';
import { purgeDeletedSkills } from './skill-repository';

const api = testSkillsApi();
const ada = setupResource(() => api.person());
const bob = setupResource(() => api.person({ name: 'Bob' }));

const BODY = '# Hello\n\nRead *this*.\n';
const publish = (person: TestPerson | string, body: object = {}) =>
  api
    .as(person)
    .post('/api/v1/skills')
    .send({ title: 'Say hello', body_md: BODY, ...body });
const get = (person: TestPerson | null, slug: string) => api.as(person).get(`/api/v1/skills/${slug}`);

test('publishing returns the skill, unlisted by default, and announces it', async () => {
  const { body, headers } = await publish(ada).expect(201);
  expect(body).toMatchObject({
    title: 'Say hello',
    body_md: BODY,
    visibility: 'unlisted',
    owner: { id: ada.userId, name: 'Ada' },
    version: 1,
    owned: true,
    saved: false,
    warnings: [],
  });
  expect(body.slug).toMatch(/^say-hello/);
  expect(headers.location).toBe(`/api/v1/skills/${body.slug}`);
  expect(await api.listOutboxTypes()).toContain('skill.published.v1');
});

test('both publishing routes are equivalent; the one for browsers refuses an API key', async () => {
  const { key } = await api.apiKey(ada);
  await publish(key).expect(201);
  await api.as(ada).post('/api/skills').send({ title: 'In a browser', body_md: BODY }).expect(201);
  await api.as(key).post('/api/skills').send({ title: 'In a browser', body_md: BODY }).expect(403);
});

test.each([
  ['no title', { title: undefined }, 400, 'title'],
  ['an empty title', { title: '  ' }, 400, 'title'],
  ['a title of 201 characters', { title: 'a'.repeat(201) }, 400, 'title'],
  ['no body', { body_md: undefined }, 400, 'body_md'],
  ['a body of spaces', { body_md: ' \n ' }, 400, 'body_md'],
  ['front matter without text', { body_md: '---\nname: x\n---\n' }, 400, 'body_md'],
  ['a NUL in the body', { body_md: 'a\0b' }, 400, 'body_md'],
  ['a body over 256 KB', { body_md: 'ä'.repeat(128 * 1024 + 1) }, 413, undefined],
  ['51 tags', { tags: Array.from({ length: 51 }, (_, index) => `tag ${index}`) }, 400, 'tags'],
  ['a tag of 51 characters', { tags: ['a'.repeat(51)] }, 400, 'tags.0'],
  ['a slug with capitals', { slug: 'Not-A-Slug' }, 400, 'slug'],
  ['a slug that is too short', { slug: 'ab' }, 400, 'slug'],
  ['a slug that climbs', { slug: '../etc' }, 400, 'slug'],
  ['a reserved slug', { slug: 'api' }, 400, 'slug'],
  ['an unknown visibility', { visibility: 'secret' }, 400, 'visibility'],
  ['an unknown property', { owner_id: 'usr_x' }, 400, 'owner_id'],
  ['an object as title', { title: { contains: '' } }, 400, 'title'],
])('%s is refused with the field', async (_what, input, status, field) => {
  const { body } = await publish(ada, input).expect(status);
  if (field) expect(body.details.map((problem: { path: string }) => problem.path)).toContain(field);
  else expect(body.error).toContain('body_md');
});

test('exactly 256 KB, 200 characters and 50 tags are accepted, and so is a text of only distinct words', async () => {
  const words = Array.from({ length: 45_000 }, (_, index) => index.toString(36)).join(' ');
  const body_md = words.padEnd(256 * 1024, ' x');
  const tags = Array.from({ length: 50 }, (_, index) => String(index).padStart(50, 't'));
  await publish(ada, { title: 'ü'.repeat(200), body_md: body_md.slice(0, 256 * 1024), tags }).expect(201);
});

test('front matter fills absent fields, and its unusable parts are reported', async () => {
  const body_md =
    '---\nname: tidy-a-desk\ndescription: Makes room.\nlicense: CC0-1.0\nmetadata:\n  tags: home, order\ncolour: red\n---\nThrow out.';
  const { body } = await api.as(ada).post('/api/v1/skills').send({ body_md }).expect(201);
  expect(body).toMatchObject({
    slug: 'tidy-a-desk',
    title: 'tidy-a-desk',
    description: 'Makes room.',
    license: 'CC0-1.0',
    tags: ['home', 'order'],
    body_md,
    front_matter: { name: 'tidy-a-desk', metadata: { tags: 'home, order' } },
  });
  expect(body.warnings).toEqual([expect.stringContaining('"colour"')]);
  const broken = await publish(ada, { body_md: '---\n: [unclosed\n---\nText' }).expect(201);
  expect(broken.body.warnings).toEqual([expect.stringContaining('not valid YAML')]);
});

test('one hundred concurrent publishes of the same title get one hundred slugs', async () => {
  // On a busy machine some hear 503 instead of waiting longer for a connection, and ask again as clients do: while the
  // first request is still under way the answer is 409.
  const publishWithRetry = (key: string) =>
    waitUntil(async () => {
      const response = await publish(ada, { title: 'The same title' }).set('Idempotency-Key', key);
      return response.status !== 503 && response.body.code !== 'in_flight' && response;
    });
  const responses = await Promise.all(Array.from({ length: 100 }, (_, n) => publishWithRetry(`same-${n}`)));
  expect(responses.map(({ status }) => status)).toEqual(Array(100).fill(201));
  expect(new Set(responses.map(({ body }) => body.slug)).size).toBe(100);
});

test('of simultaneous requests for one slug one gets it, and no other after its deletion', async () => {
  const responses = await Promise.all(Array.from({ length: 20 }, () => publish(ada, { slug: 'wanted-by-all' })));
  expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
  await api.as(ada).delete('/api/v1/skills/wanted-by-all').expect(204);
  await publish(bob, { slug: 'wanted-by-all' }).expect(409);
  await purgeDeletedSkills(api.database.prisma, new Date(Date.now() + 1_000));
  await publish(bob, { slug: 'wanted-by-all' }).expect(409);
  const derived = await publish(bob, { title: 'Wanted by all' }).expect(201);
  expect(derived.body.slug).not.toBe('wanted-by-all');
  await get(ada, 'wanted-by-all').expect(404);
});

test('a change of text is a version, a change of visibility is not; both are announced, old versions kept', async () => {
  const { slug } = (await publish(ada, { title: 'In versions' })).body;
  const patch = (body: object) => api.as(ada).patch(`/api/v1/skills/${slug}`).send(body);
  expect((await patch({ body_md: 'Second text', message: 'better' }).expect(200)).body).toMatchObject({ version: 2 });
  expect((await patch({ visibility: 'public' }).expect(200)).body).toMatchObject({ version: 2, visibility: 'public' });
  expect((await patch({ body_md: 'Second text' }).expect(200)).body.version).toBe(2);
  await patch({}).expect(400);
  await patch({ title: '' }).expect(400);
  await patch({ title: 'x', expected_version: 1 }).expect(409);
  const { body: versions } = await api.as(ada).get(`/api/v1/skills/${slug}/versions`).expect(200);
  expect(versions).toMatchObject([{ version: 2, message: 'better' }, { version: 1 }]);
  const { body: first } = await api.as(ada).get(`/api/v1/skills/${slug}/versions/1`).expect(200);
  expect(first.body_md).toBe(BODY);
  await api.as(ada).get(`/api/v1/skills/${slug}/versions/9`).expect(404);
  for (const number of ['Infinity', '1e999', 'NaN', '-1'])
    await api.as(ada).get(`/api/v1/skills/${slug}/versions/${number}`).expect(400);
  await api.as(bob).get(`/api/v1/skills/${slug}/versions`).expect(403);
  expect(await api.listOutboxTypes()).toContain('skill.changed.v1');
});

test('concurrent changes each create their own version', async () => {
  const { slug } = (await publish(ada, { title: 'Changed by many' })).body;
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      api
        .as(ada)
        .patch(`/api/v1/skills/${slug}`)
        .send({ body_md: `Text ${index}` }),
    ),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect((await get(ada, slug)).body.version).toBe(9);
});

test('deleted and restored, it is unchanged; after thirty days it is gone', async () => {
  const { slug } = (await publish(ada, { title: 'Comes back', visibility: 'public' })).body;
  const restore = () => api.as(ada).post(`/api/v1/skills/${slug}/restore`);
  await restore().expect(200);
  await api.as(ada).delete(`/api/v1/skills/${slug}`).expect(204);
  await api.as(ada).delete(`/api/v1/skills/${slug}`).expect(410);
  await api.as(bob).delete(`/api/v1/skills/${slug}`).expect(404);
  const { body: deleted } = await api.as(ada).get('/api/v1/me/skills?deleted=true').expect(200);
  expect(deleted).toContainEqual(expect.objectContaining({ slug, deleted_at: expect.any(String) }));
  await api.as(bob).post(`/api/v1/skills/${slug}/restore`).expect(404);
  expect((await restore().expect(200)).body).toMatchObject({ slug, body_md: BODY, deleted_at: null });
  await api.as(ada).delete(`/api/v1/skills/${slug}`).expect(204);
  await api.database.pool.query("UPDATE skills SET deleted_at = now() - interval '31 days' WHERE slug = $1", [slug]);
  await restore().expect(410);
  expect(await api.listOutboxTypes()).toContain('skill.deleted.v1');
});

test('concurrent saves count as one; saving and dropping again count', async () => {
  const { slug } = (await publish(ada, { title: 'Worth saving' })).body;
  await Promise.all(Array.from({ length: 20 }, () => api.as(bob).post(`/api/v1/skills/${slug}/save`).expect(200)));
  expect((await get(bob, slug)).body).toMatchObject({ saved: true, saves: 1, owned: false });
  const library: { slug: string }[] = (await api.as(bob).get('/api/v1/me/library')).body;
  expect(library.filter((one) => one.slug === slug)).toEqual([expect.objectContaining({ saved: true })]);
  await Promise.all(Array.from({ length: 5 }, () => api.as(bob).delete(`/api/v1/skills/${slug}/save`).expect(204)));
  expect((await get(bob, slug)).body).toMatchObject({ saved: false, saves: 0 });
});

test('a saved skill that turns private leaves the list, and can still be dropped', async () => {
  const { slug } = (await publish(ada, { title: 'Turns private' })).body;
  await api.as(bob).post(`/api/v1/skills/${slug}/save`).expect(200);
  await api.as(ada).patch(`/api/v1/skills/${slug}`).send({ visibility: 'private' }).expect(200);
  expect(JSON.stringify((await api.as(bob).get('/api/v1/me/library')).body)).not.toContain(slug);
  await api.as(bob).delete(`/api/v1/skills/${slug}/save`).expect(204);
  await api.as(bob).delete(`/api/v1/skills/${slug}/save`).expect(404);
});

test('sharing lists the addresses, names each invalid one, and revokes them', async () => {
  const { slug } = (await publish(ada, { title: 'For a few', visibility: 'private' })).body;
  const share = (body: object) => api.as(ada).post(`/api/v1/skills/${slug}/share`).send(body);
  const bad = await share({ emails: ['ok@example.test', 'nobody', 'a@b', 'x y@example.test'] }).expect(400);
  expect(bad.body.details.map((problem: { path: string }) => problem.path)).toEqual([
    'emails.1',
    'emails.2',
    'emails.3',
  ]);
  expect((await share({ emails: [bob.email.toUpperCase(), 'eve@example.test'] }).expect(200)).body.emails).toHaveLength(
    2,
  );
  await get(bob, slug).expect(200);
  expect((await share({ emails: [], remove: [bob.email] }).expect(200)).body.emails).toEqual(['eve@example.test']);
  await get(bob, slug).expect(404);
  await share({ emails: Array.from({ length: 200 }, (_, index) => `n${index}@example.test`) }).expect(409);
  await api.as(bob).get(`/api/v1/skills/${slug}/share`).expect(404);
  expect((await api.as(ada).get(`/api/v1/skills/${slug}/share`).expect(200)).body.emails).toEqual(['eve@example.test']);
});

test('a member’s own folder and tags are invisible to others, and lists can be filtered by them', async () => {
  const { slug } = (await publish(ada, { title: 'Filed twice', tags: ['general'], folder: 'Ours' })).body;
  await api.as(bob).post(`/api/v1/skills/${slug}/save`).expect(200);
  const putOverride = (body: object) => api.as(bob).put(`/api/v1/me/skills/${slug}/override`).send(body);
  expect((await putOverride({ folder: 'Later', tags: ['mine', 'Mine'] }).expect(200)).body).toEqual({
    slug,
    folder: 'Later',
    tags: ['mine'],
  });
  expect((await get(ada, slug)).body).toMatchObject({ folder: 'Ours', tags: ['general'] });
  const countListed = async (query: string) =>
    (await api.as(bob).get(`/api/v1/me/skills?${query}`).expect(200)).body.length;
  expect([await countListed('folder=Later'), await countListed('tag=mine'), await countListed('tag=general')]).toEqual([
    1, 1, 0,
  ]);
  for (const list of ['skills', 'library']) {
    for (const query of ['folder=', 'tag=']) await api.as(bob).get(`/api/v1/me/${list}?${query}`).expect(400);
  }
  expect((await putOverride({}).expect(200)).body).toEqual({ slug, folder: null, tags: ['general'] });
  await putOverride({ tags: Array(51).fill('x') }).expect(400);
});

test('my list holds owned and saved skills, newest first, in pages that follow a link', async () => {
  const carol = api.person();
  for (const title of ['One of mine', 'Two of mine', 'Three of mine']) await publish(carol, { title }).expect(201);
  const { slug } = (await publish(ada, { title: 'Somebody else’s' })).body;
  await api.as(carol).post(`/api/v1/skills/${slug}/save`).expect(200);
  const first = await api.as(carol).get('/api/v1/me/skills?limit=3').expect(200);
  const next = /<(.+)>; rel="next"/.exec(first.headers.link as string)?.[1] as string;
  const second = await api.as(carol).get(next).expect(200);
  expect(second.headers.link).toBeUndefined();
  const titles = [...first.body, ...second.body].map((skill) => skill.title);
  expect(titles).toEqual(['Somebody else’s', 'Three of mine', 'Two of mine', 'One of mine']);
  expect((await api.as(carol).get('/api/v1/me/skills?relation=owned')).body).toHaveLength(3);
  expect(first.body[0]).not.toHaveProperty('body_md');
});

test('reading counts as a view, after the response', async () => {
  const { slug } = (await publish(ada, { title: 'Is looked at' })).body;
  await Promise.all([get(null, slug), get(bob, slug), api.as(null).get(`/s/${slug}`)]);
  await api.views.flush();
  expect((await get(ada, slug)).body.views).toBe(3);
});

test('two requests with one Idempotency-Key create one skill', async () => {
  const send = () => publish(ada, { title: 'Only once' }).set('Idempotency-Key', 'publish-1');
  const [once, again] = [await send(), await send()];
  expect(again.body).toEqual(once.body);
});

test('a workspace token owns nothing, and a member who left has no access by key or otherwise', async () => {
  await publish(api.workspaceToken(ada.workspaceId)).expect(403);
  const leaver = api.person();
  const { key } = await api.apiKey(leaver);
  await publish(key).expect(201);
  api.removeFromWorkspaces(leaver);
  await publish(key).expect(401);
});

test.each([
  ['too short', 'ab'],
  ['in capitals', 'Not-A-Slug'],
  ['too long', 'a'.repeat(150)],
  ['much too long', 'a'.repeat(6_000)],
  ['with a space', 'a%20slug'],
])('an impossible slug is not found, like an unknown one: %s', async (_why, slug) => {
  for (const path of [`/api/v1/skills/${slug}`, `/api/v1/skills/${slug}/share`, `/api/v1/libraries/${slug}`]) {
    expect((await api.as(ada).get(path)).body).toMatchObject({ code: 'not_found' });
  }
});
