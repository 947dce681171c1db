/** Code that an agent wrote reaches nothing before a person has approved it, by whichever way it comes to run. */

import { transaction } from '@gantry/postgres';
import { setupResource, waitUntil } from '@gantry/testing';
import request from 'supertest';
import { listResumableCandidates } from '../candidates/candidate-repository';
import { startCalledRun } from '../runs/called-run';
import { startUnattendedRun } from '../starters/start-or-refuse';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { getWorker } from './worker-repository';

const api = testWorkerApi();
const person = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const write = (text: string) => [{ path: 'main.py', content: text }];
const LEAK = 'import os\n\ndef run():\n    return os.environ["KEPT"][::-1]\n';
const PURE = 'def run():\n    return 1\n';

/** Requests that a model makes for the owner, as the chat does. */
const agent = {
  post: (path: string, body: object = {}) => byAgent('post', path).send(body),
  put: (path: string, body: object) => byAgent('put', path).send(body),
  patch: (path: string, body: object) => byAgent('patch', path).send(body),
};
const byAgent = (method: 'post' | 'put' | 'patch', path: string) =>
  request(api.url)
    [method](path)
    .set({ Authorization: `Bearer ${api.owner.jwt}`, 'x-svc-agent': 'chat' });

const isWaiting = { status: 409, body: { code: 'version_not_approved' } };

beforeAll(async () => {
  await person.put('/api/secrets/KEPT', { value: 'value-of-the-workspace-9f2c' }).expect(201);
});

async function leaking(more: object = {}) {
  const body = { name: 'Leaks', files: write(LEAK), secrets: ['KEPT'], ...more };
  return (await agent.post('/api/workers', body).expect(201)).body;
}

test('a worker that an agent creates shows the pending approval, and no request runs it until a person has approved it', async () => {
  const worker = await leaking();
  expect(worker).toMatchObject({ version_approval: { status: 'waiting', approved_by: null } });
  expect(worker.warnings.join()).toMatch(/waits for a person.*KEPT.*the network.*\/workers\//);
  const runs = `/api/workers/${worker.id}/runs`;
  for (const asks of [person, agent]) expect(await asks.post(runs, {})).toMatchObject(isWaiting);
  const example = { name: 'One', inputs: {}, checks: [{ kind: 'equal', path: '', value: 1 }] };
  await person.post(`/api/workers/${worker.id}/examples`, example).expect(201);
  expect(await person.post(`/api/workers/${worker.id}/evaluations`, {})).toMatchObject(isWaiting);
  expect(await person.post(`/api/workers/${worker.id}/test`, { draft: {} })).toMatchObject(isWaiting);
  expect(await agent.post(`/api/workers/${worker.id}/test`, { draft: {} })).toMatchObject(isWaiting);
  expect(await executor.claim()).toBeNull();

  const approve = `/api/workers/${worker.id}/versions/${worker.sha}/approve`;
  const { token } = await api.createToken('workspace', api.owner.jwt);
  expect(await createCaller(api.url, token).post(approve)).toMatchObject({
    status: 403,
    body: { code: 'person_needed' },
  });
  expect(await agent.post(approve)).toMatchObject({ status: 403, body: { code: 'person_needed' } });
  const restricted = await api.createToken('personal', api.owner.jwt, { restrict: { toolsets: ['workers'] } });
  await createCaller(api.url, restricted.token).post(approve).expect(403);
  expect(await person.post(runs, {})).toMatchObject(isWaiting);

  const { body: approved } = await person.post(approve).expect(200);
  expect(approved.version_approval).toMatchObject({ status: 'approved', approved_by: api.owner.userId });
  expect((await person.get(`/api/workers/${worker.id}/versions`)).body[0].version_approval.status).toBe('approved');
  await person.post(runs, {}).expect(201);
  const job = await executor.claimJob();
  expect(job).toMatchObject({ secrets: { KEPT: 'value-of-the-workspace-9f2c' }, network: 'egress' });
  await job.complete(null);
});

test('code without secrets, connections and network runs at once, and no other worker acts on its behalf', async () => {
  const body = { name: 'Pure', files: write(PURE), network: 'none' };
  const { body: worker } = await agent.post('/api/workers', body).expect(201);
  await person.post(`/api/workers/${worker.id}/runs`, {}).expect(201);
  const job = await executor.claimJob();
  expect(job).toMatchObject({ network: 'none', may: ['approve'] });
  expect(job).not.toHaveProperty('secrets');
  await job.complete(1);
});

test('packages that an agent chose are not installed before a person has approved them', async () => {
  const body = { name: 'Installs', files: write(PURE), network: 'none', python_dependencies: ['chosen-by-a-model'] };
  const { body: made } = await agent.post('/api/workers', body).expect(201);
  expect(made.warnings.join()).toContain('it can use the packages chosen-by-a-model');
  for (const path of ['runs', 'test']) {
    const refused = await person.post(`/api/workers/${made.id}/${path}`, path === 'test' ? { draft: {} } : {});
    expect(refused).toMatchObject(isWaiting);
  }
  expect(await executor.claim()).toBeNull();
  const mine = await createWorker(api, { name: 'Has a package', network: 'none', python_dependencies: ['mine>=1'] });
  await agent.put(`/api/workers/${mine.id}/files`, { files: write(PURE) }).expect(200);
  await person.post(`/api/workers/${mine.id}/runs`, {}).expect(201);
  const job = await executor.claimJob();
  expect(job).toMatchObject({ dependencies: ['mine>=1'], may: ['approve'] });
  await job.complete(1);
  await agent.patch(`/api/workers/${mine.id}`, { python_dependencies: ['mine>=1', 'other'] }).expect(200);
  const refused = await person.post(`/api/workers/${mine.id}/runs`, {});
  expect(refused).toMatchObject(isWaiting);
  expect(refused.body.detail).toContain('it can use the packages other.');
  const { body: current } = await person.get(`/api/workers/${mine.id}`).expect(200);
  await person.post(`/api/workers/${mine.id}/versions/${current.sha}/approve`).expect(200);
  await person.post(`/api/workers/${mine.id}/runs`, {}).expect(201);
  const approved = await executor.claimJob();
  expect(approved.dependencies).toEqual(['mine>=1', 'other']);
  await approved.complete(1);
});

test('an agent’s code changes no context before a person has approved it', async () => {
  await person.post('/api/contexts', { name: 'shared-notes', writeable: true }).expect(201);
  const body = { name: 'Writes notes', files: write(PURE), network: 'none', contexts: ['shared-notes'] };
  const { body: made } = await agent.post('/api/workers', body).expect(201);
  const claimContexts = async () => {
    await person.post(`/api/workers/${made.id}/runs`, {}).expect(201);
    const job = await executor.claimJob();
    await job.complete(1);
    return job.contexts;
  };
  expect(await claimContexts()).toMatchObject([{ name: 'shared-notes', writeable: false }]);
  await person.post(`/api/workers/${made.id}/versions/${made.sha}/approve`).expect(200);
  expect(await claimContexts()).toMatchObject([{ name: 'shared-notes', writeable: true }]);
});

test('an edit by a person does not approve the rest of an agent’s code', async () => {
  const worker = await leaking();
  const changed = await person.patch(`/api/workers/${worker.id}`, { limits: { timeout_seconds: 9 } }).expect(200);
  expect(changed.body.version_approval.status).toBe('waiting');
  const draft = { draft: { files: [{ path: 'other.py', content: 'x = 1\n' }] } };
  expect(await person.post(`/api/workers/${worker.id}/test`, draft)).toMatchObject(isWaiting);
  const candidate = { limits: { timeout_seconds: 8 }, last_successful: 0 };
  const { body } = await person.post(`/api/workers/${worker.id}/candidates`, candidate).expect(201);
  expect(body.version_approval.status).toBe('waiting');
});

test('restoring a person’s version needs no approval, and an agent’s version waits', async () => {
  const mine = await createWorker(api, { name: 'Mine', files: write(PURE) });
  await agent.put(`/api/workers/${mine.id}/files`, { files: write(LEAK) }).expect(200);
  expect(await person.post(`/api/workers/${mine.id}/runs`, {})).toMatchObject(isWaiting);
  await agent.put(`/api/workers/${mine.id}/files`, { files: write(PURE) }).expect(200);
  const { run_id: id } = (await person.post(`/api/workers/${mine.id}/runs`, {}).expect(201)).body;
  await (await executor.claimJob()).complete(1);
  await waitUntil(async () => (await person.get(`/api/runs/${id}`)).body.status === 'completed');
  await person.post(`/api/runs/${id}/replay`, {}).expect(201);
  await (await executor.claimJob()).complete(1);
});

test('replays, calls, webhooks, schedules and events are refused like requests', async () => {
  const { body: hooked } = await person
    .post('/api/workers', { name: 'Hooked', files: write(PURE), trigger: 'webhook' })
    .expect(201);
  const { run_id: before } = (await person.post(`/api/workers/${hooked.id}/runs`, {}).expect(201)).body;
  await (await executor.claimJob()).complete(1);
  await waitUntil(async () => (await person.get(`/api/runs/${before}`)).body.status === 'completed');
  await agent.patch(`/api/workers/${hooked.id}`, { secrets: ['KEPT'] }).expect(200);
  expect(await person.post(`/api/runs/${before}/replay`, {})).toMatchObject(isWaiting);
  const { pathname, search } = new URL(hooked.webhook_url);
  const fired = await request(api.url)
    .post(pathname + search)
    .send({});
  expect(fired).toMatchObject(isWaiting);
  const { deps } = api;
  const worker = await getWorker(deps.prisma, api.workspaceId, hooked.id);
  for (const start of [{ trigger: 'event' as const }, { trigger: 'schedule' as const, scheduledFor: new Date() }]) {
    const started = await transaction(deps.pool, (tx) =>
      startUnattendedRun(deps, tx, { worker, inputs: {}, ...start }),
    );
    expect(started).toBe('refused');
    const [refused] = (await person.get(`/api/runs?worker_id=${hooked.id}&limit=1`).expect(200)).body;
    expect(refused).toMatchObject({ trigger: start.trigger, status: 'failed' });
    expect(refused.error).toContain('waits for a person');
  }
  const caller = await deps.engine.get(api.workspaceId, before);
  const call = {
    kind: 'call' as const,
    workerId: hooked.id,
    inputs: {},
    step: { ordinal: 1, kind: 'call' as const, name: 'x' },
  };
  const called = await transaction(deps.pool, (tx) => startCalledRun(deps, tx, caller, call as never));
  expect(called).toMatchObject({
    refused: { type: 'CallRefused', message: expect.stringContaining('waits for a person') },
  });
  await person.post(`/api/runs/${before}/replay`, { version: 'same' }).expect(201);
  await (await executor.claimJob()).complete(1);
});

test('a candidate of an agent waits, is approved by a person, and is then rehearsed; promoting it approves it as well', async () => {
  const mine = await createWorker(api, { name: 'Proposed to', files: write(PURE) });
  const { run_id: id } = (await person.post(`/api/workers/${mine.id}/runs`, {}).expect(201)).body;
  await (await executor.claimJob()).complete(1);
  await waitUntil(async () => (await person.get(`/api/runs/${id}`)).body.status === 'completed');
  const change = { files: write(LEAK), secrets: ['KEPT'] };
  const { body: made } = await agent.post(`/api/workers/${mine.id}/candidates`, change).expect(201);
  expect(made).toMatchObject({
    status: 'rehearsing',
    version_approval: { status: 'waiting' },
    permissions: { approve: false },
  });
  expect(await executor.claim()).toBeNull();
  const path = `/api/workers/${mine.id}/candidates/${made.id}`;
  await agent.post(`${path}/approve`).expect(403);
  await person.post(`${path}/approve`).expect(200);
  const job = await executor.claimJob();
  expect(job).toMatchObject({ kind: 'test', secrets: { KEPT: expect.anything() } });
  await job.complete(1);
  await waitUntil(async () => {
    await api.repairLoop.tick();
    return (await person.get(path)).body.status === 'ready';
  });

  const again = { ...change, files: write(`${LEAK}\n# again\n`) };
  const { body: other } = await agent.post(`/api/workers/${mine.id}/candidates`, again).expect(201);
  const others = `/api/workers/${mine.id}/candidates/${other.id}/promote`;
  await person.post(others, { force: true }).expect(200);
  const { body: worker } = await person.get(`/api/workers/${mine.id}`).expect(200);
  expect(worker).toMatchObject({ sha: other.sha, version_approval: { status: 'approved' } });
});

test.each([
  ['a secret', { network: 'none', secrets: ['KEPT'] }],
  ['the network', { network: 'public' }],
  ['a package', { network: 'none', python_dependencies: ['chosen-by-a-model'] }],
])('a candidate that waits for its approval because of %s is left alone by the sweep', async (_, change) => {
  const mine = await createWorker(api, { name: 'Has one that waits', files: write(PURE), network: 'none' });
  const { run_id: id } = (await person.post(`/api/workers/${mine.id}/runs`, {}).expect(201)).body;
  await (await executor.claimJob()).complete(1);
  await waitUntil(async () => (await person.get(`/api/runs/${id}`)).body.status === 'completed');
  const { body: made } = await agent.post(`/api/workers/${mine.id}/candidates`, change).expect(201);
  expect(made).toMatchObject({ status: 'rehearsing', version_approval: { status: 'waiting' } });
  expect(await listResumableCandidates(api.deps.pool, { concurrency: 3, limit: 1_000 })).not.toContain(made.id);
});

test('a candidate that an agent promotes is a version that waits', async () => {
  const mine = await createWorker(api, { name: 'Promoted by an agent', files: write(PURE) });
  const { body: made } = await agent.post(`/api/workers/${mine.id}/candidates`, { secrets: ['KEPT'] }).expect(201);
  await agent.post(`/api/workers/${mine.id}/candidates/${made.id}/promote`, { force: true }).expect(200);
  expect(await person.post(`/api/workers/${mine.id}/runs`, {})).toMatchObject(isWaiting);
});

describe('a token restricted to toolsets approves no code', () => {
  const restrictedTo = async (...toolsets: string[]) =>
    createCaller(api.url, (await api.createToken('personal', api.owner.jwt, { restrict: { toolsets } })).token);
  const isRefused = {
    status: 403,
    body: { code: 'person_needed', detail: expect.stringMatching(/in the dashboard, or with a .*token without/) },
  };

  test('it promotes no candidate of an agent until a person has approved its code', async () => {
    const mine = await createWorker(api, { name: 'Not promoted', files: write(PURE) });
    const change = { files: write(LEAK), secrets: ['KEPT'] };
    const { body: made } = await agent.post(`/api/workers/${mine.id}/candidates`, change).expect(201);
    const path = `/api/workers/${mine.id}/candidates/${made.id}`;
    const restricted = await restrictedTo('workers');
    expect((await restricted.get(path).expect(200)).body.permissions).toMatchObject({ promote: false, drop: true });
    expect(await restricted.post(`${path}/promote`, { force: true })).toMatchObject(isRefused);
    expect((await person.get(`/api/workers/${mine.id}`)).body).toMatchObject({ version: 1, version_approval: null });
    expect((await person.get(path)).body).toMatchObject({ version_approval: { status: 'waiting' } });

    await person.post(`${path}/approve`).expect(200);
    expect((await restricted.get(path).expect(200)).body.permissions.promote).toBe(true);
    await restricted.post(`${path}/promote`, { force: true }).expect(200);
    expect((await person.get(`/api/workers/${mine.id}`)).body).toMatchObject({ version: 2, sha: made.sha });
  });

  test('it promotes a candidate of a person', async () => {
    const mine = await createWorker(api, { name: 'Promoted', files: write(PURE) });
    const change = { files: write(LEAK), secrets: ['KEPT'] };
    const { body: made } = await person.post(`/api/workers/${mine.id}/candidates`, change).expect(201);
    const restricted = await restrictedTo('workers');
    await restricted.post(`/api/workers/${mine.id}/candidates/${made.id}/promote`, { force: true }).expect(200);
    expect((await person.get(`/api/workers/${mine.id}`)).body).toMatchObject({ version: 2, version_approval: null });
  });
});

test('a token whose runs need approval saves no code at all', async () => {
  const { token } = await api.createToken('personal', api.owner.jwt, { restrict: { require_approval: true } });
  const mine = await createWorker(api, { name: 'Not for it', files: write(PURE) });
  const restricted = createCaller(api.url, token);
  await restricted.post('/api/workers', { name: 'Leaks', files: write(LEAK) }).expect(403);
  await restricted.put(`/api/workers/${mine.id}/files`, { files: write(LEAK) }).expect(403);
  await restricted.post(`/api/workers/${mine.id}/candidates`, { files: write(LEAK) }).expect(403);
  await restricted.post(`/api/workers/${mine.id}/evaluations`, {}).expect(403);
});
