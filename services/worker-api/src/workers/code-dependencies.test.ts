/** Packages that files declare are the packages of the version, under the rules of those that the worker lists. */
import { setupResource } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const CODE = 'def run():\n    return 1\n';
const SCRIPT = `# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n#   "rich>=13",\n# ]\n# ///\n${CODE}`;
const PROJECT = '[project]\nname = "mine"\nversion = "1"\ndependencies = ["httpx[http2]>=0.27"]\n';

type Files = Record<string, string>;
const toFiles = (files: Files) => Object.entries(files).map(([path, content]) => ({ path, content }));
const create = (files: Files, more: object = {}) =>
  owner.post('/api/workers', { name: 'Declares', files: toFiles({ 'main.py': CODE, ...files }), ...more });
const readDependencies = async (id: string) => {
  const { body } = await owner.get(`/api/workers/${id}`).expect(200);
  return [body.python_dependencies, body.dependencies_source];
};

test.each<[string, Files, object, string[], string | null]>([
  ['no file', {}, {}, [], null],
  [
    'requirements.txt',
    { 'requirements.txt': '# all of it\r\nrequests>=2.31,<3  # http\r\n\r\npandas==2.2.3\nrequests>=2.31,<3\n' },
    {},
    ['requests>=2.31,<3', 'pandas==2.2.3'],
    'requirements.txt',
  ],
  ['a script block', { 'main.py': SCRIPT }, {}, ['rich>=13'], 'main.py'],
  ['pyproject.toml', { 'pyproject.toml': PROJECT }, {}, ['httpx[http2]>=0.27'], 'pyproject.toml'],
  [
    'a block before both files',
    { 'main.py': SCRIPT, 'requirements.txt': 'pandas', 'pyproject.toml': PROJECT },
    {},
    ['rich>=13'],
    'main.py',
  ],
  [
    'requirements.txt before pyproject.toml',
    { 'requirements.txt': 'pandas', 'pyproject.toml': PROJECT },
    {},
    ['pandas'],
    'requirements.txt',
  ],
  [
    'the list of the worker before all files, which are not read',
    { 'main.py': SCRIPT, 'requirements.txt': '-r other.txt' },
    { python_dependencies: ['attrs'] },
    ['attrs'],
    null,
  ],
  [
    'a block without a list does not count',
    { 'main.py': `# /// script\n# requires-python = ">=3.11"\n# ///\n${CODE}`, 'requirements.txt': 'pandas' },
    {},
    ['pandas'],
    'requirements.txt',
  ],
  ['a file in a folder does not count', { 'lib/requirements.txt': 'pandas' }, {}, [], null],
])('%s: the packages and their source are shown', async (_, files, more, packages, source) => {
  const { body } = await create(files, more).expect(201);
  expect([body.python_dependencies, body.dependencies_source]).toEqual([packages, source]);
});

test.each<[path: string, content: string, line: number | null, message: RegExp]>([
  ['requirements.txt', 'requests\n-r other.txt', 2, /is an option/],
  ['requirements.txt', '-e .', 1, /is an option/],
  ['requirements.txt', '--index-url https://evil.test/simple', 1, /is an option/],
  ['requirements.txt', '--extra-index-url=https://evil.test', 1, /is an option/],
  ['requirements.txt', '\n\n  --find-links ./wheels', 3, /is an option/],
  ['requirements.txt', 'git+https://evil.test/x.git', 1, /not a URL, path or option/],
  ['requirements.txt', 'x @ https://evil.test/x.whl', 1, /not a URL, path or option/],
  ['requirements.txt', './local', 1, /not a URL, path or option/],
  ['requirements.txt', '/abs/x.whl', 1, /not a URL, path or option/],
  ['requirements.txt', 'requests==2.31 --index-url=https://evil.test', 1, /not a URL, path or option/],
  ['requirements.txt', `a\nrequests==2.31 --hash=sha256:${'0'.repeat(64)}`, 2, /has a hash: remove the hash/],
  ['requirements.txt', 'requests==2.31 \\\n', 1, /continues on the next line/],
  ['requirements.txt', 'x; python_version < "3.12"', 1, /has a condition/],
  ['requirements.txt', Array.from({ length: 51 }, (_, i) => `p${i}`).join('\n'), null, /lists 51 packages, 50/],
  ['requirements.txt', `# ${'x'.repeat(65_536)}`, null, /more than 64 KB/],
  [
    'pyproject.toml',
    '[project]\ndependencies = [\n  "a",\n  "b @ git+https://evil.test/b",\n]',
    4,
    /not a URL, path or option/,
  ],
  ['pyproject.toml', '[project]\ndependencies = "a"', null, /must be a list of texts/],
  ['pyproject.toml', '[project]\ndynamic = ["dependencies"]', null, /is dynamic/],
  ['pyproject.toml', '[project]\nname = ', 2, /is not TOML/],
  ['pyproject.toml', `a = ${'['.repeat(20_000)}`, null, /is not TOML/],
  [
    'pyproject.toml',
    `${PROJECT}[tool.uv.sources]\nhttpx = { git = "https://evil.test/x" }`,
    null,
    /tool\.uv\.sources is not possible/,
  ],
  ['main.py', `"""Docs"""\n# /// script\n# dependencies = ["../x"]\n# ///\n${CODE}`, 3, /not a URL, path or option/],
  ['main.py', `# /// script\n# dependencies = [\n# ///\n${CODE}`, 2, /is not TOML/],
])('%s is refused (%#), naming file, line and reason', async (path, content, line, message) => {
  const { body } = await create({ [path]: content }).expect(400);
  expect(body.code).toBe('bad_dependencies');
  expect(body.errors).toEqual([{ path: 'files', message: expect.stringMatching(message) }]);
  expect(body.detail).toContain(line === null ? `"${path}":` : `"${path}", line ${line}:`);
});

test('an edit reads the files again, and the list of the worker wins as long as it has one', async () => {
  const { body: made } = await create({ 'requirements.txt': 'pandas' }).expect(201);
  const url = `/api/workers/${made.id}`;
  await owner.patch(url, { limits: { timeout_seconds: 9 } }).expect(200);
  expect(await readDependencies(made.id)).toEqual([['pandas'], 'requirements.txt']);
  await owner.put(`${url}/files`, { files: toFiles({ 'requirements.txt': 'pandas\nrich' }) }).expect(200);
  expect(await readDependencies(made.id)).toEqual([['pandas', 'rich'], 'requirements.txt']);
  await owner.patch(url, { python_dependencies: ['attrs'] }).expect(200);
  expect(await readDependencies(made.id)).toEqual([['attrs'], null]);
  await owner.patch(url, { python_dependencies: [] }).expect(200);
  expect(await readDependencies(made.id)).toEqual([['pandas', 'rich'], 'requirements.txt']);
  await owner.put(`${url}/files`, { files: [{ path: 'requirements.txt', delete: true }] }).expect(200);
  expect(await readDependencies(made.id)).toEqual([[], null]);
  const back = await owner.post(`${url}/rollback/${made.sha}`).expect(200);
  expect([back.body.python_dependencies, back.body.dependencies_source]).toEqual([['pandas'], 'requirements.txt']);
});

test('a bundle leaves packages to the file that declares them', async () => {
  const { body: made } = await create({ 'requirements.txt': 'pandas' }).expect(201);
  const { body: zip } = await owner.get(`/api/workers/${made.id}/bundle.zip`).buffer(true).parse(readBytes).expect(200);
  expect(zip.toString('latin1')).not.toContain('python_dependencies');
  const copy = await request(api.url)
    .post('/api/workers')
    .set({ Authorization: `Bearer ${api.owner.jwt}` })
    .field('id', 'a-copy')
    .attach('bundle', zip, 'bundle.zip')
    .expect(201);
  expect(copy.body.dependencies_source).toBe('requirements.txt');
  expect(copy.body.sha).toBe(made.sha);
});

function readBytes(res: request.Response, done: (err: Error | null, bytes: Buffer) => void) {
  const pieces: Buffer[] = [];
  res.on('data', (piece: Buffer) => pieces.push(piece));
  res.on('end', () => done(null, Buffer.concat(pieces)));
}

test('a draft shows the problem at its line while it is written, and is tested with what its files declare', async () => {
  const made = await createWorker(api, { name: 'Drafted' });
  const draft = (files: Files) => ({ draft: { files: toFiles(files) } });
  const inspect = (files: Files) => owner.post('/api/workers/inspect', { worker_id: made.id, ...draft(files) });
  const { body } = await inspect({ 'requirements.txt': 'rich\n-e .\n' }).expect(200);
  expect(body.problems).toEqual([
    expect.objectContaining({ file: 'requirements.txt', line: 2, severity: 'error', code: 'bad_dependencies' }),
  ]);
  const tested = owner.post(`/api/workers/${made.id}/test`, draft({ 'requirements.txt': 'rich\n' }));
  const [response, job] = await Promise.all([
    tested,
    executor.claimJob().then(async (job) => {
      await job.complete(1);
      return job;
    }),
  ]);
  expect(response.status).toBe(201);
  expect(job.dependencies).toEqual(['rich']);
});

describe('of an agent', () => {
  const send = (method: 'post' | 'put', path: string, body: object) =>
    request(api.url)
      [method](path)
      .set({ Authorization: `Bearer ${api.owner.jwt}`, 'x-svc-agent': 'chat' })
      .send(body);
  const isWaiting = (name: string) => ({
    status: 409,
    body: { code: 'version_not_approved', detail: expect.stringContaining(`it can use the packages ${name}`) },
  });

  test.each<[string, Files]>([
    ['requirements.txt', { 'requirements.txt': 'chosen-by-a-model' }],
    ['pyproject.toml', { 'pyproject.toml': '[project]\ndependencies = ["chosen-by-a-model"]' }],
    ['a script block', { 'main.py': `# /// script\n# dependencies = ["chosen-by-a-model"]\n# ///\n${CODE}` }],
  ])('packages of %s are not installed before a person has approved them', async (_, files) => {
    const body = { name: 'Installs', files: toFiles({ 'main.py': CODE, ...files }), network: 'none' };
    const { body: made } = await send('post', '/api/workers', body).expect(201);
    for (const [path, sent] of [
      ['runs', {}],
      ['test', { draft: {} }],
    ] as const) {
      expect(await owner.post(`/api/workers/${made.id}/${path}`, sent)).toMatchObject(isWaiting('chosen-by-a-model'));
    }
    const { body: mine } = await create({}, { network: 'none' }).expect(201);
    const draft = { draft: { files: toFiles(files) } };
    expect(await send('post', `/api/workers/${mine.id}/test`, draft)).toMatchObject(isWaiting('chosen-by-a-model'));
    const candidate = { files: toFiles(files), last_successful: 0 };
    const proposed = await send('post', `/api/workers/${mine.id}/candidates`, candidate).expect(201);
    expect(proposed.body.version_approval.status).toBe('waiting');
    await send('put', `/api/workers/${mine.id}/files`, { files: toFiles(files) }).expect(200);
    expect(await owner.post(`/api/workers/${mine.id}/runs`, {})).toMatchObject(isWaiting('chosen-by-a-model'));
    expect(await executor.claim()).toBeNull();

    const { body: current } = await owner.get(`/api/workers/${mine.id}`).expect(200);
    await owner.post(`/api/workers/${mine.id}/versions/${current.sha}/approve`).expect(200);
    await owner.post(`/api/workers/${mine.id}/runs`, {}).expect(201);
    const job = await executor.claimJob();
    expect(job.dependencies).toEqual(['chosen-by-a-model']);
    await job.complete(1);
  });

  test('packages that a person declared in a file stay approved in the agent’s next version', async () => {
    const { body: mine } = await create({ 'requirements.txt': 'mine>=1' }, { network: 'none' }).expect(201);
    await send('put', `/api/workers/${mine.id}/files`, { files: toFiles({ 'main.py': `${CODE}# ` }) }).expect(200);
    await owner.post(`/api/workers/${mine.id}/runs`, {}).expect(201);
    const job = await executor.claimJob();
    expect(job.dependencies).toEqual(['mine>=1']);
    await job.complete(1);
  });
});
