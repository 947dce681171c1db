import { openStream, waitUntil, zeroUsage } from '@gantry/testing';
import { type Caller, deployArtifact, testService } from '../test/service';

const manifest = {
  name: 'Shared',
  inputs: ['who'],
  outputs: [{ name: 'n', type: 'number' }],
  secrets_needed: ['API_KEY'],
};
const files = { 'main.py': 'def run(who): pass' };
const inputs = { who: 'x' };

let me: Caller;
let id: string;
const service = testService();
beforeEach(async () => {
  me = service.createCaller();
  ({ id } = await deployArtifact(me, { files, manifest, deploy: { visibility: 'public' } }));
});

test('the page of a member has every field; shorthands of the manifest are expanded', async () => {
  const { body } = await me.get(`/api/pages/${id}`).expect(200);
  expect(body).toMatchObject({
    id,
    name: 'Shared',
    currentVersion: 1,
    inputs: [{ name: 'who', type: 'text', required: true }],
    outputs: [{ name: 'n', type: 'number' }],
    inputSchema: { type: 'object', required: ['who'], additionalProperties: false },
    access: 'member',
    canRun: true,
    missingSecrets: ['API_KEY'],
  });
  const viewer = service.createCaller({ role: 'viewer', workspaceId: me.workspaceId });
  expect((await viewer.get(`/api/pages/${id}`).expect(200)).body).toMatchObject({ access: 'member', canRun: false });
  await viewer.post(`/api/pages/${id}/runs`, { inputs }).expect(403);
});

test('a visitor with the link sees the form and nothing of the workspace', async () => {
  const elsewhere = service.createCaller();
  for (const caller of [service.anonymous, elsewhere]) {
    const { body } = await caller.get(`/api/pages/${id}`).expect(200);
    expect(body).toMatchObject({ access: 'link', canRun: true, name: 'Shared' });
    expect(JSON.stringify(body)).not.toContain('API_KEY');
    expect(JSON.stringify(body)).not.toContain(me.workspaceId);
  }
  await service.anonymous.get(`/api/automations/${id}`).expect(401);
});

test('a visitor runs it, and reads, follows and stops that run, but no other', async () => {
  const { body: theirs } = await me.post(`/api/automations/${id}/run`, { inputs, wait: 0 }).expect(200);
  const { body: mine } = await service.anonymous.post(`/api/pages/${id}/runs`, { inputs, wait: 0 }).expect(200);
  const page = (runId: string, rest = '') => service.anonymous.get(`/api/pages/${id}/runs/${runId}${rest}`);
  expect((await page(mine.runId).expect(200)).body).toMatchObject({ trigger: 'link', status: 'pending' });
  for (const rest of ['', '/events', '/artifacts/art_x/download']) await page(theirs.runId, rest).expect(404);
  await service.anonymous.post(`/api/pages/${id}/runs/${theirs.runId}/cancel`).expect(404);
  await service.anonymous.get(`/api/runs/${mine.runId}`).expect(401);
  const stopped = await service.anonymous.post(`/api/pages/${id}/runs/${mine.runId}/cancel`).expect(200);
  expect(stopped.body).toMatchObject({ status: 'error', error: { code: 'cancelled' } });
  const events = await page(mine.runId, '/events').expect(200);
  expect(events.text).toContain('event: done');
  // Members see both.
  expect((await me.get(`/api/pages/${id}/runs/${theirs.runId}`).expect(200)).body.trigger).toBe('api');
  expect((await me.get(`/api/runs/${mine.runId}`).expect(200)).body.trigger).toBe('link');
  await me.post(`/api/runs/${theirs.runId}/cancel`).expect(200);
});

test('a run of one automation is not found on the page of another', async () => {
  const other = await deployArtifact(me, { files, manifest, deploy: { visibility: 'public' } });
  const { body } = await service.anonymous.post(`/api/pages/${id}/runs`, { inputs, wait: 0 }).expect(200);
  await service.anonymous.get(`/api/pages/${other.id}/runs/${body.runId}`).expect(404);
  await me.post(`/api/runs/${body.runId}/cancel`).expect(200);
});

test('a visitor learns that a run failed, not which lines of code or which secret', async () => {
  await me.post('/api/secrets', { name: 'API_KEY', value: 'secret value' }).expect(201);
  const executor = await service.connectExecutor();
  const claim = executor.claim();
  const response = service.anonymous.post(`/api/pages/${id}/runs`, { inputs });
  void response.then(() => {});
  const error = { code: 'exception' as const, message: 'no such city', type: 'ValueError', trace: 'main.py, line 3' };
  await (await claim)?.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
  const { body } = await response;
  expect(body).toMatchObject({ status: 'error', error: { code: 'exception', message: 'no such city' } });
  expect(body.error).not.toHaveProperty('trace');
  expect((await me.get(`/api/runs/${body.runId}`)).body.error.trace).toBe('main.py, line 3');
});

test('a visitor’s event stream is closed when the page is no longer public; members read on', async () => {
  const shared = await deployArtifact(me, { files, manifest, deploy: { visibility: 'public' } });
  const { body } = await service.anonymous.post(`/api/pages/${shared.id}/runs`, { inputs, wait: 0 }).expect(200);
  const url = `${service.url}/api/pages/${shared.id}/runs/${body.runId}/events`;
  const stranger = await openStream(url);
  const member = await openStream(url, { Authorization: `Bearer ${me.token}` });
  expect([stranger.status, member.status]).toEqual([200, 200]);
  await me.patch(`/api/automations/${shared.id}`, { visibility: 'private' }).expect(200);
  await waitUntil(() => stranger.hasEnded());
  expect(member.hasEnded()).toBe(false);
  member.close();
  await me.post(`/api/runs/${body.runId}/cancel`).expect(200);
});

test('a private page is for members only, and private again means private', async () => {
  const { id: hidden } = await deployArtifact(me, { files, manifest });
  expect((await service.anonymous.get(`/api/pages/${hidden}`).expect(401)).body.code).toBe('no_credential');
  expect((await service.anonymous.get('/api/pages/aut_unknown').expect(401)).body.code).toBe('no_credential');
  await service.createCaller().get(`/api/pages/${hidden}`).expect(404);
  await service.anonymous.post(`/api/pages/${hidden}/runs`, { inputs }).expect(401);

  await me.patch(`/api/automations/${hidden}`, { visibility: 'public' }).expect(200);
  const { body } = await service.anonymous.post(`/api/pages/${hidden}/runs`, { inputs, wait: 0 }).expect(200);
  await me.patch(`/api/automations/${hidden}`, { visibility: 'private' }).expect(200);
  await service.anonymous.get(`/api/pages/${hidden}/runs/${body.runId}`).expect(401);
  await me.post(`/api/runs/${body.runId}/cancel`).expect(200);
});

test('a visitor sends files only in the request', async () => {
  const withFile = { name: 'File', inputs: [{ name: 'f', type: 'file' }] };
  const shared = await deployArtifact(me, {
    files: { 'main.py': 'def run(f): pass' },
    manifest: withFile,
    deploy: { visibility: 'public' },
  });
  const { body: upload } = await me.post('/api/artifacts/upload-url').expect(200);
  const start = (f: object) => service.anonymous.post(`/api/pages/${shared.id}/runs`, { inputs: { f }, wait: 0 });
  await start({ name: 'a.txt', storageKey: upload.storageKey }).expect(400);
  const { body } = await start({ name: 'a.txt', content_base64: 'YQ==' }).expect(200);
  await me.post(`/api/runs/${body.runId}/cancel`).expect(200);
});
