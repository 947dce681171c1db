import { buildEventSubjectPattern, connectBus, type Envelope, workerChanged } from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from '../test/caller';
import { createWorker, helloWorker } from '../test/create-worker';
import { startTestWorkerApi, testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));

const main = (content: string) => [{ path: 'main.py', content }];
const post = (body: object) => owner.post('/api/workers', body);
const getSha = async (id: string): Promise<string> => (await owner.get(`/api/workers/${id}`).expect(200)).body.sha;

/** Paths of the fields that the answer complains of. */
const wrongFields = ({ body }: { body: { errors?: { path: string }[] } }) => body.errors?.map(({ path }) => path) ?? [];

async function auditActions(id: string): Promise<string[]> {
  const { body } = await owner.get(`/api/audit-log?resource_type=worker&resource_id=${id}&limit=50`).expect(200);
  return body.map(({ action }: { action: string }) => action).reverse();
}

test('a worker is created with every default explicit, and read back as in the response', async () => {
  const made = await createWorker(api, { tags: ['demo', 'demo'], secrets: ['API_KEY'] });
  expect(made).toMatchObject({
    id: 'hello',
    name: 'Hello',
    description: '',
    status: 'active',
    health: 'missing_secret',
    trigger_type: 'manual',
    triggers: [{ type: 'manual' }],
    runner: 'python',
    entrypoint: 'main.py',
    version: 1,
    tags: ['demo'],
    secrets: ['API_KEY'],
    missing_secrets: ['API_KEY'],
    last_run: null,
    owner_id: api.owner.userId,
    inputs: [{ name: 'name', type: 'text', required: false }],
    limits: { timeout_seconds: 300, memory_mb: 512, concurrency: null, priority: 0 },
    retry: { max_attempts: 1, backoff: 'exponential' },
    permissions: { edit: true, run: true, delete: true },
    warnings: ['the secret API_KEY is not set yet; runs fail until it is'],
  });
  const { warnings: _, ...rest } = made;
  expect((await owner.get('/api/workers/hello').expect(200)).body).toEqual(rest);
  for (const prefix of ['/workers', '/v1/workers', '/api/v1/workers']) {
    expect((await owner.get(`${prefix}/hello`).expect(200)).body.id).toBe('hello');
  }
  expect(await auditActions('hello')).toEqual(['worker.created']);
});

test('a requested id that is taken is a conflict; a derived one gets a number, also concurrently', async () => {
  await createWorker(api, { id: 'taken' });
  const refused = await post({ ...helloWorker, id: 'taken' }).expect(409);
  expect(refused.body.code).toBe('id_taken');
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => post({ ...helloWorker, name: 'Prüfung Süd!' }).expect(201)),
  );
  const ids: string[] = answers.map(({ body }) => body.id);
  expect(new Set(ids).size).toBe(8);
  expect(ids.sort()[0]).toBe('prufung-sud');
  expect(ids.every((id) => /^prufung-sud(-[a-z0-9]+)?$/.test(id))).toBe(true);
  expect((await post({ ...helloWorker, name: '東京' }).expect(201)).body.id).toBe('worker');
  expect((await post({ ...helloWorker, name: 'Tags' }).expect(201)).body.id).toBe('worker-tags');
});

test('a request that is repeated with its key creates one worker, and shows a secret only once', async () => {
  const send = (key: string, body: object) => post(body).set('Idempotency-Key', key);
  const plain = await send('key-plain', { ...helloWorker, name: 'Once' }).expect(201);
  expect((await send('key-plain', { ...helloWorker, name: 'Once' }).expect(201)).body).toEqual(plain.body);
  const hooked = { ...helloWorker, name: 'Hooked once', trigger: 'webhook' };
  const { body } = await send('key-hook', hooked).expect(201);
  expect(body.webhook_url).toContain(`/api/webhooks/hooked-once?token=${body.webhook_secret}`);
  expect((await send('key-hook', hooked).expect(409)).body.code).toBe('already_done');
  const { rows } = await api.database.pool.query('SELECT response_body::text AS kept FROM idempotency_keys');
  expect(JSON.stringify(rows)).not.toContain(body.webhook_secret);
  expect(api.logs.text()).not.toContain(body.webhook_secret);
});

test.each<[string, string, object]>([
  ['an unknown runner', 'runner', { runner: 'perl' }],
  ['an agent without a skill', 'entrypoint', { runner: 'agent' }],
  ['tools of code', 'tools', { tools: ['python'] }],
  ['an unknown property', 'colour', { colour: 'red' }],
  ['an unknown limit', 'limits', { limits: { ram: 5 } }],
  ['a limit out of range', 'limits.timeout_seconds', { limits: { timeout_seconds: 3_601 } }],
  ['a duplicate input', 'inputs.1', { inputs: ['a', 'a'] }],
  ['an input of an unknown type', 'inputs.0.type', { inputs: [{ name: 'a', type: 'colour' }] }],
  ['a select without options', 'inputs.0.options', { inputs: [{ name: 'a', type: 'select' }] }],
  ['a default against its own item', 'inputs.0.default', { inputs: [{ name: 'a', type: 'integer', default: 'x' }] }],
  ['a key that is no input', 'limits.concurrency_key', { limits: { concurrency: 1, concurrency_key: 'region' } }],
  ['a missing entrypoint', 'entrypoint', { entrypoint: 'other.py' }],
  ['an entrypoint outside the worker', 'entrypoint', { entrypoint: '../main.py' }],
  ['an entrypoint that is not Python', 'entrypoint', { entrypoint: 'main.js' }],
  ['code without run()', 'entrypoint', { files: main('x = 1') }],
  ['code that is not Python', 'entrypoint', { files: main('def run(:') }],
  ['no files', 'files', { files: [] }],
  ['a path outside the worker', 'files.0.path', { files: [{ path: '../main.py', content: '' }] }],
  ['a path with NUL', 'files.0.path', { files: [{ path: 'a\0.py', content: '' }] }],
  ['two files with one name', 'files.1.path', { files: [...main(''), { path: 'MAIN.py', content: '' }] }],
  ['a deletion of a missing file', 'files.0.path', { files: [{ path: 'main.py', delete: true }] }],
  ['worker.yaml as a file', 'files.0.path', { files: [{ path: 'worker.yaml', content: '' }] }],
  ['a dependency with an address', 'python_dependencies.0', { python_dependencies: ['x @ http://evil.test/x.whl'] }],
  ['a secret that is no variable', 'secrets.0', { secrets: ['api-key'] }],
  ['an unknown context', 'contexts.0', { contexts: ['nothing'] }],
  ['an invalid name of a context', 'contexts.0', { contexts: ['../x'] }],
  ['a bad schedule', 'trigger.cron', { trigger: { type: 'cron', cron: 'now' } }],
  [
    'scheduled inputs that it refuses',
    'trigger.inputs.colour',
    { trigger: { type: 'cron', cron: '0 9 * * *', inputs: { colour: 1 } } },
  ],
  ['a blank name', 'name', { name: '  ' }],
  ['a name with NUL', 'name', { name: 'a\0b' }],
  ['an id that is no slug', 'id', { id: 'Hello World' }],
  ['a reserved id', 'id', { id: 'tags' }],
  ['a tag with NUL', 'tags.0', { tags: ['a\0'] }],
  ['a description with NUL', 'description', { description: 'a\0' }],
  ['an input with NUL', 'inputs', { inputs: [{ name: 'a', type: 'text', default: 'a\0' }] }],
  ['an input with an unpaired surrogate', 'inputs', { inputs: [{ name: 'a', type: 'text', label: 'a\ud800' }] }],
])('%s is refused, naming %s, and nothing is created', async (_what, field, body) => {
  const count = () => api.database.pool.query('SELECT count(*) FROM workers').then(({ rows }) => rows[0].count);
  const before = await count();
  const answer = await post({ ...helloWorker, ...body }).expect(400);
  expect(wrongFields(answer).some((path) => path === field || path.startsWith(`${field}.`))).toBe(true);
  expect(answer.body.detail).toBeTruthy();
  expect(await count()).toBe(before);
});

test('all problems of a worker are in one response, in sentences', async () => {
  const { body } = await post({
    ...helloWorker,
    name: 'Wrong',
    id: 'tags',
    runner: 'perl',
    inputs: [{ name: 'n', type: 'colour' }],
    triggers: [{ type: 'pigeon' }, { type: 'cron', cron: '* * *', timezone: 'Mars/Olympus' }],
  }).expect(400);
  expect(body.errors).toEqual([
    { path: 'id', message: 'is reserved by this API; choose a different id' },
    { path: 'runner', message: 'must be one of: python, agent' },
    { path: 'inputs.0.type', message: expect.stringMatching(/^must be one of: text, textarea, number/) },
    { path: 'triggers.0.type', message: 'must be manual, cron, webhook or event' },
    { path: 'triggers.1.cron', message: 'must have five fields, or six with seconds first; it has 3' },
    { path: 'triggers.1.timezone', message: '"Mars/Olympus" is not an IANA time zone such as Europe/Berlin or UTC' },
  ]);
  for (const { path, message } of body.errors) expect(body.detail).toContain(`${path}: ${message}`);
  const triggers = [{ type: 'cron', cron: '* * *', timezone: 'Mars/Olympus' }];
  const { body: mixed } = await post({ ...helloWorker, name: 5, entrypoint: 'b.py', triggers }).expect(400);
  expect(mixed.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
    ...['entrypoint', 'name', 'triggers.0.cron', 'triggers.0.timezone'],
  ]);
});

test('a change creates a version only if it affects runs', async () => {
  const made = await createWorker(api, { name: 'Edited', limits: { memory_mb: 256 } });
  const path = '/api/workers/edited';
  const renamed = await owner.patch(path, { name: 'Renamed', tags: ['x'], description: 'New' }).expect(200);
  expect(renamed.body).toMatchObject({ id: 'edited', name: 'Renamed', tags: ['x'], version: 1, sha: made.sha });
  const same = await owner.put(path, { limits: { memory_mb: 256 }, files: helloWorker.files }).expect(200);
  expect(same.body).toMatchObject({ version: 1, sha: made.sha });
  const limited = await owner.patch(path, { limits: { timeout_seconds: 5 }, message: 'Faster' }).expect(200);
  expect(limited.body).toMatchObject({ version: 2, limits: { memory_mb: 256, timeout_seconds: 5 } });
  expect(limited.body.sha).not.toBe(made.sha);
  await owner.patch(path, { inputs: [], limits: { timeout_seconds: 0 } }).expect(400);
  expect((await owner.get(path)).body).toMatchObject({ version: 2, inputs: [{ name: 'name' }] });
  const { body: versions } = await owner.get(`${path}/versions`).expect(200);
  expect(versions).toMatchObject([
    { version: 2, current: true, message: 'Faster', author: 'owner@example.com', change_source: 'edited' },
    { version: 1, current: false, sha: made.sha, change_source: 'created' },
  ]);
});

test('files are written and deleted beside the others, and a version lists its changes', async () => {
  const made = await createWorker(api, {
    name: 'Filed',
    files: [...helloWorker.files, { path: 'data/logo.bin', content_base64: 'AP8=' }, { path: 'old.py', content: '' }],
  });
  const path = '/api/workers/filed';
  const written = await owner
    .put(`${path}/files`, {
      files: [
        { path: 'main.py', content: 'def run(name):\n    return 2\n' },
        { path: 'old.py', delete: true },
      ],
      message: 'Two',
      base_sha: made.sha,
    })
    .expect(200);
  expect(written.body).toMatchObject({ version: 2 });
  const { body: files } = await owner.get(`${path}/files`).expect(200);
  expect(files).toMatchObject([
    { path: 'data/logo.bin', size: 2, content_base64: 'AP8=' },
    { path: 'main.py', content: 'def run(name):\n    return 2\n' },
  ]);
  const { body: before } = await owner.get(`${path}/files?version=${made.sha.slice(0, 12)}`).expect(200);
  expect(before.map((file: { path: string }) => file.path)).toEqual(['data/logo.bin', 'main.py', 'old.py']);
  const { body: version } = await owner.get(`${path}/versions/${written.body.sha}`).expect(200);
  expect(version).toMatchObject({
    version: 2,
    current: true,
    message: 'Two',
    compared_to: made.sha,
    change_source: 'files',
    changes: {
      files: [
        { path: 'main.py', change: 'modified' },
        { path: 'old.py', change: 'deleted', size_after: null },
      ],
      fields: [],
    },
  });
  const late = { files: main('def run(): pass'), base_sha: made.sha };
  expect((await owner.put(`${path}/files`, late).expect(409)).body.code).toBe('not_current');
  expect(wrongFields(await owner.put(`${path}/files`, { files: main('no') }).expect(400))).toEqual(['entrypoint']);
  const gone = [{ path: 'main.py', delete: true }];
  expect(wrongFields(await owner.put(`${path}/files`, { files: gone }).expect(400))).toEqual(['entrypoint']);
  expect(await getSha('filed')).toBe(written.body.sha);
});

test('concurrent changes on two replicas are all kept', async () => {
  await createWorker(api, { name: 'Busy' });
  const replica = await api.replica();
  const write = (n: number) =>
    request(n % 2 ? replica.app : api.app)
      .put('/api/workers/busy/files')
      .set('Authorization', `Bearer ${api.owner.jwt}`)
      .send({ files: [{ path: `${n}.txt`, content: String(n) }] })
      .expect(200);
  await Promise.all(Array.from({ length: 8 }, (_, n) => write(n)));
  const { body } = await owner.get('/api/workers/busy/files').expect(200);
  const numbered = Array.from({ length: 8 }, (_, n) => `${n}.txt`);
  expect(body.map(({ path }: { path: string }) => path)).toEqual([...numbered, 'main.py']);
  expect((await owner.get('/api/workers/busy').expect(200)).body.version).toBe(9);
});

test('a rollback appends a version that equals the old one', async () => {
  const made = await createWorker(api, { name: 'Regretted' });
  const path = '/api/workers/regretted';
  await owner.put(`${path}/files`, { files: main('def run(): return "bad"') }).expect(200);
  const back = await owner.post(`${path}/rollback/${made.sha}`, { message: 'It was better' }).expect(200);
  expect(back.body).toMatchObject({ version: 3, sha: made.sha });
  expect((await owner.get(`${path}/files`)).body[0].content).toBe(helloWorker.files[0]?.content);
  expect((await owner.post(`${path}/rollback/${made.sha}`).expect(200)).body.version).toBe(3);
  expect((await owner.post(`${path}/rollback/${'0'.repeat(64)}`).expect(404)).body.detail).toContain('no version');
  await owner.post(`${path}/rollback/main`).expect(400);
  const { body: versions } = await owner.get(`${path}/versions`).expect(200);
  expect(versions[0]).toMatchObject({ version: 3, message: 'It was better', change_source: 'rollback', current: true });
});

test('every change is announced, and an ineffective one is not', async () => {
  const heard: unknown[] = [];
  const spectator = await connectBus({ ...api.nats.spectator, name: 'spectator', log: api.deps.log });
  spectator.nc.subscribe(buildEventSubjectPattern(workerChanged), {
    callback(_err, message) {
      const data = message.json<Envelope>().data as { workerId: string };
      // Changes from before may be announced late.
      if (data.workerId === 'announced') heard.push(data);
    },
  });
  await createWorker(api, { name: 'Announced' });
  await owner.patch('/api/workers/announced', {}).expect(200);
  await owner.patch('/api/workers/announced', { name: 'Loud' }).expect(200);
  await owner.remove('/api/workers/announced').expect(204);
  await waitUntil(() => heard.length >= 3);
  expect(heard).toMatchObject(
    ['created', 'updated', 'deleted'].map((change) => ({
      change,
      workerId: 'announced',
      workerUid: expect.any(String),
    })),
  );
  await spectator.nc.close();
  expect(await auditActions('announced')).toEqual(['worker.created', 'worker.updated', 'worker.deleted']);
});

test('a worker is paused, resumed, archived and restored; repeating is fine, and invalid transitions are conflicts', async () => {
  await createWorker(api, { name: 'Stated', trigger: { type: 'cron', cron: '0 9 * * *' } });
  const path = '/api/workers/stated';
  const postVerb = (verb: string) => owner.post(`${path}/${verb}`);
  expect((await owner.get(path)).body.next_run_at).toMatch(/T09:00:00.000Z$/);
  await postVerb('restore').expect(409);
  expect((await postVerb('pause').expect(200)).body).toMatchObject({ status: 'paused', next_run_at: null });
  await postVerb('pause').expect(200);
  expect((await postVerb('resume').expect(200)).body).toMatchObject({
    status: 'active',
    next_run_at: expect.any(String),
  });
  expect((await postVerb('archive').expect(200)).body.status).toBe('archived');
  expect((await postVerb('pause').expect(409)).body.code).toBe('wrong_status');
  await postVerb('resume').expect(409);
  expect((await owner.patch(path, { name: 'X' }).expect(409)).body.code).toBe('archived');
  expect((await postVerb('restore').expect(200)).body.status).toBe('active');
  expect(await auditActions('stated')).toEqual(
    ['created', 'paused', 'resumed', 'archived', 'restored'].map((change) => `worker.${change}`),
  );
});

test('lists are paged, searched and filtered', async () => {
  await createWorker(api, { name: 'Tax 100% north', tags: ['tax', 'north'], trigger: 'webhook' });
  await createWorker(api, { name: 'Tax 1000 south', tags: ['tax'], trigger: { type: 'cron', cron: '0 9 * * *' } });
  await createWorker(api, { name: 'Tax of old', tags: ['tax'] });
  await owner.post('/api/workers/tax-of-old/archive').expect(200);
  const list = async (query: string): Promise<string[]> =>
    (await owner.get(`/api/workers?${query}`).expect(200)).body.map(({ id }: { id: string }) => id);
  expect(await list('tag=tax')).toEqual(['tax-1000-south', 'tax-100-north']);
  expect(await list('tag=tax&status=archived')).toEqual(['tax-of-old']);
  expect(await list('tag=tax&status=all')).toHaveLength(3);
  expect(await list('q=100%25')).toEqual(['tax-100-north']);
  expect(await list('tag=tax&trigger_type=cron')).toEqual(['tax-1000-south']);
  expect(await list('tag=tax&trigger_type=manual&status=all')).toEqual(['tax-of-old']);
  const page = await owner.get('/api/workers?tag=tax&status=all&limit=1&offset=1').expect(200);
  expect(page.body.map(({ id }: { id: string }) => id)).toEqual(['tax-1000-south']);
  expect(page.headers['x-total-count']).toBe('3');
  expect(page.headers.link).toBe('</api/workers?tag=tax&status=all&limit=1&offset=2>; rel="next"');
  expect((await owner.get('/api/workers/tags').expect(200)).body).toEqual(
    expect.arrayContaining([
      { tag: 'north', count: 1 },
      { tag: 'tax', count: 2 },
    ]),
  );
  for (const bad of ['limit=201', 'limit=0', 'offset=-1', 'status=gone', 'trigger_type=x', 'colour=1', 'q=%00']) {
    await owner.get(`/api/workers?${bad}`).expect(400);
  }
});

test('health is that of the last run of the current version, and the last run the newest of all', async () => {
  await createWorker(api, { name: 'Run' });
  const { rows } = await api.database.pool.query("SELECT uid FROM workers WHERE id = 'run'");
  const insert = (id: string, status: string, at: string) =>
    api.database.pool.query(
      `INSERT INTO runs (id, workspace_id, subject_id, kind, trigger, version, status, inputs, spec, created_at)
       VALUES ($1, $2, $3, 'run', 'api', 1, $4, '{}', '{"files": []}', $5)`,
      [id, api.workspaceId, rows[0].uid, status, at],
    );
  const getRunWorker = async () => (await owner.get('/api/workers/run').expect(200)).body;
  expect(await getRunWorker()).toMatchObject({ health: 'ready', last_sandbox: null });
  await insert('run_1', 'completed', '2026-01-01T00:00:00Z');
  const sandbox = { mode: 'fresh', reason: 'its import starts a thread' };
  await api.database.pool.query("UPDATE runs SET sandbox = $1 WHERE id = 'run_1'", [sandbox]);
  expect(await getRunWorker()).toMatchObject({ last_sandbox: sandbox });
  expect(await getRunWorker()).toMatchObject({
    health: 'healthy',
    last_run: '2026-01-01T00:00:00.000Z',
    last_run_id: 'run_1',
  });
  await insert('run_2', 'failed', '2026-01-02T00:00:00Z');
  await insert('run_3', 'suspended', '2026-01-03T00:00:00Z');
  expect(await getRunWorker()).toMatchObject({
    health: 'needs_attention',
    last_run_id: 'run_3',
    last_run_status: 'queued',
  });
  const { body: versions } = await owner.get('/api/workers/run/versions').expect(200);
  const mended = [{ path: 'main.py', content: 'def run():\n    return 2\n' }];
  await owner.patch('/api/workers/run', { files: mended }).expect(200);
  expect(await getRunWorker()).toMatchObject({ version: 2, health: 'ready', last_run_id: 'run_3', last_sandbox: null });
  await owner.post(`/api/workers/run/rollback/${versions[0].sha}`).expect(200);
  const listWorkers = async (query: string) =>
    (await owner.get(`/api/workers?q=run&${query}`).expect(200)).body.find(({ id }: { id: string }) => id === 'run');
  expect(await listWorkers('limit=50')).not.toHaveProperty('recent_runs');
  expect((await listWorkers('recent_runs=2')).recent_runs).toEqual([
    { id: 'run_3', status: 'queued', created_at: '2026-01-03T00:00:00.000Z', duration_ms: null },
    { id: 'run_2', status: 'failed', created_at: '2026-01-02T00:00:00.000Z', duration_ms: null },
  ]);
  await owner.get('/api/workers?recent_runs=21').expect(400);
  await api.database.pool.query("DELETE FROM runs WHERE id = 'run_3'");
});

test('a private worker is visible to its owner and to admins, and only they can delete it', async () => {
  const [member, other, viewer, admin] = await Promise.all(
    (['member', 'member', 'viewer', 'admin'] as const).map((role) => api.addMember(role)),
  );
  const as = (person = member) => createCaller(api.url, person?.jwt);
  await createWorker(api, { jwt: member?.jwt, name: 'Secret plan', visibility: 'private', tags: ['hush'] });
  const path = '/api/workers/secret-plan';
  expect((await as().get(path).expect(200)).body.permissions).toMatchObject({ edit: true, delete: true });
  await as(admin).get(path).expect(200);
  await as(other).get(path).expect(404);
  await as(viewer).get(path).expect(404);
  await as(other).patch(path, { name: 'Mine' }).expect(404);
  expect((await as(other).get('/api/workers').expect(200)).body).not.toContainEqual(
    expect.objectContaining({ id: 'secret-plan' }),
  );
  expect((await as(other).get('/api/workers/tags').expect(200)).body).not.toContainEqual({ tag: 'hush', count: 1 });
  expect(
    (
      await as(other)
        .post('/api/workers', { ...helloWorker, id: 'secret-plan' })
        .expect(409)
    ).body.code,
  ).toBe('id_taken');

  expect((await as().put(`${path}/visibility`, { visibility: 'workspace' }).expect(200)).body.visibility).toBe(
    'workspace',
  );
  const seen = await as(other).patch(path, { name: 'Shared plan' }).expect(200);
  expect(seen.body.permissions).toMatchObject({ edit: true, run: true, delete: false, change_visibility: false });
  await as(other).put(`${path}/visibility`, { visibility: 'private' }).expect(403);
  await as(other).patch(path, { visibility: 'private' }).expect(403);
  await as(other).remove(path).expect(403);
  await as(viewer).patch(path, { name: 'No' }).expect(403);
  expect((await as(viewer).get(path).expect(200)).body.permissions).toMatchObject({ edit: false, run: false });
  await as().remove(path).expect(204);
  await as().get(path).expect(404);
});

test('setting or removing a schedule by itself does not change the webhook and its secret', async () => {
  await createWorker(api, { id: 'both', triggers: [{ type: 'webhook' }, { type: 'event', on: ['run.failed'] }] });
  const { body } = await owner.patch('/api/workers/both', { schedule: '0 9 * * *' }).expect(200);
  expect(body.triggers.map(({ type }: { type: string }) => type)).toEqual(['cron', 'webhook', 'event']);
  expect(body).not.toHaveProperty('webhook_secret');
  const without = await owner.patch('/api/workers/both', { schedule: null }).expect(200);
  expect(without.body.triggers).toMatchObject([{ type: 'webhook' }, { type: 'event', on: ['run.failed'] }]);
});

test('its webhook gets a new secret on request, and the old one is not shown again', async () => {
  const made = await createWorker(api, { name: 'Rotated', trigger: { type: 'webhook', signed: true } });
  expect(made).toMatchObject({ trigger_type: 'webhook', webhook_signing_key: expect.stringMatching(/^whsec_/) });
  const { body: read } = await owner.get('/api/workers/rotated').expect(200);
  expect(JSON.stringify(read)).not.toContain(made.webhook_secret);
  const { body } = await owner.patch('/api/workers/rotated', { webhook_secret_rotate: true }).expect(200);
  expect(body.webhook_secret).not.toBe(made.webhook_secret);
  expect(body).not.toHaveProperty('webhook_signing_key');
  await createWorker(api, { name: 'Without hook' });
  await owner.patch('/api/workers/without-hook', { webhook_secret_rotate: true }).expect(400);
});

test('sample inputs satisfy its schema, and are the same each time', async () => {
  const inputs = [
    { name: 'url', type: 'url', required: true },
    { name: 'code', type: 'text', required: true, pattern: '^[A-Z]{2}-\\d{4,}$' },
    { name: 'note', type: 'textarea', min_length: 20, max_length: 30 },
    { name: 'count', type: 'integer', minimum: 3, maximum: 9 },
    { name: 'region', type: 'select', options: ['north', 'south'] },
    { name: 'day', type: 'date' },
    { name: 'limit', type: 'number', default: 1.5 },
    { name: 'city', type: 'text', examples: ['Berlin'] },
    { name: 'table', type: 'file', required: true, accepts: ['.csv'] },
    { name: 'extra', type: 'file' },
    { name: 'endless', type: 'text', pattern: '^(((z*)*)*)*y$', min_length: 9 },
  ];
  await createWorker(api, { name: 'Sampled', inputs, files: main('def run(inputs): pass') });
  const { body } = await owner.get('/api/workers/sampled/sample-input').expect(200);
  expect(body.inputs).toEqual({
    url: 'https://example.com',
    code: expect.stringMatching(/^[A-Z]{2}-\d{4,}$/),
    count: 3,
    region: 'north',
    note: expect.stringMatching(/^.{20,30}$/),
    day: '2026-01-05',
    limit: 1.5,
    city: 'Berlin',
    table: { name: 'example.csv', content_base64: expect.any(String) },
  });
  expect((await owner.get('/api/workers/sampled/sample-input').expect(200)).body).toEqual(body);
  const { body: schema } = await owner.get('/api/workers/sampled/schema').expect(200);
  expect(schema).toMatchObject({ type: 'object', required: ['url', 'code', 'table'], additionalProperties: false });
});

test.each([
  ['^(?=a)', 'lookahead'],
  ['(a)\\1', 'backreference'],
  ['[a-z]{2000}', 'too large'],
])('an input whose pattern is %s creates no worker: %s', async (pattern, reason) => {
  const { body } = await post({ ...helloWorker, inputs: ['name', { name: 'code', pattern }] }).expect(400);
  expect(body.errors).toEqual([{ path: 'inputs.1.pattern', message: expect.stringContaining(reason) }]);
});

test('a stored worker with such a pattern is still readable; a run is refused with the necessary change', async () => {
  const { id } = await createWorker(api, { name: 'Old pattern', inputs: [{ name: 'name', pattern: '^A' }] });
  await api.database.pool.query(
    `UPDATE worker_versions SET definition = jsonb_set(definition::jsonb, '{inputs,0,pattern}', '"^(?=A)"')
     WHERE worker_uid = (SELECT uid FROM workers WHERE id = $1)`,
    [id],
  );
  const { body: read } = await owner.get(`/api/workers/${id}`).expect(200);
  expect(read.inputs).toMatchObject([{ name: 'name', pattern: '^(?=A)' }]);
  for (const path of ['schema', 'sample-input']) await owner.get(`/api/workers/${id}/${path}`).expect(200);
  const { body } = await owner.post(`/api/workers/${id}/runs`, { inputs: { name: 'Ada' } }).expect(400);
  expect(body).toMatchObject({
    code: 'invalid_inputs',
    errors: [
      {
        path: 'inputs.name',
        message: expect.stringMatching(/lookahead.*does not support.*Rewrite or remove the pattern/),
      },
    ],
  });
  await owner.patch(`/api/workers/${id}`, { inputs: [{ name: 'name', pattern: '^[A-Z]' }] }).expect(200);
  await owner.post(`/api/workers/${id}/runs`, { inputs: { name: 'Ada' } }).expect(201);
});

test('an unknown resource is a 404 that says so', async () => {
  for (const path of ['', '/files', '/versions', '/schema', '/sample-input', '/bundle.zip']) {
    const { body } = await owner.get(`/api/workers/nobody${path}`).expect(404);
    expect(body.detail).toBe('no worker "nobody" in this workspace');
  }
  for (const verb of ['pause', 'resume', 'archive', 'restore'])
    await owner.post(`/api/workers/nobody/${verb}`).expect(404);
  await owner.remove('/api/workers/nobody').expect(404);
});

test('without an executor to look for run(), nothing is created', async () => {
  const alone = await startTestWorkerApi({ inspector: false });
  const { body } = await createCaller(alone.url, alone.owner.jwt).post('/api/workers', helloWorker).expect(503);
  expect(body.code).toBe('no_executor');
  const { rows } = await alone.database.pool.query('SELECT count(*)::int FROM workers');
  expect(rows[0].count).toBe(0);
  await alone.stop();
});
