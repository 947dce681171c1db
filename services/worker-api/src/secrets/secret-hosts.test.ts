import { setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker, helloWorker } from '../test/create-worker';
import { startJob as newJobOf } from '../test/start-job';
import { testWorkerApi } from '../test/test-worker-api';

const VALUE = 'correct-horse-battery-staple';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());
const placeholder = expect.stringMatching(/^gph_[A-Za-z0-9]{32}$/);
afterEach(() => api.deps.prisma.secret.deleteMany());

const startJob = (...asked: [id: string, path?: string, body?: object]) =>
  newJobOf({ caller: owner, executor }, ...asked);

test('code gets a placeholder of a secret with hosts, new with each attempt, and the value is nowhere else', async () => {
  const hosts = ['api.example.com', '*.example.net'];
  const set = await owner.put('/api/secrets/HELD', { value: VALUE, hosts: [' API.example.com:443', '*.example.net'] });
  expect(set.body).toMatchObject({ name: 'HELD', hosts });
  await owner.put('/api/secrets/PLAIN', { value: 'as it is' }).expect(201);
  await createWorker(api, { name: 'Holder', inputs: [], secrets: ['HELD', 'PLAIN'] });
  const job = await startJob('holder');
  expect(job?.secrets).toEqual({ PLAIN: 'as it is' });
  expect(job?.credentials).toMatchObject([{ kind: 'secret', name: 'HELD', value: VALUE, hosts, placeholder }]);
  const [again] = (await startJob('holder'))?.credentials ?? [];
  expect(again?.placeholder).not.toBe(job?.credentials?.[0]?.placeholder);
  const listed = await owner.get('/api/secrets').expect(200);
  expect(listed.body).toMatchObject([
    { name: 'PLAIN', hosts: [] },
    { name: 'HELD', hosts, last_used_at: expect.any(String) },
  ]);
  const { rows } = await api.deps.pool.query(
    `SELECT row_to_json(r)::text AS text FROM runs r UNION ALL SELECT row_to_json(a)::text FROM audit_log a`,
  );
  const kept = rows.map(({ text }) => text).join() + api.logs.text() + set.text + listed.text;
  expect(kept).toContain('*.example.net');
  expect(kept).not.toContain('horse');
});

test('a test of a draft gets a placeholder that stands for itself', async () => {
  await owner.put('/api/secrets/HELD', { value: VALUE, hosts: ['api.example.com'] });
  await createWorker(api, { name: 'Tester', inputs: [], secrets: ['HELD'] });
  const job = await startJob('tester', 'test', { draft: {} });
  const [credential] = job?.credentials ?? [];
  expect(credential).toMatchObject({ name: 'HELD', placeholder });
  expect(credential?.value).toBe(credential?.placeholder);
});

test('hosts are kept with a new value unless it brings its own', async () => {
  const hosts = ['api.example.com'];
  const post = (body: object) => owner.post('/api/secrets/KEPT', body);
  await post({ value: 'a', hosts }).expect(201);
  expect((await post({ value: 'b' }).expect(200)).body).toMatchObject({ hosts });
  expect((await post({ value: 'c', hosts: [] }).expect(200)).body).toMatchObject({ hosts: [] });
  const { body } = await owner.put('/api/secrets/KEPT', { hosts: ['evil.example'] }).expect(400);
  expect(body.errors).toContainEqual({ path: 'value', message: 'is required' });
});

test.each<[object, string, RegExp]>([
  [{ hosts: ['https://api.example.com'] }, 'hosts.0', /must be a host/],
  [{ hosts: ['*.com'] }, 'hosts.0', /top-level/],
  [{ hosts: ['a.example', 'A.example:443'] }, 'hosts.1', /twice/],
  [{ hosts: ['a.example:0'] }, 'hosts.0', /port/],
  [{ hosts: Array.from({ length: 65 }, (_, n) => `h${n}.example`) }, 'hosts', /at most 64/],
  [{ hosts: ['a.example'], value: 'two\nlines' }, 'value', /line breaks/],
  [{ hosts: ['a.example'], value: 'x'.repeat(16_385) }, 'value', /at most 16384/],
])('%j is refused at %s', async (body, path, message) => {
  const answer = await owner.put('/api/secrets/REFUSED', { value: 'x', ...body }).expect(400);
  expect(answer.body.errors).toContainEqual({ path, message: expect.stringMatching(message) });
});

test('an MCP server gets a secret with hosts only if it is one of them', async () => {
  await owner.put('/api/secrets/SERVER_TOKEN', { value: VALUE, hosts: ['*.example.com'] }).expect(201);
  const made = await owner.post('/api/connections/mcp', {
    label: 'Elsewhere',
    url: 'https://mcp.example.net/mcp',
    auth_secret: 'SERVER_TOKEN',
  });
  expect(made.status).toBe(201);
  const { body } = await owner.post(`/api/connections/${made.body.id}/test`).expect(200);
  expect(JSON.stringify(body)).toContain('SERVER_TOKEN can be sent only to *.example.com');
});

test('a secret whose hosts were changed in the database no longer opens, and its runs fail at once', async () => {
  await owner.put('/api/secrets/MOVED', { value: VALUE, hosts: ['api.example.com'] }).expect(201);
  await api.deps.pool.query("UPDATE secrets SET hosts = '{evil.example}' WHERE name = 'MOVED'");
  const { body } = await owner.post('/api/secrets/MOVED/test').expect(200);
  expect(body).toMatchObject({ ok: false, set: true, decrypts: false });
  await createWorker(api, { name: 'Moved', inputs: [], secrets: ['MOVED'] });
  // Waits for the service's reply: an abandoned claim would still be handed the job of the next test.
  const asked = executor.claim();
  const run = (await owner.post('/api/workers/moved/runs', {}).expect(201)).body;
  const getRun = () => owner.get(`/api/runs/${run.run_id}`);
  await waitUntil(async () => (await getRun()).body.status === 'failed');
  expect((await getRun()).body).toMatchObject({
    error_code: 'missing_secret',
    error: expect.stringContaining('of the secret MOVED cannot be decrypted'),
  });
  expect(await asked).toBeNull();
});

test('a secret with hosts is declared and reported missing like any other', async () => {
  const secrets = ['NOT_THERE'];
  const { warnings } = await createWorker(api, { ...helloWorker, name: 'Misses', secrets });
  expect(JSON.stringify(warnings ?? [])).toContain('NOT_THERE');
});
