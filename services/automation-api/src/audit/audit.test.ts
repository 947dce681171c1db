import { auditRecorded } from '@gantry/events';
import { type Caller, createArtifact, deployArtifact, testService } from '../test/service';

const VALUE = 'correct-horse-battery-staple';

const service = testService();
beforeAll(async () => {
  // Keeps events in the outbox, where this file reads them.
  await service.api.relay.stop();
});

async function listEntries({ workspaceId }: Caller) {
  const { rows } = await service.api.deps.pool.query(
    'SELECT data FROM outbox WHERE type = $1 AND workspace_id = $2 ORDER BY created_at, id',
    [auditRecorded.type, workspaceId],
  );
  return rows.map(({ data }) => auditRecorded.data.parse(data));
}

test('every change is announced with its actor, action, resource and address', async () => {
  const me = service.createCaller();
  const { id } = await deployArtifact(me);
  const artifactId = await createArtifact(me);
  const automation = `/api/automations/${id}`;
  await me.post(`${automation}/update`, { artifactId }).set('User-Agent', 'a browser').expect(200);
  await me.post(`${automation}/rollback`).expect(200);
  await me.patch(automation, { name: 'Other', visibility: 'public', schedule: null }).expect(200);
  await me.post('/api/secrets', { name: 'API_KEY', value: VALUE }).expect(201);
  await me.post('/api/secrets', { name: 'API_KEY', value: `${VALUE}-2` }).expect(200);
  await me.delete('/api/secrets/API_KEY').expect(204);
  const { body: run } = await me.post(`${automation}/run`, { inputs: { who: VALUE }, wait: 0 }).expect(200);
  await me.post(`/api/runs/${run.runId}/cancel`).expect(200);
  await me.delete(automation).expect(204);

  const entries = await listEntries(me);
  expect(entries.map(({ action, resource }) => [action, resource.type, resource.id])).toEqual([
    ['artifact.created', 'artifact', expect.stringMatching(/^art_/)],
    ['automation.deployed', 'automation', id],
    ['artifact.created', 'artifact', artifactId],
    ['automation.updated', 'automation', id],
    ['automation.rolled_back', 'automation', id],
    ['automation.changed', 'automation', id],
    ['secret.set', 'secret', 'API_KEY'],
    ['secret.set', 'secret', 'API_KEY'],
    ['secret.deleted', 'secret', 'API_KEY'],
    ['run.cancelled', 'run', run.runId],
    ['automation.archived', 'automation', id],
  ]);
  expect(entries[3]).toMatchObject({
    source: 'automation-api',
    actor: { kind: 'personal_token', id: me.userId, tokenId: expect.stringMatching(/^tok_/) },
    details: { artifactId, from: 1, to: 2 },
    address: expect.stringContaining('127.0.0.1'),
    userAgent: 'a browser',
    requestId: expect.stringMatching(/^req_/),
  });
  expect(entries[5]?.details).toEqual({ changed: ['visibility', 'name'], to: { visibility: 'public' } });
  expect(JSON.stringify(entries)).not.toContain('horse');
});

test('refused, failed and ineffective requests are not announced', async () => {
  const me = service.createCaller();
  const viewer = service.createCaller({ role: 'viewer', workspaceId: me.workspaceId });
  const { id } = await deployArtifact(me);
  const { body: run } = await me.post(`/api/automations/${id}/run`, { inputs: { who: 'x' }, wait: 0 }).expect(200);
  await me.post(`/api/runs/${run.runId}/cancel`).expect(200);
  const before = await listEntries(me);
  await viewer.delete(`/api/automations/${id}`).expect(403);
  await me.patch(`/api/automations/${id}`, { visibility: 'private' }).expect(200);
  await me.patch(`/api/automations/${id}`, { schedule: 'never' }).expect(400);
  await me.post(`/api/automations/${id}/rollback`).expect(409);
  await me.delete('/api/secrets/UNKNOWN').expect(404);
  await me.post(`/api/runs/${run.runId}/cancel`).expect(409);
  expect(await listEntries(me)).toEqual(before);
});

test('a run that a visitor cancels by the link is announced to its workspace, without the visitor’s account', async () => {
  const me = service.createCaller();
  const stranger = service.createCaller();
  const { id } = await deployArtifact(me, { deploy: { visibility: 'public' } });
  const page = `/api/pages/${id}`;
  const { body: run } = await stranger.post(`${page}/runs`, { inputs: { who: 'x' }, wait: 0 }).expect(200);
  await stranger.post(`${page}/runs/${run.runId}/cancel`).expect(200);
  expect((await listEntries(me)).at(-1)).toMatchObject({
    action: 'run.cancelled',
    resource: { id: run.runId },
    actor: { kind: 'link', id: null, label: null, tokenId: null },
  });
  expect(await listEntries(stranger)).toEqual([]);
});
