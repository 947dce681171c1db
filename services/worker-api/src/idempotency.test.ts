/** Tests Idempotency-Key on every operation that creates something, whatever happens to the first request. */

import { randomUUID } from 'node:crypto';
import { newId } from '@gantry/events';
import { clearStoredResponse, setupResource, testIdempotency } from '@gantry/testing';
import type { Test } from 'supertest';
import { createCaller } from './test/caller';
import { createWorker, helloWorker } from './test/create-worker';
import { testWorkerApi } from './test/test-worker-api';

let ws: string;
const api = testWorkerApi();
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
beforeAll(async () => {
  ws = `/api/workspaces/${api.workspaceId}`;
});

const sql = (text: string, values: unknown[] = []) => api.deps.pool.query(text, values);
const ALERT = { on: ['run.failed'], url: 'https://hooks.example.com/in' };

/** Counts the rows that creating something adds; a replacement leaves an entry in the log. */
async function countRows() {
  const tables = ['workers', 'worker_versions', 'contexts', 'context_versions', 'secrets', 'tokens', 'alerts'];
  const counted = [...tables, 'workspaces', 'invitations', 'runs', 'audit_log'];
  return (await sql(`SELECT ${counted.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(', ')}`))
    .rows[0];
}

async function createEndedRun(): Promise<string> {
  const worker = await createWorker(api);
  const { run_id } = (await me.post(`/api/workers/${worker.id}/runs`, {}).expect(201)).body;
  await me.post(`/api/runs/${run_id}/cancel`).expect(200);
  return run_id;
}

/** Adds a second version, and returns the path that rolls back to the first. */
async function createSecondVersion(made: { path: string; version: string }): Promise<string> {
  await me.put(`${made.path}/files`, { files: [{ path: 'more.txt', content: 'x' }] }).expect(200);
  return `${made.path}/rollback/${made.version}`;
}

async function createContext() {
  const name = newId('pack')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
  await me.post('/api/contexts', { name, files: [{ path: 'a.txt', content: 'a' }] }).expect(201);
  const path = `/api/contexts/${name}`;
  return { path, version: (await me.get(`${path}/versions`).expect(200)).body[0].sha as string };
}

const REPEATABLE: Record<string, () => Promise<() => Test>> = {
  createWorker: async () => () => me.post('/api/workers', { ...helloWorker, name: 'Keyed' }),
  rollBackWorker: async () => {
    const { id } = await createWorker(api);
    const { sha } = (await me.get(`/api/workers/${id}/versions`).expect(200)).body[0];
    const path = await createSecondVersion({ path: `/api/workers/${id}`, version: sha });
    return () => me.post(path);
  },
  startRun: async () => {
    const { id } = await createWorker(api);
    return () => me.post(`/api/workers/${id}/runs`, {});
  },
  'startRun, held for approval': async () => {
    const { id } = await createWorker(api, { approvals: { required: true } });
    return () => me.post(`/api/workers/${id}/runs`, {});
  },
  testWorker: async () => {
    const { id } = await createWorker(api);
    return () => me.post(`/api/workers/${id}/test`, { draft: {} });
  },
  replayRun: async () => {
    const id = await createEndedRun();
    return () => me.post(`/api/runs/${id}/replay`);
  },
  replayRuns: async () => {
    const ids = [await createEndedRun(), await createEndedRun(), 'run_unknown'];
    return () => me.post('/api/runs/bulk/replay', { ids });
  },
  createContext: async () => {
    const name = `keyed-${randomUUID()}`;
    return () => me.post('/api/contexts', { name });
  },
  uploadContextFiles: async () => {
    const { path } = await createContext();
    return () => me.post(`${path}/upload`).attach('files', Buffer.from('b'), 'b.txt');
  },
  'uploadContextFiles, that changes nothing': async () => {
    const { path } = await createContext();
    return () => me.post(`${path}/upload`).attach('files', Buffer.from('a'), 'a.txt');
  },
  rollBackContext: async () => {
    const path = await createSecondVersion(await createContext());
    return () => me.post(path);
  },
  createSecret: async () => () => me.post('/api/secrets', { name: 'ONE', value: 'hunter2hunter2' }),
  postSecret: async () => () => me.post('/api/secrets/TWO', { value: 'hunter2hunter2' }),
  createWorkspace: async () => () => me.post('/api/workspaces', { name: 'Keyed' }),
  receiveWebhook: async () => {
    const { id, webhook_secret } = await createWorker(api, { trigger: 'webhook' });
    return () => createCaller(api.url).post(`/api/webhooks/${id}?token=${webhook_secret}`, { a: 1 });
  },
};

testIdempotency(REPEATABLE, { sql, counts: countRows, fields: 'errors' });

const SHOWN_ONCE: Record<string, () => Promise<() => Test>> = {
  'createWorker, with a webhook': async () => () =>
    me.post('/api/workers', { ...helloWorker, name: 'Hooked', trigger: 'webhook' }),
  createPersonalToken: async () => () => me.post('/auth/tokens', { name: 'keyed' }),
  createWorkspaceToken: async () => () => me.post('/api/workspace/tokens', { name: 'keyed' }),
  inviteMember: async () => {
    const email = `${randomUUID()}@example.com`;
    return () => me.post(`${ws}/members/invite`, { email });
  },
  resendInvitation: async () => {
    const { body } = await me.post(`${ws}/members/invite`, { email: `${randomUUID()}@example.com` }).expect(201);
    return () => me.post(`${ws}/invitations/${body.id}/resend`);
  },
  createPasswordResetLink: async () => {
    const { userId } = await api.addMember('member');
    return () => me.post(`${ws}/members/${userId}/password-reset`);
  },
  createAlert: async () => () => me.post('/api/alerts', ALERT),
  createWorkerAlert: async () => {
    const { id } = await createWorker(api);
    return () => me.post(`/api/workers/${id}/alerts`, ALERT);
  },
};

test.each(Object.entries(SHOWN_ONCE))(
  '%s shows its secret once, and then the id of what it created',
  async (_what, prepare) => {
    const [send, key] = [await prepare(), randomUUID()];
    const first = await send().set('Idempotency-Key', key).expect(201);
    const before = await countRows();
    const again = await send().set('Idempotency-Key', key).expect(409);
    const { rows } = await sql('SELECT made_id, response_body FROM idempotency_keys WHERE key = $1', [key]);
    expect(rows).toEqual([{ made_id: expect.any(String), response_body: null }]);
    expect(again.body).toMatchObject({ code: 'already_done', errors: [{ path: 'id', message: rows[0].made_id }] });
    if (first.body.id) expect(rows[0].made_id).toBe(first.body.id);
    await clearStoredResponse(sql, key);
    expect((await send().set('Idempotency-Key', key).expect(409)).body.code).toBe('already_done');
    expect(await countRows()).toEqual(before);
  },
);

test('a member who lost access to the worker gets a 404 for the repeated request, and no run starts', async () => {
  const { jwt } = await api.addMember('member');
  const member = createCaller(api.url, jwt);
  const worker = await createWorker(api);
  const send = () => member.post(`/api/workers/${worker.id}/runs`, {}).set('Idempotency-Key', 'hidden');
  const { body } = await send().expect(201);
  await me.put(`/api/workers/${worker.id}/visibility`, { visibility: 'private' }).expect(200);
  expect((await send().expect(404)).text).not.toContain(body.run_id);
  expect((await me.get(`/api/workers/${worker.id}/runs`)).body).toHaveLength(1);
});

test('a removed member does not get the stored response', async () => {
  const { jwt, userId } = await api.addMember('member');
  const member = createCaller(api.url, jwt);
  const worker = await createWorker(api);
  const send = () => member.post(`/api/workers/${worker.id}/runs`, {}).set('Idempotency-Key', 'removed');
  await send().expect(201);
  await me.remove(`${ws}/members/${userId}`).expect(204);
  expect([401, 403]).toContain((await send()).status);
});

test('idempotency keys of two members do not collide', async () => {
  const member = createCaller(api.url, (await api.addMember('member')).jwt);
  const { id } = await createWorker(api);
  const send = (caller: typeof me) =>
    caller.post(`/api/workers/${id}/runs`, {}).set('Idempotency-Key', 'between-members').expect(201);
  const ids = [(await send(me)).body.run_id, (await send(member)).body.run_id, (await send(me)).body.run_id];
  expect([ids[0] === ids[1], ids[0] === ids[2]]).toEqual([false, true]);
});

test('a token of the same user with a lower role is authorized by its own role', async () => {
  const { token } = await api.createToken('personal', api.owner.jwt, { role: 'viewer' });
  const { id } = await createWorker(api);
  const send = (credential: string) =>
    createCaller(api.url, credential).post(`/api/workers/${id}/runs`, {}).set('Idempotency-Key', 'lower-role');
  await send(api.owner.jwt).expect(201);
  await send(token).expect(403);
});
