import { createOpaqueToken } from '@gantry/auth';
import { setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { deleteShareLinks, sweepShareLinks } from './share-link-repository';

let now = new Date();
const api = testWorkerApi({ now: () => now });
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());
beforeEach(() => {
  now = new Date();
});

/** A run that has printed, done a step and returned something. */
async function ran(worker?: { id: string }): Promise<string> {
  const { id } =
    worker ??
    (await createTestWorker(api, {
      definition: { inputs: ['customer'], outputs: [{ name: 'total', type: 'number' }] },
    }));
  const { body } = await me.post(`/api/workers/${id}/runs`, { inputs: { customer: 'Müller' } }).expect(201);
  const job = await executor.claim();
  await job?.report(
    { type: 'started' },
    { type: 'log', stream: 'stdout', level: 'info', text: '12 rows read' },
    { type: 'cost', usd: 0.5, label: 'a model' },
    { type: 'finished', status: 'completed', output: { total: 12 }, usage: zeroUsage },
  );
  await waitUntil(async () => (await me.get(`/api/runs/${body.run_id}`)).body.status === 'completed');
  return body.run_id;
}

const share = async (runId: string, body: object = {}) =>
  (await me.post(`/api/runs/${runId}/share-links`, body).expect(201)).body;
const fetchShared = (token: string) => fetch(`${api.url}/api/shared/${token}`);

test('a visitor with the link sees the progress of the run, and neither its inputs nor ids, also live', async () => {
  const runId = await ran();
  const { url, token, ...link } = await share(runId, { expires_in_seconds: 3_600 });
  expect(url).toMatch(new RegExp(`/shared/${token}$`));
  expect(Date.parse(link.expires_at) - now.getTime()).toBe(3_600_000);
  const answer = await fetchShared(token);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-robots-tag')).toContain('noindex');
  const body = (await answer.json()) as Record<string, unknown>;
  expect(body).toMatchObject({ worker_name: 'Made by a test', status: 'completed', output: { total: 12 } });
  expect(body.outputs).toMatchObject([{ name: 'total', type: 'number' }]);
  for (const secret of ['Müller', runId, api.workspaceId, api.owner.userId]) {
    expect(JSON.stringify(body)).not.toContain(secret);
  }
  const told = await (await fetch(`${api.url}/api/shared/${token}/events`)).text();
  expect(told).toContain('12 rows read');
  expect(told).toContain('event: done');
  expect(told).not.toContain('a model');
  expect(told).not.toContain(runId);
});

test('a link is listed without its token until it is revoked, and both are audited', async () => {
  const runId = await ran();
  const { token, url, ...link } = await share(runId);
  expect((await me.get(`/api/runs/${runId}/share-links`).expect(200)).body).toEqual([link]);
  const { rows } = await api.database.pool.query('SELECT * FROM share_links WHERE id = $1', [link.id]);
  expect(JSON.stringify(rows)).not.toContain(token);
  await me.remove(`/api/runs/${await ran()}/share-links/${link.id}`).expect(404);
  await me.remove(`/api/runs/${runId}/share-links/${link.id}`).expect(204);
  expect((await fetchShared(token)).status).toBe(404);
  expect((await me.get(`/api/runs/${runId}/share-links`)).body).toEqual([]);
  const { rows: entries } = await api.database.pool.query(
    'SELECT action FROM audit_log WHERE resource_id = $1 ORDER BY created_at',
    [runId],
  );
  expect(entries.map(({ action }) => action)).toEqual(['run.shared', 'run.share_link_revoked']);
});

test('a visitor who follows a run by a link is disconnected when it is revoked', async () => {
  const worker = await createTestWorker(api);
  const { run_id } = (await me.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201)).body;
  const { id, token } = await share(run_id);
  const stream = await fetch(`${api.url}/api/shared/${token}/events`);
  const ended = stream.text().then(
    () => true,
    () => true,
  );
  await me.remove(`/api/runs/${run_id}/share-links/${id}`).expect(204);
  expect(await ended).toBe(true);
  await me.post(`/api/runs/${run_id}/cancel`).expect(200);
});

test('a link ends at its expiry, with the run, with its creator’s membership and with their access to the worker', async () => {
  const worker = await createTestWorker(api);
  const works = async (token: string) => (await fetchShared(token)).status === 200;
  const runId = await ran(worker);
  const timed = await share(runId, { expires_in_seconds: 300 });
  now = new Date(now.getTime() + 301_000);
  expect(await works(timed.token)).toBe(false);

  const person = await api.addMember('member');
  const theirs = createCaller(api.url, person.jwt);
  const createLink = async () => (await theirs.post(`/api/runs/${runId}/share-links`).expect(201)).body.token;
  const token = await createLink();
  expect(await works(token)).toBe(true);
  await api.deps.prisma.worker.update({ where: { uid: worker.uid }, data: { visibility: 'private' } });
  expect(await works(token)).toBe(false);
  await api.deps.prisma.worker.update({ where: { uid: worker.uid }, data: { visibility: 'workspace' } });
  expect(await works(token)).toBe(true);
  await me.remove(`/api/workspaces/${api.workspaceId}/members/${person.userId}`).expect(204);
  expect(await works(token)).toBe(false);

  const { token: last } = await share(runId);
  await deleteShareLinks(api.database.pool, [runId]);
  expect(await works(last)).toBe(false);
  await sweepShareLinks(api.database.pool);
});

test('tokens of programs and viewers share nothing, and the number of links of a run is limited', async () => {
  const runId = await ran();
  const { token } = await api.createToken('personal', api.owner.jwt);
  const refused = await createCaller(api.url, token).post(`/api/runs/${runId}/share-links`).expect(403);
  expect(refused.body.code).toBe('needs_sign_in');
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  await viewer.post(`/api/runs/${runId}/share-links`).expect(403);
  await viewer.get(`/api/runs/${runId}/share-links`).expect(403);
  await createCaller(api.url, api.foreign.owner.jwt).post(`/api/runs/${runId}/share-links`).expect(404);
  for (let n = 0; n < 20; n++) await share(runId);
  expect((await me.post(`/api/runs/${runId}/share-links`).expect(409)).body.code).toBe('too_many_share_links');
  for (const guess of ['shr_guess', createOpaqueToken('shr_'), createOpaqueToken('inv_')]) {
    expect((await fetchShared(guess)).status).toBe(404);
    expect((await fetch(`${api.url}/api/shared/${guess}/events`)).status).toBe(404);
  }
});
