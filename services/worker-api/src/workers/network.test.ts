import { setupResource } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { createWorker, helloWorker } from '../test/create-worker';
import { startJob as newJobOf } from '../test/start-job';
import { testWorkerApi } from '../test/test-worker-api';
import { toManifest } from './bundle';
import { parseDefinition } from './definition';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const startJob = (id: string) => newJobOf({ caller: owner, executor }, id);

test('a worker reaches every public address by default', async () => {
  const made = await createWorker(api, { name: 'Open', inputs: [] });
  expect((await owner.get('/api/workers/open').expect(200)).body).toMatchObject({ network: 'public' });
  const open = await startJob('open');
  expect(open).toMatchObject({ network: 'egress' });
  expect(open).not.toHaveProperty('allowedHosts');
  const same = await owner.patch('/api/workers/open', { network: 'public' }).expect(200);
  expect(same.body).toMatchObject({ version: 1, sha: made.sha });
});

test('a rule is part of the version, in a normalized spelling, and reaches the job', async () => {
  await createWorker(api, { name: 'Ruled', inputs: [] });
  const allow = ['API.github.com:443', ' *.example.com ', 'db.example.com:8443'];
  const ruled = await owner.patch('/api/workers/ruled', { network: { allow } }).expect(200);
  const hosts = ['api.github.com', '*.example.com', 'db.example.com:8443'];
  expect(ruled.body).toMatchObject({ version: 2, network: { allow: hosts } });
  expect(await startJob('ruled')).toMatchObject({ network: 'egress', allowedHosts: hosts });
  const closed = await owner.patch('/api/workers/ruled', { network: 'none' }).expect(200);
  expect(await startJob('ruled')).toMatchObject({ network: 'none' });
  const { body } = await owner.get(`/api/workers/ruled/versions/${closed.body.sha}`).expect(200);
  expect(body.changes.fields).toEqual([{ field: 'network', before: { allow: hosts }, after: 'none' }]);
});

test('a test of a draft that removes the rule still has no network', async () => {
  await createWorker(api, { name: 'Drafted', inputs: [], network: 'none' });
  await owner.post('/api/workers/drafted/test', { draft: { network: 'public' } }).expect(201);
  const job = await executor.claim();
  expect(job).toMatchObject({ kind: 'test' });
  await job?.complete(null);
});

test('a version from before rules existed is shown and run with the rule that applied to it', async () => {
  const { network: _, ...earlier } = parseDefinition({});
  const { id, uid } = await createTestWorker(api);
  await api.deps.pool.query('UPDATE worker_versions SET definition = $2 WHERE worker_uid = $1', [uid, earlier]);
  expect((await owner.get(`/api/workers/${id}`).expect(200)).body).toMatchObject({ network: 'public' });
  expect(await startJob(id)).toMatchObject({ network: 'egress' });
});

test.each<[unknown, string, RegExp]>([
  ['all', 'network', /"public", "none" or/],
  [null, 'network', /text or an object/],
  [{}, 'network.allow', /required/],
  [{ allow: [] }, 'network.allow', /empty|least/],
  [{ allow: ['a.example', 'A.example:443'] }, 'network.allow.1', /twice/],
  [{ allow: ['https://a.example'] }, 'network.allow.0', /must be a host/],
  [{ allow: ['a.example/path'] }, 'network.allow.0', /must be a host/],
  [{ allow: ['*'] }, 'network.allow.0', /must be a host/],
  [{ allow: ['*.com'] }, 'network.allow.0', /top-level/],
  [{ allow: ['a.*.example'] }, 'network.allow.0', /must be a host/],
  [{ allow: ['[::1]'] }, 'network.allow.0', /must be a host/],
  [{ allow: ['a.example:0'] }, 'network.allow.0', /port/],
  [{ allow: ['a.example:65536'] }, 'network.allow.0', /port/],
  [{ allow: Array.from({ length: 101 }, (_, n) => `h${n}.example`) }, 'network.allow', /at most 100/],
  [{ allow: ['a.example'], deny: [] }, 'network.deny', /unknown/],
])('the rule %j is refused at %s', async (network, field, message) => {
  const { body } = await owner.post('/api/workers', { ...helloWorker, name: 'Wrong', network }).expect(400);
  expect(body.errors).toContainEqual({ path: field, message: expect.stringMatching(message) });
});

test('worker.yaml contains the rule if there is one', () => {
  const worker = { name: 'Exported', description: '', tags: [] };
  const manifest = (network: unknown) => toManifest({ worker, definition: parseDefinition({ network }), triggers: [] });
  expect(manifest({ allow: ['api.example.com'] })).toMatchObject({ network: { allow: ['api.example.com'] } });
  expect(manifest('none')).toMatchObject({ network: 'none' });
  expect(manifest('public')).not.toHaveProperty('network');
});
