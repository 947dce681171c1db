import { createHash } from 'node:crypto';
import { buildRawZip, createZip, setupResource } from '@gantry/testing';
import type { Response } from 'supertest';
import { testSkillsApi } from '../test/test-skills-api';
import { readSkillZip } from './skill-zip';

const api = testSkillsApi();
const ada = setupResource(() => api.person());

const upload = (zip: Buffer, field = 'bundle') =>
  api.as(ada).post('/api/v1/skills/import').attach(field, zip, 'skill.zip');
const buildSkillMd = (name: string) => `---\nname: ${name}\ndescription: Comes in a folder.\n---\n\nText\n`;
const SKILL_MD = buildSkillMd('from-a-zip');

test('the digest in the index is that of the file behind it, before and after a change', async () => {
  const { body } = await api
    .as(ada)
    .post('/api/v1/skills')
    .send({ title: 'In the index', body_md: 'Text', visibility: 'public' });
  for (const version of [1, 2]) {
    const { body: index } = await api.as(null).get('/.well-known/agent-skills/index.json').expect(200);
    const entry = index.skills.find((skill: { name: string }) => skill.name === body.slug);
    expect(entry).toMatchObject({ type: 'skill-md', description: 'In the index' });
    const { text } = await api.as(null).get(new URL(entry.url).pathname).expect(200);
    expect(entry.digest).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`);
    expect(text).toMatch(new RegExp(`^---\\nname: ${body.slug}\\ndescription: In the index\\n---\\n\\n`));
    if (version === 1) await api.as(ada).patch(`/api/v1/skills/${body.slug}`).send({ body_md: 'Other 🎉' }).expect(200);
  }
});

test('the index is paginated and supports 304', async () => {
  for (const title of ['One', 'One more']) {
    await api.as(ada).post('/api/v1/skills').send({ title, body_md: 'Text', visibility: 'public' }).expect(201);
  }
  const { headers } = await api.as(null).get('/.well-known/agent-skills/index.json?limit=1').expect(200);
  expect(headers.link).toContain('offset=1');
  await api
    .as(null)
    .get('/.well-known/agent-skills/index.json?limit=1')
    .set('If-None-Match', headers.etag as string)
    .expect(304);
});

test('a skill is exported as a zip and imported as the same skill', async () => {
  const published = await upload(
    await createZip({ 'from-a-zip/SKILL.md': SKILL_MD, 'from-a-zip/scripts/run.py': 'print()' }),
  ).expect(201);
  expect(published.body).toMatchObject({
    slug: 'from-a-zip',
    description: 'Comes in a folder.',
    visibility: 'unlisted',
  });
  expect(published.body.warnings).toEqual([expect.stringContaining('scripts/run.py')]);
  const { body: zip, headers } = await api
    .as(null)
    .get('/s/from-a-zip.zip')
    .buffer(true)
    .parse(parseBinary)
    .expect(200);
  expect(headers['content-disposition']).toBe('attachment; filename=from-a-zip.zip');
  expect(await readSkillZip(zip)).toEqual({ body: SKILL_MD, others: [] });
  const again = await api.as(null).get('/s/from-a-zip.zip').buffer(true).parse(parseBinary).expect(200);
  expect(again.body.equals(zip)).toBe(true);
});

test.each([
  ['no zip', async () => Buffer.from('not a zip'), 400],
  ['no SKILL.md', () => createZip({ 'README.md': 'x' }), 400],
  ['SKILL.md too deep', () => createZip({ 'a/b/SKILL.md': SKILL_MD }), 400],
  ['two SKILL.md', () => createZip({ 'a/SKILL.md': SKILL_MD, 'b/SKILL.md': SKILL_MD }), 400],
  ['SKILL.md that is no text', () => createZip({ 'SKILL.md': Buffer.from([0xff, 0xfe, 0x00]) }), 400],
  ['a bomb', () => createZip({ 'SKILL.md': Buffer.alloc(50 * 1024 * 1024, 0x61) }), 413],
  ['a hostile zip', async () => buildRawZip([{ name: '../SKILL.md' }]), 400],
  ['a SKILL.md with a wrong checksum', async () => buildRawZip([{ name: 'SKILL.md', crc: 1 }]), 400],
  ['a link beside SKILL.md', async () => buildRawZip([{ name: 'SKILL.md' }, { name: 'a', mode: 0o120777 }]), 400],
  [
    '201 files',
    () => createZip(Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`${index}.txt`, 'x']))),
    400,
  ],
  ['more than 1 MB', async () => Buffer.alloc(1024 * 1024 + 1), 413],
])('%s is refused', async (_what, make, status) => {
  await upload(await make()).expect(status);
});

test('the field is named, and one Idempotency-Key distinguishes different zips', async () => {
  expect((await upload(await createZip({ 'SKILL.md': SKILL_MD }), 'file')).status).toBe(400);
  const send = async (text: string) =>
    upload(await createZip({ 'SKILL.md': `${buildSkillMd('with-a-key')}${text}` })).set('Idempotency-Key', 'zip-1');
  const once = await send('one');
  expect(once.status).toBe(201);
  expect((await send('another')).status).toBe(422);
});

const parseBinary = (res: Response, done: (err: Error | null, body: Buffer) => void) => {
  const chunks: Buffer[] = [];
  const stream = res as unknown as NodeJS.ReadableStream;
  stream.on('data', (chunk) => chunks.push(chunk));
  stream.on('end', () => done(null, Buffer.concat(chunks)));
};
