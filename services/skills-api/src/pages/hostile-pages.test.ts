/** Texts built to be expensive are published, shown and searched like others, and delay no other request. */
import { setupResource } from '@gantry/testing';
import { stripTitle } from '../rendering/page-text';
import { hostileMarkdown } from '../test/hostile-markdown';
import { testSkillsApi } from '../test/test-skills-api';

const api = testSkillsApi();
const ada = setupResource(() => api.person());

const CHARS = 200_000;
/** Texts that are expensive for PostgreSQL's parser, and some that are expensive for the renderer. */
const texts: [string, string][] = [
  ['120 KB of comments that begin', '<!--'.repeat(30_000)],
  ['one long word of hyphens and underscores', 'a-b_'.repeat(CHARS / 4)],
  ['addresses without a space', 'http://a.b/c-d?e'.repeat(CHARS / 16)],
  ['one letter', 'a'.repeat(CHARS)],
  ['tags', '<a b="'.repeat(CHARS / 6)],
  ['front matter that never ends', `---\n${'- '.repeat(CHARS / 2)}`],
  ['different words', Array.from({ length: 25_000 }, (_, n) => `w${n}`).join(' ')],
  ...hostileMarkdown
    .filter(([what]) => /spaces$|hashes|references use|quotes$|"\[a\]\(b\)"|csharp of "a b "/.test(what))
    .map(([what, text]): [string, string] => [what, text(CHARS)]),
];

test.each(texts)('%s: published, shown, and found by its first words', async (_what, text) => {
  const word = `zebra${Math.random().toString(36).slice(2, 10)}`;
  const input = { title: 'Made to cost', body_md: `About the ${word}.\n\n${text}`, visibility: 'public' };
  const { body } = await api.as(ada).post('/api/v1/skills').send(input).expect(201);
  const page = await api.as(null).get(`/s/${body.slug}`).expect(200);
  expect(page.text).toContain(word);
  const { body: hits } = await api.as(null).get(`/api/v1/search?q=${word}`).expect(200);
  expect(hits.map(({ slug }: { slug: string }) => slug)).toEqual([body.slug]);
  expect(hits[0].highlights.excerpt).toContainEqual({ text: expect.stringContaining(word), matched: true });
});

test('a page that is shown as plain text is not cached', async () => {
  const body_md = `[a]: /${'b'.repeat(100_000)}\n\n${'[a]'.repeat(30_000)}`;
  const { body } = await api.as(ada).post('/api/v1/skills').send({ title: 'A bomb', body_md, visibility: 'public' });
  const { text, headers } = await api.as(null).get(`/s/${body.slug}`).expect(200);
  expect(text).toContain('shown as plain source');
  expect([headers.etag, headers['cache-control']]).toEqual([undefined, 'no-store']);
});

test.each([
  ['# A title\ntext', 'A title', 'text'],
  ['\n\n  # A title ##  \r\ntext', 'A title', 'text'],
  ['# C#\n', 'C#', ''],
  ['# A title', 'A title', ''],
  ['# Another\ntext', 'A title', '# Another\ntext'],
  ['## A title\ntext', 'A title', '## A title\ntext'],
  ['#A title\n', 'A title', '#A title\n'],
])('%j begins with the title %j or not', (text, title, rest) => {
  expect(stripTitle(text, title)).toBe(rest);
});

test.each([
  `#${' '.repeat(250_000)}x`,
  `# a${' #'.repeat(125_000)}b`,
  `# ${'# '.repeat(125_000)}`,
  ' '.repeat(250_000),
])('a first line of 250,000 characters is read once (%#)', (text) => {
  expect(stripTitle(text, 'A title')).toBe(text);
});
