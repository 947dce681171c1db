import { setupResource } from '@gantry/testing';
import request from 'supertest';
import { SKILLS_URL, type TestPerson, testSkillsApi } from '../test/test-skills-api';

const api = testSkillsApi();
const ada = setupResource(() => api.person());

async function publish(input: object = {}): Promise<string> {
  const whole = { title: 'A page', body_md: '# Top\n\nText', visibility: 'public', ...input };
  return (await api.as(ada).post('/api/v1/skills').send(whole).expect(201)).body.slug;
}
const get = (path: string, headers: Record<string, string> = {}) => api.as(null).get(path).set(headers);

test('a page is complete without a script: heading, text, tags, Open Graph, formats, install lines', async () => {
  const slug = await publish({ title: 'Tea & "cake" <3', description: 'Five o’clock', tags: ['tea'] });
  const { text, headers } = await get(`/s/${slug}`).expect(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(text).toContain('<h1 dir="auto">Tea &amp; &quot;cake&quot; &lt;3</h1>');
  expect(text).toContain('<meta property="og:title" content="Tea &amp; &quot;cake&quot; &lt;3">');
  expect(text).toContain(`<link rel="canonical" href="http://skills.test/s/${slug}">`);
  expect(text).toContain('<h2 id="h-top">Top</h2>');
  expect(text).toContain(
    `curl -fsSL http://skills.test/.well-known/agent-skills/${slug}/SKILL.md -o .agents/skills/${slug}/SKILL.md`,
  );
  const [stylesheet = '', script = ''] = text.match(/\/assets\/(skills|copy)\.[\w.]+/g) ?? [];
  for (const file of [stylesheet, script]) {
    expect((await get(file).expect(200)).headers['cache-control']).toBe('public, max-age=31536000, immutable');
  }
});

test('a suffix takes precedence over Accept; without one Accept decides, and a page is the default', async () => {
  const slug = await publish();
  const getMediaType = async (path: string, accept?: string) =>
    (await get(path, accept ? { Accept: accept } : {}).expect(200)).headers['content-type']?.split(';')[0];
  expect(await getMediaType(`/s/${slug}`)).toBe('text/html');
  expect(await getMediaType(`/s/${slug}`, 'text/html,application/xhtml+xml,*/*;q=0.8')).toBe('text/html');
  expect(await getMediaType(`/s/${slug}`, 'text/markdown')).toBe('text/markdown');
  expect(await getMediaType(`/s/${slug}`, 'application/json')).toBe('application/json');
  expect(await getMediaType(`/s/${slug}`, 'image/png')).toBe('text/html');
  expect(await getMediaType(`/s/${slug}.md`, 'application/json')).toBe('text/markdown');
  expect(await getMediaType(`/s/${slug}.json`, 'text/html')).toBe('application/json');
});

test('a text that begins with its title shows it once, and its headings stay where they are', async () => {
  const { text } = await get(`/s/${await publish({ title: 'Twice', body_md: '# Twice\n\n## Below\n\nText' })}`).expect(
    200,
  );
  expect(text.match(/>Twice</g)).toHaveLength(1);
  expect(text).toContain('<h2 id="h-below">Below</h2>');
});

test('HEAD responds like GET, without a body', async () => {
  const path = `/s/${await publish()}`;
  const { headers, text } = await request(api.app).head(path).expect(200);
  expect(text).toBeFalsy();
  expect(headers.etag).toBe((await get(path)).headers.etag);
  await request(api.app).head('/s/no-such-skill').expect(404);
});

test('the Markdown is byte for byte the published one', async () => {
  const body_md = '---\nname: x\n---\r\n\r\nText  \n\n\tcode 🎉\n';
  const slug = await publish({ body_md });
  expect((await get(`/s/${slug}.md`).expect(200)).text).toBe(body_md);
});

test('all formats share an ETag, which gives 304 until the skill changes', async () => {
  const slug = await publish();
  const { etag } = (await get(`/s/${slug}`)).headers as { etag: string };
  for (const path of [`/s/${slug}`, `/s/${slug}.md`, `/s/${slug}.json`]) {
    const again = await get(path, { 'If-None-Match': etag }).expect(304);
    expect(again.text).toBe('');
    expect(again.headers.etag).toBe(etag);
  }
  await api.as(ada).patch(`/api/v1/skills/${slug}`).send({ body_md: 'Other' }).expect(200);
  expect((await get(`/s/${slug}`, { 'If-None-Match': etag }).expect(200)).headers.etag).not.toBe(etag);
});

test('a public skill is revalidated each time; a private one is never stored', async () => {
  const getCaching = async (slug: string, person: TestPerson | null) => {
    const { headers } = await api.as(person).get(`/s/${slug}`).expect(200);
    expect(headers.vary).toContain('Authorization, Cookie');
    return headers['cache-control'];
  };
  expect(await getCaching(await publish(), null)).toBe('public, no-cache');
  expect(await getCaching(await publish(), ada)).toBe('private, no-cache');
  expect(await getCaching(await publish({ visibility: 'unlisted' }), null)).toBe('private, no-cache');
  expect(await getCaching(await publish({ visibility: 'private' }), ada)).toBe('private, no-store');
});

test('deleted or made private, it stays in no cache: a revalidation is refused', async () => {
  for (const withdraw of [
    (slug: string) => api.as(ada).delete(`/api/v1/skills/${slug}`),
    (slug: string) => api.as(ada).patch(`/api/v1/skills/${slug}`).send({ visibility: 'private' }),
  ]) {
    const slug = await publish();
    const { etag } = (await get(`/s/${slug}`)).headers as { etag: string };
    await withdraw(slug);
    for (const path of [`/s/${slug}`, `/s/${slug}.md`, `/s/${slug}.json`, `/s/${slug}.zip`]) {
      const { headers } = await get(path, { 'If-None-Match': etag }).expect(404);
      expect(headers['cache-control']).toBe('no-store');
    }
  }
});

test('a missing skill is a page for people and an error for programs', async () => {
  expect((await get('/s/no-such-skill').expect(404)).text).toContain('<h1>Not found</h1>');
  expect((await get('/s/no-such-skill.json').expect(404)).body.code).toBe('not_found');
  expect((await get('/l/no-such-library').expect(404)).text).toContain('<h1>Not found</h1>');
  await get('/s/..%2f..%2fetc%2fpasswd').expect(404);
  // The gateway refuses it already.
  await get('/s/%00').expect(400);
  const slug = await publish({ title: 'Went away' });
  await api.as(ada).delete(`/api/v1/skills/${slug}`).expect(204);
  expect((await api.as(ada).get(`/s/${slug}`).expect(410)).text).toContain('<h1>Deleted</h1>');
});

test.each([
  ['emoji', '🎉🎉'],
  ['Arabic', 'مرحبا بالعالم'],
  ['Hebrew with Latin', 'שלום world'],
  ['combining marks', 'Z̸̡͓a̷l̵g̶o'],
  ['a reserved word', 'API'],
])('a title of %s gets a page of its own', async (_what, title) => {
  const slug = await publish({ title, body_md: title });
  expect((await get(`/s/${slug}`).expect(200)).text).toContain(`<h1 dir="auto">${title}</h1>`);
});

test('the front page lists public skills and searches them, with highlighted matches', async () => {
  const slug = await publish({ title: 'Zymurgy for beginners' });
  const hidden = await publish({ title: 'Zymurgy in secret', visibility: 'unlisted' });
  expect((await get('/').expect(200)).text).toContain(`href="/s/${slug}"`);
  const { text } = await get('/?q=zymurgy').expect(200);
  expect(text).toContain('<mark>Zymurgy</mark> for beginners');
  expect(text).not.toContain(hidden);
  expect((await get('/?q=%3Cscript%3E').expect(200)).text).toContain('&lt;script&gt;');
});

test("the document of the surface names this surface's own address", async () => {
  const { body } = await get('/openapi.json').expect(200);
  expect(body.servers).toEqual([{ url: SKILLS_URL }]);
});

test('the typeface, the mark and the icon come from this origin and are cached for good', async () => {
  const { text, headers } = await get(`/s/${await publish()}`).expect(200);
  expect(headers['content-security-policy']).toContain("font-src 'self'");
  const stylesheet = await get(text.match(/\/assets\/skills\.[\w.]+css/)?.[0] ?? '').expect(200);
  const files = stylesheet.text.match(/(?<=url\()[^)]+/g) ?? [];
  const fonts = files.filter((file) => file.endsWith('.woff2'));
  const marks = files.filter((file) => file.endsWith('.svg'));
  const [icon = ''] = text.match(/\/assets\/favicon\.[\w.]+svg/) ?? [];
  expect([fonts.length, marks.length]).toEqual([2, 2]);
  expect(fonts.some((font) => text.includes(`<link rel="preload" href="${font}"`))).toBe(true);
  for (const file of [...fonts, ...marks, icon]) {
    const response = await get(file).expect(200);
    expect([file, response.headers['content-type'], response.headers['cache-control']]).toEqual([
      file,
      file.endsWith('.woff2') ? 'font/woff2' : 'image/svg+xml',
      'public, max-age=31536000, immutable',
    ]);
  }
});
