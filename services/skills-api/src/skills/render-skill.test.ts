import { setupResource } from '@gantry/testing';
import { testSkillsApi } from '../test/test-skills-api';

const api = testSkillsApi();
const ada = setupResource(() => api.person());
const render = (body: object) => api.as(ada).post('/api/v1/skills/render').send(body);

test('a draft is rendered exactly like its page, and nothing of it is stored', async () => {
  const title = 'Brew tea';
  const body_md =
    '---\nname: tea\nserves: 2\n---\n# Brew tea\n\n## Steps\n\n| a | b |\n|---|---|\n| 1 | <b>2</b> |\n\n```js\nlet x\n```';
  const { body } = await render({ title, body_md }).expect(200);
  expect(body).toMatchObject({
    plain: null,
    front_matter: { name: 'tea' },
    warnings: [expect.stringContaining('serves')],
  });
  expect(body.html).toContain('<h2 id="h-steps">Steps</h2>');
  expect(body.html).not.toContain('Brew tea');
  expect((await api.as(ada).get('/api/v1/me/skills')).body).toEqual([]);
  const { body: skill } = await api.as(ada).post('/api/v1/skills').send({ title, body_md, visibility: 'public' });
  expect((await api.as(null).get(`/s/${skill.slug}`)).text).toContain(body.html);
});

test('without a title no heading is omitted, and its headings are below the page’s', async () => {
  const { body } = await render({ body_md: '# Brew tea' }).expect(200);
  expect(body.html).toBe('<h2 id="h-brew-tea">Brew tea</h2>\n');
});

test('executable markup becomes text, and a text that is too large is refused', async () => {
  const { body } = await render({ body_md: '<img src=x onerror=alert(1)> [x](javascript:alert(1))' }).expect(200);
  expect(body.html).toContain('&lt;img');
  expect(body.html).not.toContain('href="javascript');
  await render({ body_md: 'a'.repeat(300_000) }).expect(413);
});

test('the workspace sees what its members have published or shared with the reader, and nothing else', async () => {
  const author = api.person();
  const colleague = api.person({ workspaceId: author.workspaceId });
  const stranger = api.person();
  const publish = (person: typeof author, title: string, visibility: string) =>
    api.as(person).post('/api/v1/skills').send({ title, body_md: 'x', visibility }).expect(201);
  await publish(colleague, 'Of a colleague', 'public');
  await publish(colleague, 'Behind a link', 'unlisted');
  await publish(colleague, 'Kept', 'private');
  const { body: shared } = await publish(colleague, 'Shared', 'private');
  await api
    .as(colleague)
    .post(`/api/v1/skills/${shared.slug}/share`)
    .send({ emails: [author.email] })
    .expect(200);
  await publish(author, 'My own', 'public');
  await publish(author, 'My draft', 'private');
  await publish(stranger, 'From elsewhere', 'public');
  const titles = async (person: typeof author) =>
    (await api.as(person).get('/api/v1/workspace/skills').expect(200)).body.map(
      ({ title }: { title: string }) => title,
    );
  expect(await titles(author)).toEqual(['My own', 'Shared', 'Of a colleague']);
  expect(await titles(stranger)).toEqual(['From elsewhere']);
});
