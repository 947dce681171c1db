import { connectBus, type PrepareRequest, prepareRequest, request, runSubjects, standbyReply } from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import supertest from 'supertest';
import { createCaller } from '../test/caller';
import { createWorker, helloWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(
  () => connectBus({ ...api.nats.newExecutor(), name: 'executor', log: api.deps.log }),
  ({ nc }) => nc.close(),
);

/** Subscribes to the requests that executors get from now on. */
async function subscribeAsExecutor(): Promise<PrepareRequest[]> {
  const requests: PrepareRequest[] = [];
  executor.nc.subscribe(runSubjects.prepare, {
    // Strict: executors must know every field.
    callback: (_, message) => void requests.push(prepareRequest.strict().parse(message.json())),
  });
  await executor.nc.flush();
  return requests;
}

const listPackages = (requests: PrepareRequest[]) => requests.map(({ dependencies }) => dependencies);

test('executors get the packages of each new version, and of an agent’s version after approval', async () => {
  const requests = await subscribeAsExecutor();
  await createWorker(api, { name: 'Needy', python_dependencies: ['pandas==2.2.3'] });
  await waitUntil(() => requests.length === 1);
  await owner.patch('/api/workers/needy', { name: 'Still needy' }).expect(200);
  const { sha } = (await owner.get('/api/workers/needy').expect(200)).body;
  await owner.patch('/api/workers/needy', { python_dependencies: ['httpx', 'rich'] }).expect(200);
  await waitUntil(() => requests.length === 2);
  const written = await supertest(api.url)
    .post('/api/workers')
    .set({ Authorization: `Bearer ${api.owner.jwt}`, 'x-svc-agent': 'chat' })
    .send({ name: 'Written', files: helloWorker.files, python_dependencies: ['leaked-words'] })
    .expect(201);
  await waitUntil(() => requests.length === 3);
  expect(requests[2]?.subject).not.toHaveProperty('program');
  await owner.post(`/api/workers/needy/rollback/${sha}`).expect(200);
  await waitUntil(() => requests.length === 4);
  await owner.post(`/api/workers/${written.body.id}/versions/${written.body.sha}/approve`).expect(200);
  await waitUntil(() => requests.length === 5);
  expect(requests[4]?.subject?.program).toBeDefined();
  expect(listPackages(requests)).toEqual([
    ['pandas==2.2.3'],
    ['httpx', 'rich'],
    [],
    ['pandas==2.2.3'],
    ['leaked-words'],
  ]);
});

test('a saved version is announced as its runs will have it, with names of secrets and without their values', async () => {
  await owner.post('/api/secrets', { name: 'TOKEN', value: 'value-of-a-secret' }).expect(201);
  const requests = await subscribeAsExecutor();
  await createWorker(api, {
    name: 'Told',
    secrets: ['TOKEN'],
    network: 'none',
    limits: { timeout_seconds: 30, memory_mb: 256 },
  });
  const hasSecretName = ({ subject }: PrepareRequest) => subject?.program?.secretNames.includes('TOKEN') === true;
  const announced = await waitUntil(() => requests.find(hasSecretName));
  expect(announced).toMatchObject({
    dependencies: [],
    subject: {
      workspaceId: expect.stringMatching(/^ws_/),
      program: {
        code: { url: expect.stringContaining('http') },
        entrypoint: 'main.py',
        secretNames: ['TOKEN'],
        network: 'none',
        isolation: 'zygote',
        limits: { wallMs: 30_000, memoryBytes: 256 << 20 },
      },
    },
  });
  expect(JSON.stringify(requests)).not.toContain('value-of-a-secret');
  const code = await fetch(String(announced.subject?.program?.code.url));
  expect(code.status).toBe(200);
});

test.each([
  ['is paused', (id: string) => owner.post(`/api/workers/${id}/pause`).expect(200)],
  ['is archived', (id: string) => owner.post(`/api/workers/${id}/archive`).expect(200)],
  [
    'is deleted',
    (id: string) => supertest(api.url).delete(`/api/workers/${id}`).auth(api.owner.jwt, { type: 'bearer' }).expect(204),
  ],
])('a worker that %s is announced without code, so that its processes end', async (what, change) => {
  const requests = await subscribeAsExecutor();
  const { id } = await createWorker(api, { name: `Worker that ${what}`, limits: { memory_mb: 300 } });
  const saved = await waitUntil(() =>
    requests.find(({ subject }) => subject?.program?.limits.memoryBytes === 300 << 20),
  );
  await change(id);
  const { workspaceId = '', subjectId = '' } = saved.subject ?? {};
  const listOfWorker = () => requests.filter(({ subject }) => subject?.subjectId === subjectId);
  await waitUntil(() => listOfWorker().length === 2);
  expect(listOfWorker()[1]).toEqual({ dependencies: [], subject: { workspaceId, subjectId } });
});

test('a worker that is resumed is announced with its code', async () => {
  const { id } = await createWorker(api, { name: 'Resumed' });
  await owner.post(`/api/workers/${id}/pause`).expect(200);
  const requests = await subscribeAsExecutor();
  await owner.post(`/api/workers/${id}/resume`).expect(200);
  await waitUntil(() => requests.some(({ subject }) => subject?.program));
});

test('executors learn which versions start by themselves and often, and of no others', async () => {
  const triggers = (...list: object[]) => ({ triggers: list });
  const cron = (expression: string) => ({ type: 'cron', cron: expression, timezone: 'UTC' });
  await createWorker(api, { name: 'Hooked', ...triggers({ type: 'webhook' }) });
  await createWorker(api, { name: 'Frequent', ...triggers(cron('* * * * *')) });
  await createWorker(api, { name: 'Hourly', ...triggers(cron('0 * * * *')) });
  await createWorker(api, { name: 'By hand' });
  await createWorker(api, { name: 'Resting', ...triggers({ type: 'webhook' }) });
  await owner.post('/api/workers/resting/pause').expect(200);
  const { rows } = await api.deps.pool.query("SELECT uid FROM workers WHERE id IN ('hooked', 'frequent')");
  const { versions } = await request(executor, runSubjects.standby('worker', executor.user), {}, standbyReply, 5_000);
  expect(versions.map(({ subject }) => subject?.subjectId).sort()).toEqual(rows.map(({ uid }) => uid).sort());
  expect(versions[0]?.subject?.program?.entrypoint).toBe('main.py');
});

test('code of which each run needs an approval is not imported before one', async () => {
  const requests = await subscribeAsExecutor();
  await createWorker(api, { name: 'Held', python_dependencies: ['held'], approvals: { required: true } });
  const announced = await waitUntil(() => requests.find(({ dependencies }) => dependencies.includes('held')));
  expect(announced.subject).not.toHaveProperty('program');
});
