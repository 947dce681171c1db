/** The response for an id of another workspace equals that for an unknown id. */
import { createZip, setupResource } from '@gantry/testing';
import { createArtifact, deployArtifact, helloManifest, testService, uploadZip } from './test/service';

interface Ids {
  artifactId: string;
  storageKey: string;
  automationId: string;
  runId: string;
  testRunId: string;
}

let foreignIds: Ids;
const unknownIds: Ids = {
  artifactId: 'art_unknown-unknown-unkno',
  storageKey: 'ws_unknown/uploads/up_unknown',
  automationId: 'aut_unknown-unknown-unkno',
  runId: 'run_unknown-unknown-unkno',
  testRunId: 'tr_unknown-unknown-unknow',
};

const service = testService();
const owner = setupResource(() => service.createCaller());
const stranger = setupResource(() => service.createCaller());
beforeAll(async () => {
  const artifactId = await createArtifact(owner);
  const { automationId } = await deployArtifact(owner);
  const inputs = { who: 'me' };
  const { body: run } = await owner.post(`/api/automations/${automationId}/run`, { inputs, wait: 0 });
  const { body: test } = await owner.post('/api/test', { artifactId, inputs, wait: 0 });
  const storageKey = await uploadZip(owner, await createZip({ 'main.py': 'def run(who): pass' }));
  foreignIds = { artifactId, storageKey, automationId, runId: run.runId, testRunId: test.testRunId };
});

const attempts: [
  what: string,
  (ids: Ids, own: { artifactId: string }) => [method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object],
][] = [
  ['code', ({ artifactId }) => ['get', `/api/artifacts/${artifactId}/code`]],
  [
    'upload',
    ({ storageKey }) => ['post', '/api/artifacts', { manifest: helloManifest, entrypoint: 'main.py', storageKey }],
  ],
  ['test of an artifact', ({ artifactId }) => ['post', '/api/test', { artifactId, inputs: { who: 'x' }, wait: 0 }]],
  [
    'test with the secrets of an automation',
    ({ automationId }, { artifactId }) => [
      'post',
      '/api/test',
      { artifactId, automationId, inputs: { who: 'x' }, wait: 0 },
    ],
  ],
  ['deploy', ({ artifactId }) => ['post', '/api/deploy', { artifactId }]],
  ['automation', ({ automationId }) => ['get', `/api/automations/${automationId}`]],
  ['edit', ({ automationId }) => ['patch', `/api/automations/${automationId}`, { name: 'mine now' }]],
  ['archive', ({ automationId }) => ['delete', `/api/automations/${automationId}`]],
  ['update', ({ automationId }, { artifactId }) => ['post', `/api/automations/${automationId}/update`, { artifactId }]],
  ['rollback', ({ automationId }) => ['post', `/api/automations/${automationId}/rollback`, { version: 1 }]],
  ['versions', ({ automationId }) => ['get', `/api/automations/${automationId}/versions`]],
  ['start', ({ automationId }) => ['post', `/api/automations/${automationId}/run`, { inputs: { who: 'x' } }]],
  ['page', ({ automationId }) => ['get', `/api/pages/${automationId}`]],
  ['start from the page', ({ automationId }) => ['post', `/api/pages/${automationId}/runs`, { inputs: { who: 'x' } }]],
  ['run on the page', ({ automationId, runId }) => ['get', `/api/pages/${automationId}/runs/${runId}`]],
  ['run', ({ runId }) => ['get', `/api/runs/${runId}`]],
  ['cancelling', ({ runId }) => ['post', `/api/runs/${runId}/cancel`]],
  ['events', ({ runId }) => ['get', `/api/runs/${runId}/events`]],
  ['files of a run', ({ runId }) => ['get', `/api/runs/${runId}/artifacts`]],
  ['file of a run', ({ runId }) => ['get', `/api/runs/${runId}/artifacts/art_x/download`]],
  ['page of runs', ({ runId }) => ['get', `/api/runs?before=${runId}`]],
  ['test run', ({ testRunId }) => ['get', `/api/test-runs/${testRunId}`]],
];

test.each(attempts)('%s: 404, identical to that of one that does not exist', async (_what, attempt) => {
  const own = { artifactId: await createArtifact(stranger) };
  const attemptWith = async (ids: Ids) => {
    const [method, path, body] = attempt(ids, own);
    const { status, text } = await (method === 'patch'
      ? stranger.patch(path, body ?? {})
      : method === 'delete'
        ? stranger.delete(path)
        : method === 'get'
          ? stranger.get(path)
          : stranger.post(path, body));
    const normalizedText = Object.values(ids).reduce((said, id) => said.replaceAll(id, '<id>'), text);
    return { status, said: normalizedText };
  };
  const foreign = await attemptWith(foreignIds);
  expect(foreign.status).toBe(404);
  expect(foreign).toEqual(await attemptWith(unknownIds));
});

test('lists contain nothing of another workspace', async () => {
  const other = service.createCaller();
  expect((await other.get('/api/automations')).body).toEqual({ automations: [] });
  expect((await other.get('/api/runs')).body.runs).toEqual([]);
  expect((await other.get(`/api/runs?automationId=${foreignIds.automationId}`)).body.runs).toEqual([]);
  await owner.post('/api/secrets', { name: 'THEIRS', value: 'x' }).expect(201);
  expect((await other.get('/api/secrets')).body.secrets).toEqual([]);
  await other.delete('/api/secrets/THEIRS').expect(404);
});

test('nothing of it has changed, and the owner still has access to everything', async () => {
  const { body } = await owner.get(`/api/automations/${foreignIds.automationId}`).expect(200);
  expect(body).toMatchObject({ name: 'Hello', status: 'active', currentVersion: 1 });
  await owner.get(`/api/artifacts/${foreignIds.artifactId}/code`).expect(200);
  expect((await owner.get(`/api/runs/${foreignIds.runId}`).expect(200)).body.status).toBe('pending');
});

test('a workspace named in a header is effective only for its members', async () => {
  const { body } = await stranger.get('/api/automations').set('x-svc-workspace', owner.workspaceId).expect(403);
  expect(body.code).toBe('not_a_member');
});

test('a presigned URL of one workspace opens nothing of another', async () => {
  const { body } = await stranger.post('/api/artifacts/upload-url').expect(200);
  const url = body.uploadUrl.replace(stranger.workspaceId, owner.workspaceId);
  expect((await fetch(url, { method: 'PUT', body: 'x' })).status).toBe(403);
  const { body: code } = await owner.get(`/api/artifacts/${foreignIds.artifactId}/code`);
  const altered = code.downloadUrl.replace(owner.workspaceId, stranger.workspaceId);
  expect((await fetch(altered)).status).toBe(403);
});

test.each([
  'get /api/automations',
  'get /api/runs',
  'get /api/secrets',
  'post /api/artifacts/upload-url',
  'post /api/deploy',
])('%s without a credential, or with a bad one, is a 401', async (operation) => {
  const [method, path] = operation.split(' ') as ['get' | 'post', string];
  const body = path === '/api/deploy' ? { artifactId: foreignIds.artifactId } : undefined;
  const without = await service.anonymous[method](path, body).expect(401);
  expect(without.body).toEqual({ error: expect.any(String), code: 'no_credential' });
  const bad = await service.anonymous[method](path, body).set('Authorization', 'Bearer nonsense').expect(401);
  expect(bad.body.code).toBe('bad_credential');
});
