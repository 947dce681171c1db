import { setupResource } from '@gantry/testing';
import { createArtifact, deployArtifact, helloManifest, testService } from '../test/service';

const service = testService();
const me = setupResource(() => service.createCaller());

afterEach(() => service.cancelQueuedRuns());

const listAnnounced = async (automationId: string) => {
  const { rows } = await service.api.deps.pool.query(
    "SELECT data FROM outbox WHERE type = 'automation.deployed.v1' AND data->>'automationId' = $1 ORDER BY created_at",
    [automationId],
  );
  return rows.map((row) => row.data.version);
};

test('a deployed automation takes name and description from its manifest, or from the request', async () => {
  const artifactId = await createArtifact(me);
  const { body: plain } = await me.post('/api/deploy', { artifactId }).expect(201);
  const { body } = await me.get(`/api/automations/${plain.id}`).expect(200);
  expect(body).toMatchObject({
    id: plain.id,
    name: 'Hello',
    description: 'Greets a person by name',
    status: 'active',
    schedule: null,
    currentVersion: 1,
    url: `${service.url}/a/${plain.id}`,
    entrypoint: 'main.py',
    fileCount: 1,
    fileList: [{ path: 'main.py' }],
    manifest: helloManifest,
    visibility: 'private',
  });
  for (const key of ['scheduleEnabled', 'createdAt', 'lastRunStatus', 'lastRunAt'])
    expect(body).not.toHaveProperty(key);
  const { body: named } = await me.post('/api/deploy', { artifactId, name: 'Mine', description: '' }).expect(201);
  expect((await me.get(`/api/automations/${named.id}`)).body).toMatchObject({ name: 'Mine', description: '' });
});

test('update adds a version, rollback moves the pointer, and the next update is the highest + 1', async () => {
  const { id, url } = await deployArtifact(me);
  const artifactId = await createArtifact(me, { files: { 'main.py': 'def run(who): return 2' } });
  const update = async (message?: string) =>
    (await me.post(`/api/automations/${id}/update`, { artifactId, ...(message && { message }) }).expect(200)).body;
  const rollback = (body?: object) => me.post(`/api/automations/${id}/rollback`, body);
  expect(await update('second')).toMatchObject({ id, url, currentVersion: 2 });
  expect(await update()).toMatchObject({ currentVersion: 3 });
  expect((await rollback({ version: 1 }).expect(200)).body).toMatchObject({ id, url, currentVersion: 1 });
  expect((await rollback().expect(409)).body.code).toBe('no_previous_version');
  expect((await rollback({ version: 9 }).expect(404)).body.code).toBe('not_found');
  await rollback({ version: '1' }).expect(400);
  expect(await update()).toMatchObject({ currentVersion: 4 });
  expect((await rollback().expect(200)).body).toMatchObject({ currentVersion: 3 });
  expect((await rollback({}).expect(200)).body).toMatchObject({ currentVersion: 2 });

  const { body } = await me.get(`/api/automations/${id}/versions`).expect(200);
  expect(body.versions.map((v: { version: number }) => v.version)).toEqual([4, 3, 2, 1]);
  expect(body.versions[2]).toMatchObject({ current: true, artifactId, message: 'second', createdBy: me.userId });
});

test('every deployment and rollback is announced with the commit, and a refused one is not', async () => {
  await service.api.relay.stop();
  const { id } = await deployArtifact(me);
  const artifactId = await createArtifact(me);
  await me.post(`/api/automations/${id}/update`, { artifactId }).expect(200);
  await me.post(`/api/automations/${id}/rollback`).expect(200);
  await me.post(`/api/automations/${id}/rollback`).expect(409);
  expect(await listAnnounced(id)).toEqual([1, 2, 1]);
});

test('two concurrent updates create two versions', async () => {
  const { id } = await deployArtifact(me);
  const artifactId = await createArtifact(me);
  const responses = await Promise.all([1, 2, 3].map(() => me.post(`/api/automations/${id}/update`, { artifactId })));
  expect(responses.map(({ body }) => body.currentVersion).sort()).toEqual([2, 3, 4]);
});

test('a rollback that is sent twice with one Idempotency-Key is made once, and needs no body', async () => {
  const { id } = await deployArtifact(me);
  const artifactId = await createArtifact(me);
  for (let i = 0; i < 2; i++) await me.post(`/api/automations/${id}/update`, { artifactId }).expect(200);
  const rollback = () =>
    me
      .post(`/api/automations/${id}/rollback`)
      .set('Content-Type', 'application/json')
      .set('Idempotency-Key', `b-${id}`);
  expect((await rollback().expect(200)).body.currentVersion).toBe(2);
  expect((await rollback().expect(200)).body.currentVersion).toBe(2);
});

test('many concurrent edits all succeed', async () => {
  const { id } = await deployArtifact(me);
  const edits = Array.from({ length: 30 }, (_, i) => me.patch(`/api/automations/${id}`, { description: `edit ${i}` }));
  const responses = await Promise.all(edits);
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
});

test('the next run uses the new version', async () => {
  const { id } = await deployArtifact(me);
  const other = { name: 'Other', inputs: ['colour'], timeout_seconds: 7 };
  const artifactId = await createArtifact(me, {
    files: { 'app.py': 'def run(colour): pass' },
    manifest: other,
    entrypoint: 'app.py',
  });
  await me.post(`/api/automations/${id}/update`, { artifactId }).expect(200);
  await me.post(`/api/automations/${id}/run`, { inputs: { who: 'Ada' } }).expect(400);
  await me.post(`/api/automations/${id}/run`, { inputs: { colour: 'red' }, wait: 0 }).expect(200);
  const job = await (await service.connectExecutor()).claim();
  expect(job).toMatchObject({ entrypoint: 'app.py', limits: { wallMs: 7_000 }, network: 'egress', kind: 'run' });
});

test('search finds text in name or description, ignoring case, and % is an ordinary character', async () => {
  const caller = service.createCaller();
  const artifactId = await createArtifact(caller);
  for (const [name, description] of [
    ['Weekly Report', 'for the board'],
    ['Invoices', 'sends the REPORT of invoices'],
    ['100% done', 'x_y'],
    ['Other', 'nothing'],
  ]) {
    await caller.post('/api/deploy', { artifactId, name, description }).expect(201);
  }
  const searchNames = async (q: string) =>
    (await caller.get(`/api/automations?q=${encodeURIComponent(q)}`).expect(200)).body.automations.map(
      (automation: { name: string }) => automation.name,
    );
  expect(await searchNames('rePORT')).toEqual(['Invoices', 'Weekly Report']);
  expect(await searchNames('%')).toEqual(['100% done']);
  expect(await searchNames('x_y')).toEqual(['100% done']);
  expect(await searchNames('_')).toEqual(['100% done']);
  expect(await searchNames('\\')).toEqual([]);
  expect(await searchNames("' OR 1=1 --")).toEqual([]);
  expect(await searchNames('')).toHaveLength(4);
});

test('the list is paginated and shows how the last run ended', async () => {
  const caller = service.createCaller();
  const ids = [];
  for (let i = 0; i < 3; i++) ids.unshift((await deployArtifact(caller)).id);
  const { body: ran } = await caller.post(`/api/automations/${ids[0]}/run`, { inputs: { who: 'x' }, wait: 0 });
  await caller.post(`/api/runs/${ran.runId}/cancel`).expect(200);
  const first = await caller.get('/api/automations?limit=2').expect(200);
  expect(first.headers['x-total-count']).toBe('3');
  expect(first.headers.link).toBe('</api/automations?limit=2&offset=2>; rel="next"');
  expect(first.body.automations).toEqual([
    {
      id: ids[0],
      name: 'Hello',
      description: 'Greets a person by name',
      status: 'active',
      schedule: null,
      scheduleEnabled: false,
      currentVersion: 1,
      createdAt: expect.any(Number),
      lastRunStatus: 'error',
      lastRunAt: expect.any(Number),
      url: `${service.url}/a/${ids[0]}`,
      visibility: 'private',
      nextRunAt: null,
    },
    expect.objectContaining({ id: ids[1], lastRunStatus: null, lastRunAt: null }),
  ]);
  const second = await caller.get('/api/automations?limit=2&offset=2').expect(200);
  expect(second.body.automations).toMatchObject([{ id: ids[2] }]);
  expect(second.headers.link).toBeUndefined();
});

test('a paused automation does not run until it is resumed, and an archived one leaves the list', async () => {
  const caller = service.createCaller();
  const { id } = await deployArtifact(caller);
  const startRun = () => caller.post(`/api/automations/${id}/run`, { inputs: { who: 'x' }, wait: 0 });
  const countListed = async (query = '') => (await caller.get(`/api/automations${query}`)).body.automations.length;
  expect((await caller.patch(`/api/automations/${id}`, { status: 'paused' }).expect(200)).body.status).toBe('paused');
  expect((await startRun().expect(409)).body.code).toBe('paused');
  await caller.patch(`/api/automations/${id}`, { status: 'active', name: 'Renamed' }).expect(200);
  await startRun().expect(200);
  await caller.delete(`/api/automations/${id}`).expect(204);
  expect((await startRun().expect(409)).body.code).toBe('archived');
  expect([await countListed(), await countListed('?status=archived')]).toEqual([0, 1]);
  const artifactId = await createArtifact(caller);
  expect((await caller.post(`/api/automations/${id}/update`, { artifactId }).expect(409)).body.code).toBe('archived');
  expect((await caller.get(`/api/automations/${id}`).expect(200)).body.name).toBe('Renamed');
});

test.each([
  [{}, undefined],
  [{ title: 'x' }, 'title'],
  [{ status: 'deleted' }, 'status'],
  [{ name: '' }, 'name'],
  [{ name: 'a\0b' }, 'name'],
  [{ visibility: 'unlisted' }, 'visibility'],
])('PATCH %j is a 400', async (change, path) => {
  const { id } = await deployArtifact(me);
  const { body } = await me.patch(`/api/automations/${id}`, change).expect(400);
  if (path) expect(body.details).toContainEqual({ path, message: expect.any(String) });
});

test('a secret that is not set is a warning at deploy', async () => {
  const manifest = { name: 'x', secrets_needed: ['API_KEY', 'OTHER'] };
  await me.post('/api/secrets', { name: 'OTHER', value: 'something' }).expect(201);
  const { warnings } = await deployArtifact(me, { files: { 'main.py': 'def run(): pass' }, manifest });
  expect(warnings).toEqual([expect.stringContaining('API_KEY')]);
});

test('a viewer reads and changes nothing', async () => {
  const { id } = await deployArtifact(me);
  const viewer = service.createCaller({ role: 'viewer', workspaceId: me.workspaceId });
  await viewer.get(`/api/automations/${id}`).expect(200);
  await viewer.get('/api/automations').expect(200);
  const artifactId = await createArtifact(me);
  await viewer.post('/api/deploy', { artifactId }).expect(403);
  await viewer.post(`/api/automations/${id}/update`, { artifactId }).expect(403);
  await viewer.post(`/api/automations/${id}/rollback`).expect(403);
  await viewer.patch(`/api/automations/${id}`, { name: 'x' }).expect(403);
  await viewer.delete(`/api/automations/${id}`).expect(403);
  await viewer.post(`/api/automations/${id}/run`, { inputs: { who: 'x' } }).expect(403);
});
