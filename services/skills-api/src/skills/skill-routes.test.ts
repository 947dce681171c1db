import { startTestSkillsApi, type TestPerson, type TestSkillsApi } from '../test/test-skills-api';

let api: TestSkillsApi;
let ada: TestPerson;

beforeAll(async () => {
  api = await startTestSkillsApi();
  ada = api.person();
});
afterAll(() => api.stop());

const BODY = '# Hello\n\nRead *this*.\n';
const publish = (person: TestPerson | string, body: object = {}) =>
  api
    .as(person)
    .post('/api/v1/skills')
    .send({ title: 'Say hello', body_md: BODY, ...body });

test('publishing answers with the skill, unlisted unless said otherwise, and announces it', async () => {
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
  expect(await api.announced()).toContain('skill.published.v1');
});
