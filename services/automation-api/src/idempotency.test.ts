/** Idempotency-Key on every operation that creates something, whatever happens to the first request. */
import { clearStoredResponse, createZip, setupResource, testIdempotency } from '@gantry/testing';
import type { Test } from 'supertest';
import { type Caller, createArtifact, deployArtifact, helloCode, testService, uploadZip } from './test/service';

let artifactId: string;
let automationId: string;
const service = testService();
const me = setupResource(() => service.createCaller());
const executor = setupResource(() => service.connectExecutor());
beforeAll(async () => {
  artifactId = await createArtifact(me);
  ({ id: automationId } = await deployArtifact(me));
});
afterEach(() => service.cancelQueuedRuns());

const hello = { inputs: { who: 'Ada' }, wait: 0 };
const sql = (text: string, values: unknown[] = []) => service.api.deps.pool.query(text, values);
const listRuns = async (id: string) =>
  (await sql('SELECT id FROM runs WHERE subject_id = $1', [id])).rows.map((row) => row.id);
const findCreatedId = async (key: string) =>
  (await sql('SELECT made_id FROM idempotency_keys WHERE key = $1', [key])).rows[0]?.made_id;

test('a retry finds the run of a request that died, and waits for it as the first request would have', async () => {
  const { id } = await deployArtifact(me);
  const send = () =>
    me
      .post(`/api/automations/${id}/run`, { ...hello, wait: 5 })
      .set('Idempotency-Key', 'waited')
      .then((response) => response);
  const claim = executor.claim();
  const first = send();
  const job = await claim;
  await clearStoredResponse(sql, 'waited');
  const again = send();
  await job?.complete({ greeting: 'Hello' });
  for (const response of [await again, await first]) {
    expect(response.body).toMatchObject({
      runId: job?.runId,
      status: 'success',
      result: { outputs: { greeting: 'Hello' } },
    });
  }
  expect(await listRuns(id)).toEqual([job?.runId]);
});

/** Counts the rows that grow when something is created. */
async function loadCounts() {
  const tables = ['artifacts', 'automations', 'automation_versions', 'runs'];
  const counted = tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`);
  const versions =
    '(SELECT sum(version) FROM secrets) AS secrets, (SELECT sum(current_version) FROM automations) AS at';
  return (await sql(`SELECT ${counted.join(', ')}, ${versions}`)).rows[0];
}

const OPERATIONS: Record<string, () => Promise<() => Test>> = {
  createArtifact: async () => {
    const storageKey = await uploadZip(me, await createZip({ 'main.py': helloCode }));
    return () => me.post('/api/artifacts', { manifest: { name: 'x' }, entrypoint: 'main.py', storageKey });
  },
  deployAutomation: async () => () => me.post('/api/deploy', { artifactId }),
  updateAutomation: async () => () => me.post(`/api/automations/${automationId}/update`, { artifactId }),
  rollbackAutomation: async () => {
    for (let i = 0; i < 2; i++) await me.post(`/api/automations/${automationId}/update`, { artifactId }).expect(200);
    return () => me.post(`/api/automations/${automationId}/rollback`, {});
  },
  runAutomation: async () => () => me.post(`/api/automations/${automationId}/run`, hello),
  testArtifact: async () => () => me.post('/api/test', { artifactId, ...hello }),
  runFromPage: async () => () => me.post(`/api/pages/${automationId}/runs`, hello),
  setSecret: async () => () => me.post('/api/secrets', { name: 'TOKEN', value: 'hunter2hunter2' }),
};

testIdempotency(OPERATIONS, { sql, counts: loadCounts, fields: 'details' });

test('keys of one member do not match those of another, nor those of another operation', async () => {
  const colleague = service.createCaller({ workspaceId: me.workspaceId });
  const send = (caller: Caller, path: string) => caller.post(path, hello).set('Idempotency-Key', 'shared').expect(200);
  const run = `/api/automations/${automationId}/run`;
  const responses = [
    await send(me, run),
    await send(colleague, run),
    await send(me, `/api/pages/${automationId}/runs`),
  ];
  expect(new Set(responses.map(({ body }) => body.runId)).size).toBe(3);
  expect(responses.map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, undefined, undefined]);
});

test('a member who has become a viewer, or was removed, gets no stored response', async () => {
  const member = service.createCaller({ role: 'member', workspaceId: me.workspaceId });
  const path = `/api/automations/${automationId}/run`;
  await member.post(path, hello).set('Idempotency-Key', 'demoted').expect(200);
  const { userId } = member;
  const viewer = service.createCaller({ role: 'viewer', workspaceId: me.workspaceId, userId });
  expect((await viewer.post(path, hello).set('Idempotency-Key', 'demoted').expect(403)).body.code).toBe('role_too_low');
  const removed = service.createCaller({ userId });
  const there = removed.post(path, hello).set('x-svc-workspace', me.workspaceId);
  expect((await there.set('Idempotency-Key', 'demoted').expect(403)).body.code).toBe('not_a_member');
  await removed.post(path, hello).set('Idempotency-Key', 'demoted').expect(404);
});

test('a visitor with the link of a page gets no stored response once the page is private', async () => {
  const { id } = await deployArtifact(me, { deploy: { visibility: 'public' } });
  const send = () => service.anonymous.post(`/api/pages/${id}/runs`, hello).set('Idempotency-Key', 'link');
  const { body } = await send().expect(200);
  expect((await send().expect(200)).body).toEqual(body);
  await me.patch(`/api/automations/${id}`, { visibility: 'private' }).expect(200);
  await send().expect(401);
  expect(await listRuns(id)).toEqual([body.runId]);
});

test('a deleted resource is a 404 for its key, and is not created again', async () => {
  await me.post('/api/secrets', { name: 'GONE', value: 'x' }).set('Idempotency-Key', 'gone').expect(201);
  await me.delete('/api/secrets/GONE').expect(204);
  await me.post('/api/secrets', { name: 'GONE', value: 'x' }).set('Idempotency-Key', 'gone').expect(404);
  expect((await me.get('/api/secrets')).text).not.toContain('GONE');
});

test('a secret that was set with a key is not reset by a retry, and its row reveals nothing', async () => {
  const set = (value: string, key: string) =>
    me.post('/api/secrets', { name: 'PIN', value }).set('Idempotency-Key', key);
  await set('1234', 'pin-1').expect(201);
  await set('9999', 'pin-2').expect(200);
  await set('1234', 'pin-1').expect(201);
  expect(await service.api.deps.secrets.reveal(me.workspaceId, ['PIN'])).toEqual({ PIN: '9999' });
  await set('4321', 'pin-2').expect(422);
  expect(await findCreatedId('pin-1')).toBe('PIN');
});
