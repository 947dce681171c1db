import { setupResource } from '@gantry/testing';
import { type TestPerson, testSkillsApi } from '../test/test-skills-api';
import { searchSkills } from './search-skills';

const api = testSkillsApi();
const ada = setupResource(() => api.person());
beforeAll(async () => {
  for (const [title, body_md, tags] of [
    ['Deploy a service', 'Roll it out slowly and watch the graphs.', ['kubernetes']],
    ['Bake bread', 'Knead well. Mention of deploy only here, deep in the text.', ['kitchen']],
    ['<b>Bold</b> claims', 'Rhetoric & <script>alert(1)</script> persuasion', ['speech']],
    ['日本語のスキル', '検索 してみる', ['東京']],
  ] as const) {
    await api.as(ada).post('/api/v1/skills').send({ title, body_md, tags, visibility: 'public' }).expect(201);
  }
});

const search = async (q: string, person: TestPerson | null = null) =>
  (
    await api
      .as(person)
      .get(`/api/v1/search?q=${encodeURIComponent(q)}`)
      .expect(200)
  ).body;
const titles = async (q: string) => (await search(q)).map((hit: { title: string }) => hit.title);

test('a title ranks higher than the text, and other forms of a word are found', async () => {
  expect(await titles('deploying')).toEqual(['Deploy a service', 'Bake bread']);
  expect(await titles('kitchen')).toEqual(['Bake bread']);
});

test('the beginning of a word matches, and a misspelt word is tolerated', async () => {
  expect(await titles('kube')).toEqual(['Deploy a service']);
  expect(await titles('kubrenetes')).toEqual(['Deploy a service']);
  expect((await titles('dpeloy a servcie'))[0]).toBe('Deploy a service');
  expect(await titles('xylophone')).toEqual([]);
});

test('without pg_trgm words and their beginnings are still found', async () => {
  const anybody = { userId: null, workspaceId: null, email: null, member: null };
  const find = (q: string) => searchSkills(api.database.prisma, anybody, q, { limit: 10, offset: 0 }, false);
  expect(await find('kube')).toHaveLength(1);
  expect(await find('kubrenetes')).toHaveLength(0);
});

test('highlights are pieces of plain text', async () => {
  const [hit] = await search('rhetoric');
  expect(hit.highlights.title).toEqual([{ text: '<b>Bold</b> claims', matched: false }]);
  expect(hit.highlights.excerpt).toContainEqual({ text: 'Rhetoric', matched: true });
});

test('an excerpt comes from the text, not from its front matter', async () => {
  const body_md = '---\nname: hedgehog\nlicense: CC0-1.0\n---\n\nThe hedgehog rolls up.\n\n---\n\nAnd sleeps.';
  await api.as(ada).post('/api/v1/skills').send({ title: 'Animals', body_md, visibility: 'public' }).expect(201);
  const [hit] = await search('hedgehog');
  const excerpt = hit.highlights.excerpt.map((piece: { text: string }) => piece.text).join('');
  expect(excerpt).toContain('hedgehog rolls up');
  expect(excerpt).not.toContain('CC0');
});

test('an unlisted skill is found only by its owner and by members who saved it', async () => {
  const { body } = await api.as(ada).post('/api/v1/skills').send({ title: 'Quixotic plan', body_md: 'x' }).expect(201);
  const reader = api.person();
  expect([await search('quixotic'), await search('quixotic', reader)]).toEqual([[], []]);
  await api.as(reader).post(`/api/v1/skills/${body.slug}/save`).expect(200);
  expect(await search('quixotic', reader)).toHaveLength(1);
  expect(await search('quixotic', ada)).toHaveLength(1);
});

test.each([
  `'`,
  `a' OR 1=1 --`,
  '& | ! ( )',
  ':*',
  '"unclosed',
  '\\',
  'the',
  '🎉',
  '%',
  'a'.repeat(200),
  '日本語のスキル',
  `${'x '.repeat(99)}`,
])('any text is a valid query: %j', async (q) => {
  expect(Array.isArray(await search(q))).toBe(true);
});

test('no query, an empty one or one that is too long is 400', async () => {
  for (const query of ['', '?q=', '?q=%20', `?q=${'a'.repeat(201)}`, '?q=%00', '?q=x&limit=0', '?q=x&limit=201']) {
    await api.as(null).get(`/api/v1/search${query}`).expect(400);
  }
});

test.each([
  ['"cat cat cat cat dog"', `${'cat '.repeat(5_000)}dog`],
  ['hen hen hen hen pig', `${'hen '.repeat(5_000)}pig`],
  ['ox cow ant', `${'ox '.repeat(2_000)}${'cow '.repeat(2_000)}${'ant '.repeat(1_000)}`],
  ['goat', '<!-- goat '.repeat(4_000)],
])(
  'a text that is crafted for the query %j is found, and marked without trying all positions of its words',
  async (q, body_md) => {
    const input = { title: 'Made for a question', body_md, visibility: 'public' };
    const { body } = await api.as(ada).post('/api/v1/skills').send(input).expect(201);
    const hits = await search(q);
    expect(hits.map(({ slug }: { slug: string }) => slug)).toContain(body.slug);
    expect(hits[0].highlights.excerpt).toContainEqual({ text: expect.any(String), matched: true });
  },
);

test.each(['<!--', '-', '- ', '-"', '"-', '-"-', '-!', '--a', '-"a', '(-', ' or -'])(
  'a query that is full of %j gets a response',
  async (piece) => {
    await api
      .as(null)
      .get(`/api/v1/search?q=${encodeURIComponent(piece.repeat(200).slice(0, 200))}`)
      .expect((response) => expect([200, 400]).toContain(response.status));
  },
);

test('pages of hits follow a link', async () => {
  for (let i = 0; i < 3; i++)
    await api.as(ada).post('/api/v1/skills').send({ title: 'Paginated', body_md: 'x', visibility: 'public' });
  const first = await api.as(null).get('/api/v1/search?q=paginated&limit=2').expect(200);
  const next = /<(.+)>; rel="next"/.exec(first.headers.link as string)?.[1] as string;
  const second = await api.as(null).get(next).expect(200);
  expect(new Set([...first.body, ...second.body].map((hit) => hit.slug)).size).toBe(3);
});
