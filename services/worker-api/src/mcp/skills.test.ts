/**
 * The Skills extension, read by the client of the SDK, which verifies what it reads; a stand-in is the skills surface.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { connectMcp } from '../test/connect-mcp';
import { startTestWorkerApi, type TestWorkerApi } from '../test/test-worker-api';

const TEXT = '---\nname: whatever\nlicense: MIT\n---\n# Review\n\nRead the "tests" first.\n';
const own = Array.from({ length: 101 }, (_, n) => ({ slug: `skill-${n}`, title: `Skill ${n}`, description: '' }));
const review = { slug: 'review', title: 'Review', description: 'How we "read": changes', body_md: TEXT };

let api: TestWorkerApi;
let surface: http.Server;
/** The credentials of requests to the surface. */
let asked: (string | undefined)[] = [];

beforeAll(async () => {
  surface = http.createServer((req, res) => {
    asked.push(req.headers.authorization);
    const url = new URL(req.url ?? '/', 'http://skills');
    const answer = (status: number, body: unknown) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/api/v1/skills/review') return answer(200, review);
    if (url.pathname !== '/api/v1/me/skills') return answer(404, { detail: 'no such skill' });
    const [offset, limit] = [Number(url.searchParams.get('offset')), Number(url.searchParams.get('limit'))];
    return answer(200, [review, ...own].slice(offset, offset + limit));
  });
  await new Promise<void>((resolve) => surface.listen(0, '127.0.0.1', resolve));
  api = await startTestWorkerApi({ skillsUrl: `http://127.0.0.1:${(surface.address() as AddressInfo).port}` });
});
afterAll(async () => {
  await api?.stop();
  surface?.closeAllConnections();
  surface?.close();
});
beforeEach(() => {
  asked = [];
});

test.each(['auto', 'legacy'] as const)('skills are listed in pages, and one is read and verified: %s', async (era) => {
  const { token } = await api.createToken('personal', api.owner.jwt);
  const client = await connectMcp(api, token, { era });
  const skills = new SkillsClient(client);
  expect(skills.supported).toBe(true);
  const { skills: listed } = await skills.list();
  expect(listed).toHaveLength(102);
  expect(listed.slice(0, 2)).toMatchObject([
    { uri: 'skill://review/SKILL.md', frontmatter: { name: 'review', description: 'How we "read": changes' } },
    { uri: 'skill://skill-0/SKILL.md', frontmatter: { name: 'skill-0', description: 'Skill 0' } },
  ]);
  const { skill } = await skills.get('skill://review/SKILL.md');
  const file = await skills.read(skill);
  expect(file).toMatchObject({ verified: true, body: expect.stringContaining('# Review\n\nRead the "tests" first.') });
  expect(new Set(asked)).toEqual(new Set([`Bearer ${token}`]));
  await client.close();
});

test('an unreadable skill is not listed, and an address without skills does not offer them', async () => {
  const client = await connectMcp(api, api.owner.jwt);
  const skills = new SkillsClient(client);
  await expect(skills.get('skill://nobody-wrote/SKILL.md')).rejects.toThrow(/no skill at .*, or you can't read it/);
  await expect(client.readResource({ uri: 'skill://nobody-wrote/SKILL.md' })).rejects.toThrow(/not found/i);
  await expect(skills.list({ cursor: '-1' })).rejects.toThrow(/cursor/);
  await client.close();
  const narrow = await connectMcp(api, api.owner.jwt, { query: '?toolsets=runs' });
  expect(new SkillsClient(narrow).supported).toBe(false);
  await narrow.close();
});
