/**
 * Skills that an agent loads when it needs them: how they are named, copied, described, exported and handed to runs.
 */
import { readZip } from '@gantry/archive';
import { buildRawZip, createZip, setupResource } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { hashText, startSkillsSurface } from '../test/skills-surface';
import { testWorkerApi } from '../test/test-worker-api';

const NOTES = '# Release notes\n\nGroup by kind.\n';
let notes = NOTES;

const surface = setupResource(
  () =>
    startSkillsSurface((slug) => {
      const skill = { title: 'Release notes', description: 'Writes\u202e them', version: 3, body_md: notes };
      return slug === 'release-notes' ? skill : null;
    }),
  ({ stop }) => stop(),
);
const api = testWorkerApi(() => ({ skillsUrl: surface.url }));
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());
beforeEach(() => {
  notes = NOTES;
});

const skillMd = (name: string, description = 'How we write', body = 'Be brief.') =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
const task = { path: 'SKILL.md', content: '# Answer\n\nAnswer the letter.\n' };
const TONE = skillMd('tone');
const tone = [
  { path: 'skills/tone/SKILL.md', content: TONE },
  { path: 'skills/tone/scripts/count.py', content: 'print(1)' },
];
const agent = (id: string, skills: unknown[], files = tone) => ({
  id,
  name: 'Letters',
  runner: 'agent',
  skills,
  files: [task, ...files],
});
const toneSkill = {
  path: 'skills/tone/SKILL.md',
  skill: null,
  version: null,
  name: 'tone',
  description: 'How we write',
  hash: hashText(TONE),
};
const notesSkill = {
  path: 'skills/release-notes/SKILL.md',
  skill: `release-notes@${hashText(NOTES)}`,
  version: 3,
  name: 'release-notes',
  description: 'Writes  them',
  hash: hashText(NOTES),
};
const readContent = async (id: string, path: string) => {
  const { body } = await owner.get(`/api/workers/${id}/files`).expect(200);
  return body.find((one: { path: string }) => one.path === path)?.content;
};

test('a folder of the worker and a copy of a published skill are handed to the run with name and description', async () => {
  const { body } = await owner.post('/api/workers', agent('letters', ['skills/tone/', 'release-notes'])).expect(201);
  expect(body.skills).toEqual([toneSkill, notesSkill]);
  expect(await readContent('letters', notesSkill.path)).toBe(NOTES);
  await owner.post('/api/workers/letters/runs', { inputs: {} }).expect(201);
  const job = await executor.claimJob();
  expect(job).toMatchObject({
    agent: {
      skills: [
        { name: 'tone', description: 'How we write', folder: 'skills/tone' },
        { name: 'release-notes', folder: 'skills/release-notes' },
      ],
    },
  });
  await job.report({ type: 'started' });
  await job.complete({ text: 'Done.' });
});

test('a version is unchanged when the skill changes, and an edited copy needs front matter of its own', async () => {
  const { body: made } = await owner
    .post('/api/workers', agent('steady', ['release-notes', 'skills/tone']))
    .expect(201);
  notes = `${NOTES}New.\n`;
  const same = await owner.patch('/api/workers/steady', { skills: made.skills }).expect(200);
  expect(same.body).toMatchObject({ version: 1, sha: made.sha });
  const renamed = [{ path: 'skills/tone/SKILL.md', content: skillMd('voice') }];
  const edited = await owner.patch('/api/workers/steady', { files: renamed }).expect(200);
  expect(edited.body.skills).toMatchObject([{ name: 'release-notes', version: 3 }, { name: 'voice' }]);
  const change = { files: [{ path: notesSkill.path, content: '# Mine\n' }] };
  const refused = await owner.patch('/api/workers/steady', change).expect(400);
  expect(refused.body).toMatchObject({
    code: 'bad_skill',
    errors: [
      { path: 'skills.0', message: expect.stringContaining(`"${notesSkill.path}", line 1: has no front matter`) },
    ],
  });
  const newer = await owner.patch('/api/workers/steady', { skills: ['release-notes', 'skills/tone'] }).expect(200);
  expect(newer.body.skills[0]).toMatchObject({ skill: `release-notes@${hashText(notes)}` });
  const { body: first } = await owner.get(`/api/workers/steady/versions/${made.sha}`).expect(200);
  expect(first.definition.skills).toEqual(made.skills);
  const { body: compared } = await owner.get(`/api/workers/steady/versions/${newer.body.sha}`).expect(200);
  expect(compared.changes.fields.map(({ field }: { field: string }) => field)).toEqual(['skills']);
  const gone = await owner.patch('/api/workers/steady', { skills: [] }).expect(200);
  expect(gone.body.skills).toEqual([]);
});

test('description and name from an untrusted author are one line without invisible characters', async () => {
  const content = `---\nname: tone\ndescription: "Nice\\u202e\\u200b\\n\\u0007 words\\U000E0041"\n---\n`;
  const files = [{ path: 'skills/tone/SKILL.md', content }];
  const { body } = await owner.post('/api/workers', agent('plain', ['skills/tone'], files)).expect(201);
  expect(body.skills[0].description).toBe('Nice  words');
});

const at = (path: string, content: string) => [{ path, content }];
test.each<[string, unknown[], { path: string; content: string }[], string, RegExp]>([
  ['no file', ['skills/none'], [], 'skills.0', /"skills\/none\/SKILL.md": there is no file at this path/],
  ['no name', ['a/b'], at('a/b/SKILL.md', '---\nx: 1\ndescription: d\n---\n'), 'skills.0', /line 1: name is missing/],
  [
    'name',
    ['a/b'],
    at('a/b/SKILL.md', '---\nx: 1\nname: Big\ndescription: d\n---\n'),
    'skills.0',
    /line 3: name must be/,
  ],
  [
    'description',
    ['a/b'],
    at('a/b/SKILL.md', skillMd('b', 'd'.repeat(1_025))),
    'skills.0',
    /line 3: description has 1025/,
  ],
  [
    'YAML',
    ['a/b'],
    at('a/b/SKILL.md', '---\nname: [\n---\n'),
    'skills.0',
    /line 1: the front matter is not valid YAML/,
  ],
  ['alias bomb', ['a/b'], at('a/b/SKILL.md', '---\nname: &a b\ndescription: *a\n---\n'), 'skills.0', /not valid YAML/],
  [
    'same name',
    ['a/b', 'a/c'],
    [...at('a/b/SKILL.md', TONE), ...at('a/c/SKILL.md', TONE)],
    'skills.1',
    /the same name as "a\/b/,
  ],
  ['twice', ['skills/tone', 'skills/tone/SKILL.md'], tone, 'skills.1', /appears twice/],
  ['absolute', ['/skills/tone'], [], 'skills.0.path', /is absolute/],
  ['encoded', ['skills/%2e%2e/'], [], 'skills.0.path', /not a plain relative path/],
  [
    'another case',
    ['Skills/tone'],
    tone,
    'skills.0',
    /there is no file at this path; a similar path is "skills\/tone\/SKILL\.md"/,
  ],
  [
    'nested',
    ['a', 'a/b'].map((folder) => `${folder}/`),
    [...at('a/SKILL.md', skillMd('a')), ...at('a/b/SKILL.md', skillMd('b'))],
    'skills.1',
    /is inside the folder of "a\/SKILL\.md"/,
  ],
  [
    '10,000 files',
    ['a/b'],
    Array.from({ length: 10_000 }, (_, index) => ({ path: `a/b/${index}.md`, content: '' })),
    'files',
    /at most 1000 items/,
  ],
  [
    '600 files',
    ['a/b'],
    Array.from({ length: 600 }, (_, index) => ({ path: `a/b/${index}.md`, content: '' })),
    'files',
    /must contain at most 500 files/,
  ],
  [
    'files of one name',
    ['a/b'],
    [...at('a/b/SKILL.md', TONE), ...at('a/b/skill.md', TONE)],
    'files.2.path',
    /are the same file on/,
  ],
  ['outside', ['../x/'], [], 'skills.0.path', /not a plain relative path/],
  ['too long', ['a/b'], at('a/b/SKILL.md', skillMd('b', 'd', 'x'.repeat(40_000))), 'skills.0', /the limit is 40000/],
  ['21', Array.from({ length: 21 }, (_, index) => `s/${index}`), [], 'skills', /20/],
  [
    'unknown published',
    ['skills/tone', 'nobody-wrote-this'],
    tone,
    'skills.1',
    /there is no skill "nobody-wrote-this"/,
  ],
  ['number', [7], [], 'skills.0', /text|string|object/],
])('%s is refused with its place', async (_what, skills, files, path, message) => {
  const { body } = await owner.post('/api/workers', agent('wrong', skills, files)).expect(400);
  const found = body.errors.filter((one: { path: string }) => one.path === path);
  expect(found.map((one: { message: string }) => one.message).join()).toMatch(message);
});

test('saving warns of a skill that is not loaded, and of characters that the agent does not get', async () => {
  const hidden = skillMd(
    'tone',
    'd',
    'Be brief. \u{1f468}\u200d\u{1f469} \u26a0\ufe0f 1\ufe0f\u20e3\n\nBe\u{e0049} kind.\n',
  );
  const others = ['skills/other/SKILL.md', 'skills/small/skill.md', 'skills/tone/examples/SKILL.md'];
  const files = [{ path: 'skills/tone/SKILL.md', content: hidden }, ...others.map((path) => ({ path, content: TONE }))];
  const unloaded = others
    .slice(0, 2)
    .map((path) => `"${path}": is not listed in skills, so the agent does not load it as a skill`);
  const unseen = '"skills/tone/SKILL.md", line 8: contains U+E0049, an invisible character';
  const isWarning = (text: string) => expect.stringContaining(text);
  const { body: made } = await owner.post('/api/workers', agent('warned', ['skills/tone'], files)).expect(201);
  expect(made.warnings.filter((one: string) => !one.startsWith('model'))).toEqual([...unloaded, unseen].map(isWarning));
  const taskOfOther = { files: [{ path: 'SKILL.md', content: 'Answer\u202e it.\n' }] };
  const { body: edited } = await owner.patch('/api/workers/warned', taskOfOther).expect(200);
  expect(edited.warnings).toEqual(expect.arrayContaining([isWarning('"SKILL.md", line 1: contains U+202E')]));
  const draft = { files: [{ path: 'skills/tone/SKILL.md', content: TONE }] };
  const { body: inspected } = await owner.post('/api/workers/inspect', { worker_id: 'warned', draft }).expect(200);
  expect(inspected.problems).toMatchObject([
    { severity: 'warning', code: 'hidden_character', file: 'SKILL.md', line: 1 },
    { severity: 'warning', code: 'undeclared_skill', file: 'skills/other/SKILL.md', line: null },
    { severity: 'warning', code: 'undeclared_skill', file: 'skills/small/skill.md', line: null },
  ]);
});

test('a bundle has its skills as folders, with the files that belong to them', async () => {
  const manifest = 'name: Zipped\nrunner: agent\nskills: [skills/tone]\n';
  const entries = Object.fromEntries([task, ...tone].map(({ path, content }) => [path, content]));
  const zip = await createZip({ 'worker.yaml': manifest, ...entries, 'skills/tone/assets/logo.png': '\x89PNG\0' });
  const upload = (bundle: Buffer) => owner.post('/api/workers').attach('bundle', bundle, 'worker.zip');
  const { body } = await upload(zip).expect(201);
  expect(body.skills).toEqual([toneSkill]);
  const link = buildRawZip([
    { name: 'worker.yaml', content: Buffer.from(manifest) },
    { name: 'SKILL.md', content: Buffer.from(task.content) },
    { name: 'skills/tone/SKILL.md', content: Buffer.from(TONE) },
    { name: 'skills/tone/passwd', content: Buffer.from('/etc/passwd'), mode: 0o120777 },
  ]);
  const { body: refused } = await upload(link).expect(400);
  expect(refused.detail).toContain('"skills/tone/passwd" is a link');
});

test('skills are for agents, and the total size of their descriptions is limited', async () => {
  const code = {
    name: 'Code',
    skills: ['nobody-wrote-this'],
    files: [{ path: 'main.py', content: 'def run(): pass' }, ...tone],
  };
  const { body } = await owner.post('/api/workers', code).expect(400);
  expect(body.detail).toContain('skills: is only for agents');
  const long = Array.from({ length: 20 }, (_, index) => ({
    path: `skills/s${index}/SKILL.md`,
    content: skillMd(`s${index}`, 'ä'.repeat(1_024)),
  }));
  const paths = long.map(({ path }) => path);
  const { body: refused } = await owner.post('/api/workers', agent('long', paths, long)).expect(400);
  expect(refused.detail).toContain('the descriptions total 40960 bytes');
});

test('an editor sees the file and line of a skill that could not be saved', async () => {
  await owner.post('/api/workers', agent('drafted', ['skills/tone'])).expect(201);
  const inspect = async (file: object) => {
    const draft = { files: [{ path: 'skills/tone/SKILL.md', ...file }] };
    return (await owner.post('/api/workers/inspect', { worker_id: 'drafted', draft }).expect(200)).body.problems;
  };
  const usual = { code: 'bad_skill', severity: 'error' };
  expect(await inspect({ content: '---\nname: B\ndescription: d\n---\n' })).toMatchObject([
    { ...usual, file: 'skills/tone/SKILL.md', line: 2 },
  ]);
  expect(await inspect({ delete: true })).toMatchObject([{ ...usual, file: null, line: null }]);
});

test('an exported worker has its skills, and is the same version when it is imported', async () => {
  const { body: made } = await owner
    .post('/api/workers', agent('exported', ['skills/tone', 'release-notes']))
    .expect(201);
  const zip = await owner
    .get('/api/workers/exported/bundle.zip')
    .buffer(true)
    .parse((res, done) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => done(null, Buffer.concat(chunks)));
    })
    .expect(200);
  const entries = await readZip(zip.body, { entries: 50, bytes: 1_000_000 });
  const manifest = await entries.find(({ path }) => path === 'worker.yaml')?.content();
  expect(manifest?.toString()).toContain('- skills/tone/SKILL.md\n  - path: skills/release-notes/SKILL.md\n');
  notes = `${NOTES}New.\n`;
  const imported = await owner
    .post('/api/workers')
    .field('id', 'imported')
    .attach('bundle', zip.body, 'worker.zip')
    .expect(201);
  expect(imported.body).toMatchObject({ sha: made.sha, skills: made.skills });
});
