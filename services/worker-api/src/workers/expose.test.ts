import { setupResource } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { createWorker, helloWorker } from '../test/create-worker';
import { startJob as newJobOf } from '../test/start-job';
import { testWorkerApi } from '../test/test-worker-api';
import { untilEnded } from '../test/until-ended';
import { toManifest } from './bundle';
import { parseDefinition } from './definition';

const VALUE = 'correct-horse-battery-staple';
const KEY = 'sk_never_to_be_seen';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

beforeAll(async () => {
  await owner.put('/api/secrets/HELD', { value: VALUE, hosts: ['api.example.com'] }).expect(201);
  const connection = { app: 'shop', value: KEY, hosts: ['api.shop.example'], visibility: 'workspace' };
  await owner.post('/api/connections', connection).expect(201);
});
afterEach(() => allow(true));

const allow = (allowed: boolean) =>
  owner.patch(`/api/workspaces/${api.workspaceId}`, { allow_exposed_credentials: allowed }).expect(200);

const declared = { inputs: [], secrets: ['HELD'], connections: ['shop'] };

const startJob = (...asked: [id: string, path?: string, body?: object]) =>
  newJobOf({ caller: owner, executor }, ...asked);

test('code gets the values that its worker names, and placeholders of all others', async () => {
  await createWorker(api, { ...declared, name: 'Closed' });
  const closed = await startJob('closed');
  expect(closed?.secrets).toEqual({});
  expect(closed?.credentials).toMatchObject([
    { kind: 'connection', name: 'shop', exposed: false, value: KEY },
    { kind: 'secret', name: 'HELD', value: VALUE },
  ]);
  await createWorker(api, { ...declared, name: 'Open', expose: ['HELD', 'shop', 'HELD'] });
  expect((await owner.get('/api/workers/open').expect(200)).body).toMatchObject({ expose: ['HELD', 'shop'] });
  const open = await startJob('open');
  expect(open?.secrets).toEqual({ HELD: VALUE });
  expect(open?.credentials).toMatchObject([{ kind: 'connection', name: 'shop', exposed: true, value: KEY }]);
});

test('placeholders are replaced in bodies if the worker enables it, and their places allow it', async () => {
  const { body: listed } = await owner.get('/api/connections?app=shop').expect(200);
  await owner.patch(`/api/connections/${listed[0].id}`, { places: ['header', 'path', 'body:key'] }).expect(200);
  await createWorker(api, { ...declared, name: 'Bodies' });
  const places = async () =>
    (await startJob('bodies'))?.credentials?.map((credential) => [credential.name, credential.places]);
  expect(await places()).toEqual([
    ['shop', ['header', 'path']],
    ['HELD', ['header']],
  ]);
  const { body } = await owner.patch('/api/workers/bodies', { in_body: ['shop', 'HELD'] }).expect(200);
  expect(body).toMatchObject({ version: 2, in_body: ['shop', 'HELD'] });
  expect(await places()).toEqual([
    ['shop', ['header', 'path', 'body:key']],
    ['HELD', ['header']],
  ]);
  const wrong = await owner.patch('/api/workers/bodies', { in_body: ['OTHER'] }).expect(400);
  expect(wrong.body.detail).toContain('in_body.0: "OTHER" is not one of');
});

test('it is part of the version, shown in its history and with the secret and the connection', async () => {
  await createWorker(api, { ...declared, name: 'Versioned' });
  const changed = await owner.patch('/api/workers/versioned', { expose: ['HELD'] }).expect(200);
  expect(changed.body).toMatchObject({ version: 2, expose: ['HELD'] });
  const { body } = await owner.get(`/api/workers/versioned/versions/${changed.body.sha}`).expect(200);
  expect(body.changes.fields).toEqual([{ field: 'expose', before: [], after: ['HELD'] }]);
  const [secret] = (await owner.get('/api/secrets').expect(200)).body;
  expect(secret.used_by).toContainEqual({ id: 'versioned', name: 'Versioned', exposed: true });
  const connections = (await owner.get('/api/connections?app=shop').expect(200)).body;
  expect(connections[0].used_by).toContainEqual({ id: 'versioned', name: 'Versioned' });
  const back = await owner.patch('/api/workers/versioned', { expose: [] }).expect(200);
  expect(back.body).toMatchObject({ version: 3, expose: [] });
});

test('worker.yaml contains it if there is one, and a version from before it exposes nothing', async () => {
  const worker = { name: 'Exported', description: '', tags: [] };
  const manifest = (fields: object) => toManifest({ worker, definition: parseDefinition(fields), triggers: [] });
  expect(manifest({ secrets: ['HELD'], expose: ['HELD'] })).toMatchObject({ expose: ['HELD'] });
  expect(manifest({ secrets: ['HELD'] })).not.toHaveProperty('expose');
  const { expose: _, ...earlier } = parseDefinition({});
  const { id, uid } = await createTestWorker(api);
  await api.deps.pool.query('UPDATE worker_versions SET definition = $2 WHERE worker_uid = $1', [uid, earlier]);
  expect((await owner.get(`/api/workers/${id}`).expect(200)).body).toMatchObject({ expose: [] });
  const made = await createWorker(api, { name: 'Plain', inputs: [] });
  const same = await owner.patch('/api/workers/plain', { expose: [] }).expect(200);
  expect(same.body).toMatchObject({ version: 1, sha: made.sha });
});

test.each<[object, string, RegExp]>([
  [{ expose: ['OTHER'] }, 'expose.0', /"OTHER" is not one of/],
  [{ secrets: [], expose: ['shop', 'HELD'] }, 'expose.1', /"HELD" is not one of/],
  [{ expose: 'HELD' }, 'expose', /list/],
  [{ expose: [1] }, 'expose.0', /text/],
])('%j is refused at %s', async (fields, path, message) => {
  const { body } = await owner
    .post('/api/workers', { ...helloWorker, ...declared, name: 'Wrong', ...fields })
    .expect(400);
  expect(body.errors).toContainEqual({ path, message: expect.stringMatching(message) });
});

test('a name that stays exposed cannot be removed from the declared ones', async () => {
  await createWorker(api, { ...declared, name: 'Narrowed', expose: ['HELD'] });
  const { body } = await owner.patch('/api/workers/narrowed', { secrets: [] }).expect(400);
  expect(body.errors).toEqual([{ path: 'expose.0', message: expect.stringContaining('HELD') }]);
  await owner.patch('/api/workers/narrowed', { secrets: [], expose: [] }).expect(200);
});

test('a test of a draft gets values of secrets that it exposes, and no token of a connection', async () => {
  await createWorker(api, { ...declared, name: 'Drafted' });
  const job = await startJob('drafted', 'test', { draft: { expose: ['HELD', 'shop'] } });
  expect(job?.secrets).toEqual({ HELD: VALUE });
  const [credential] = job?.credentials ?? [];
  expect(credential).toMatchObject({ name: 'shop', exposed: true });
  expect(credential?.value).toBe(credential?.placeholder);
});

describe('in a workspace that forbids it', () => {
  const refused = { code: 'exposure_forbidden', detail: expect.stringContaining('allow_exposed_credentials') };

  test('no worker, change, draft or earlier version that exposes a value is saved or tested', async () => {
    const exposing = await createWorker(api, { ...declared, name: 'Before', expose: ['HELD'] });
    await owner.patch('/api/workers/before', { expose: [] }).expect(200);
    await allow(false);
    const bodies = [
      await owner.post('/api/workers', { ...helloWorker, ...declared, name: 'New', expose: ['shop'] }).expect(403),
      await owner.patch('/api/workers/before', { expose: ['HELD'] }).expect(403),
      await owner.post('/api/workers/before/test', { draft: { expose: ['HELD'] } }).expect(403),
      await owner.post(`/api/workers/before/rollback/${exposing.sha}`, {}).expect(403),
    ].map(({ body }) => body);
    for (const body of bodies) expect(body).toMatchObject(refused);
    await owner.patch('/api/workers/before', { connections: [] }).expect(200);
  });

  test('a run of an existing one fails, and nothing is handed out', async () => {
    await createWorker(api, { ...declared, name: 'Earlier', expose: ['HELD', 'shop'] });
    await allow(false);
    const asked = executor.claim();
    const { body } = await owner.post('/api/workers/earlier/runs', {}).expect(201);
    const run = await untilEnded(api, body.run_id);
    expect(run).toMatchObject({ status: 'failed', error_code: 'missing_connection' });
    expect(JSON.stringify(run)).toContain('allow_exposed_credentials');
    expect(JSON.stringify(run)).toContain('HELD, shop');
    await owner.patch('/api/workers/earlier', { name: 'Renamed' }).expect(200);
    await allow(true);
    await owner.post('/api/workers/earlier/runs', {}).expect(201);
    const job = (await asked) ?? (await executor.claim());
    expect(job?.secrets).toEqual({ HELD: VALUE });
    await job?.complete(null);
  });
});

test('admins change the setting, members do not; each change is audited once', async () => {
  const path = `/api/workspaces/${api.workspaceId}`;
  const admin = createCaller(api.url, (await api.addMember('admin')).jwt);
  const member = createCaller(api.url, (await api.addMember('member')).jwt);
  expect((await member.get(path).expect(200)).body).toMatchObject({ allow_exposed_credentials: true });
  await member.patch(path, { allow_exposed_credentials: false }).expect(403);
  await admin.patch(path, { allow_exposed_credentials: null }).expect(400);
  const changes = async () => {
    const { body } = await admin.get('/api/audit-log?action=workspace.exposure_changed').expect(200);
    return body.map((entry: { details: object }) => entry.details);
  };
  const before = await changes();
  for (const allowed of [false, false, true]) {
    const { body } = await admin.patch(path, { allow_exposed_credentials: allowed }).expect(200);
    expect(body).toMatchObject({ allow_exposed_credentials: allowed });
  }
  const told = [true, false].map((allowed) => ({ allow_exposed_credentials: allowed }));
  expect(await changes()).toEqual([...told, ...before]);
});

test('an admin does not expose the private connections of a member through the worker of that member', async () => {
  const ada = createCaller(api.url, (await api.addMember('member')).jwt);
  const key = { app: 'mine', value: KEY, hosts: ['api.shop.example'], visibility: 'private' };
  await ada.post('/api/connections', key).expect(201);
  const worker = { ...helloWorker, id: 'hers', visibility: 'private', inputs: [], connections: ['mine'] };
  await ada.post('/api/workers', worker).expect(201);
  const change = (caller: typeof ada, body: object) => caller.patch('/api/workers/hers', body);
  const exposing = { expose: ['mine'] };
  const { body } = await change(owner, exposing).expect(403);
  expect(body).toMatchObject({ code: 'not_owner', detail: expect.stringContaining('remove mine') });
  await change(ada, exposing).expect(200);
  const code = { files: [{ path: 'main.py', content: 'def run(): return 2' }] };
  await change(owner, code).expect(403);
  await owner.post('/api/workers/hers/candidates', code).expect(403);
  await owner.post('/api/workers/hers/test', { draft: code }).expect(403);
  // As a worker of the workspace it gets no private connection, and it does not come back with what it was given there.
  await change(owner, { visibility: 'workspace', ...code }).expect(200);
  await change(owner, { visibility: 'private' }).expect(403);
  await change(ada, { visibility: 'private' }).expect(200);
});
