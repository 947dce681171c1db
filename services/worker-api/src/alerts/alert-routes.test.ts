import { newId } from '@gantry/events';
import { setupResource } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const admin = setupResource(async () => createCaller(api.url, (await api.addMember('admin')).jwt));
const member = setupResource(async () => createCaller(api.url, (await api.addMember('member')).jwt));

const URL = 'https://hooks.example.com/in/t0ken?key=secret';

async function createAlert(body: object = {}) {
  return (await admin.post('/api/alerts', { on: ['run.failed'], url: URL, ...body }).expect(201)).body;
}

test('an alert of a worker is created, read, edited and deleted; its secret is in the first response alone', async () => {
  const { id: worker } = await createTestWorker(api);
  const { body: made } = await admin
    .post(`/api/workers/${worker}/alerts`, { on: ['run.failed', 'schedule.missed'], url: URL, description: 'On call' })
    .expect(201);
  expect(made).toMatchObject({ worker_id: worker, automation_id: null, url: URL, email_to: null, enabled: true });
  expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const { body: listed } = await admin.get(`/api/workers/${worker}/alerts`).expect(200);
  const { secret: _, ...shown } = made;
  expect(listed).toEqual([shown]);
  expect((await admin.get(`/api/alerts?worker_id=${worker}`).expect(200)).body).toEqual([shown]);
  const { body: edited } = await admin
    .patch(`/api/alerts/${made.id}`, { on: ['run.completed'], enabled: false })
    .expect(200);
  expect(edited).toMatchObject({ on: ['run.completed'], enabled: false, description: 'On call', url: URL });
  expect(edited.secret).toBeUndefined();
  await admin.remove(`/api/alerts/${made.id}`).expect(204);
  await admin.get(`/api/alerts/${made.id}`).expect(404);
  await admin.remove(`/api/alerts/${made.id}`).expect(404);
});

test('each change is in the audit log, without URL or secret', async () => {
  const { id } = await createAlert();
  await admin.patch(`/api/alerts/${id}`, { secret_rotate: true }).expect(200);
  await admin.remove(`/api/alerts/${id}`).expect(204);
  const { body, text } = await admin.get(`/api/audit-log?resource_id=${id}`).expect(200);
  expect(body.map((entry: { action: string }) => entry.action)).toEqual([
    'alert.deleted',
    'alert.updated',
    'alert.created',
  ]);
  expect(text).not.toMatch(/whsec_|t0ken/);
});

test('rotating shows a new secret once, and needs a url', async () => {
  const made = await createAlert();
  const { body } = await admin.patch(`/api/alerts/${made.id}`, { secret_rotate: true }).expect(200);
  expect(body.secret).toMatch(/^whsec_/);
  expect(body.secret).not.toBe(made.secret);
  expect((await admin.get(`/api/alerts/${made.id}`).expect(200)).body.secret).toBeUndefined();
});

test('Idempotency-Key creates one alert, and its secret is not stored to be shown again', async () => {
  const send = () => admin.post('/api/alerts', { on: ['run.failed'], url: URL }).set('Idempotency-Key', newId('key_'));
  const first = send();
  const key = first.get('Idempotency-Key') as string;
  await first.expect(201);
  const again = await admin
    .post('/api/alerts', { on: ['run.failed'], url: URL })
    .set('Idempotency-Key', key)
    .expect(409);
  expect(again.body.code).toBe('already_done');
});

test('a member who cannot change an alert sees its receiver, but not the secret parts of the address', async () => {
  const { id } = await createAlert();
  const { body } = await member.get(`/api/alerts/${id}`).expect(200);
  expect(body.url).toBe('https://hooks.example.com/…');
  expect((await member.get('/api/alerts').expect(200)).text).not.toContain('t0ken');
  await member.get(`/api/alerts/${id}/deliveries`).expect(403);
  await member.post('/api/alerts', { on: ['run.failed'], url: URL }).expect(403);
});

test('alerts of a private worker are visible to members who see the worker', async () => {
  const owner = await api.addMember('member');
  const { id: worker } = await createTestWorker(api, { visibility: 'private', ownerId: owner.userId });
  const { id } = await createAlert({ worker_id: worker });
  await createCaller(api.url, owner.jwt).get(`/api/alerts/${id}`).expect(200);
  await member.get(`/api/alerts/${id}`).expect(404);
  await member.get(`/api/workers/${worker}/alerts`).expect(404);
  await member.get(`/api/alerts?worker_id=${worker}`).expect(404);
});

test.each<[object, string]>([
  [{ on: ['run.failed'] }, 'url'],
  [{ on: [], url: URL }, 'on'],
  [{ url: URL }, 'on'],
  [{ on: ['run.exploded'], url: URL }, 'on.0'],
  [{ on: ['run.failed', 'run.failed'], url: URL }, 'on'],
  [{ on: ['run.failed'], url: 'hooks.example.com' }, 'url'],
  [{ on: ['run.failed'], url: 'ftp://hooks.example.com/' }, 'url'],
  [{ on: ['run.failed'], url: 'https://user:pw@hooks.example.com/' }, 'url'],
  [{ on: ['run.failed'], url: 'http://127.0.0.1:8080/' }, 'url'],
  [{ on: ['run.failed'], url: 'http://[::ffff:169.254.169.254]/latest/meta-data' }, 'url'],
  [{ on: ['run.failed'], url: 'http://0x7f.1/' }, 'url'],
  [{ on: ['run.failed'], url: URL, worker_id: 'nobody', automation_id: 'aut_1' }, 'automation_id'],
  [{ on: ['approval.requested'], url: URL, automation_id: 'aut_1' }, 'on'],
  [{ on: ['run.failed'], url: URL, description: 'a\u0000b' }, 'description'],
  [{ on: ['run.failed'], url: URL, secret: 'whsec_mine' }, 'secret'],
])('%j is a 400 that names %s', async (body, field) => {
  const answer = await admin.post('/api/alerts', body).expect(400);
  expect(answer.body.errors).toEqual(expect.arrayContaining([expect.objectContaining({ path: field })]));
});

test('all problems of an alert are in one response', async () => {
  const wrong = {
    on: ['approval.requested'],
    url: 'http://127.0.0.1/',
    email_to: 'a@b@c, d@e',
    automation_id: 'aut_1',
  };
  const { body } = await admin.post('/api/alerts', wrong).expect(400);
  expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(['url', 'email_to', 'on']);
});

test('an email address is refused if nothing can send to it, naming the setting', async () => {
  const { body } = await admin.post('/api/alerts', { on: ['run.failed'], email_to: 'a@example.com' }).expect(409);
  expect(body).toMatchObject({ code: 'mail_not_configured', detail: expect.stringContaining('SMTP_URL') });
  const invalid = await admin.post('/api/alerts', { on: ['run.failed'], email_to: 'a@b@c, d@e' }).expect(400);
  expect(invalid.body.errors[0].path).toBe('email_to');
});

test('an alert for an unknown worker is a 404, however it is named', async () => {
  const { id: foreign } = await createTestWorker(api, { workspaceId: api.foreign.workspaceId });
  for (const worker of ['nobody', foreign]) {
    await admin.post('/api/alerts', { on: ['run.failed'], url: URL, worker_id: worker }).expect(404);
    await admin.post(`/api/workers/${worker}/alerts`, { on: ['run.failed'], url: URL }).expect(404);
  }
});

test('the last channel cannot be removed', async () => {
  const { id } = await createAlert();
  await admin.patch(`/api/alerts/${id}`, { url: null }).expect(400);
});

test('the number of alerts of one worker is limited', async () => {
  const { uid, id } = await createTestWorker(api);
  await api.database.pool.query(
    `INSERT INTO alerts (id, workspace_id, worker_uid, "on", url, description, updated_at)
     SELECT 'alrt_' || i, $1, $2, '{run.failed}', 'https://a.example', '', now() FROM generate_series(1, 50) i`,
    [api.workspaceId, uid],
  );
  const { body } = await admin.post(`/api/workers/${id}/alerts`, { on: ['run.failed'], url: URL }).expect(409);
  expect(body.code).toBe('too_many_alerts');
  const page = await admin.get(`/api/workers/${id}/alerts?limit=20`).expect(200);
  expect(page.headers).toMatchObject({ 'x-total-count': '50', link: expect.stringContaining('offset=20') });
  await admin.get(`/api/workers/${id}/alerts?limit=201`).expect(400);
});
