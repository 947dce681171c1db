/** A deleted workspace: nothing in it answers, runs, is sent or is decided, until it is restored and continues. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import request from 'supertest';
import { startApprovalSweeper } from '../../approvals/approval-sweeper';
import { createCaller } from '../../test/caller';
import { testWorkerApi } from '../../test/test-worker-api';

const files = [{ path: 'main.py', content: 'def run(context):\n    return 1\n' }];
/** Paths at which alerts arrived. */
const alerted: string[] = [];
let clock = 0;
const receiver = createServer((req, res) => {
  alerted.push(String(req.url));
  res.writeHead(204).end();
}).listen(0);
const api = testWorkerApi({ now: () => new Date(Date.now() + clock), outboundAllow: ['127.0.0.1/32'] });
const executor = setupResource(() => api.connectExecutor());
afterAll(() => receiver.close());
afterEach(() => {
  clock = 0;
});

interface Home {
  id: string;
  token: string;
  /** A client of one of its members. */
  me: ReturnType<typeof createCaller>;
  close(): Promise<void>;
  restore(): Promise<void>;
  makeWorker(worker: object): Promise<{ id: string; webhook_url: string; webhook_secret: string }>;
  start(workerId: string): Promise<string>;
  getStatus(runId: string): Promise<string>;
}

async function createHome(): Promise<Home> {
  const owner = createCaller(api.url, api.owner.jwt);
  const { id } = (await owner.post('/api/workspaces', { name: 'Short-lived' }).expect(201)).body;
  const made = await owner.post('/api/workspace/tokens', { name: 'ci' }).set('x-svc-workspace', id).expect(201);
  const me = createCaller(api.url, made.body.token);
  return {
    id,
    token: made.body.token,
    me,
    close: async () => void (await owner.remove(`/api/workspaces/${id}`).expect(200)),
    restore: async () => void (await owner.post(`/api/workspaces/${id}/restore`).expect(200)),
    makeWorker: async (worker) =>
      (await me.post('/api/workers', { name: 'Worker', files, ...worker }).expect(201)).body,
    start: async (workerId) => (await me.post(`/api/workers/${workerId}/runs`).expect(201)).body.run_id,
    getStatus: async (runId) =>
      (await api.database.pool.query('SELECT status FROM runs WHERE id = $1', [runId])).rows[0].status,
  };
}

const countRuns = async ({ id }: Home) =>
  (await api.database.pool.query('SELECT 1 FROM runs WHERE workspace_id = $1', [id])).rowCount;

test('its webhooks, schedules and events start nothing', async () => {
  const home = await createHome();
  const hooked = await home.makeWorker({ trigger: 'webhook' });
  const source = await home.makeWorker({});
  await home.makeWorker({ trigger: { type: 'cron', cron: '* * * * * *' } });
  await home.makeWorker({ triggers: [{ type: 'event', on: ['run.cancelled'], source_id: source.id }] });
  const send = () =>
    request(api.url).post(new URL(hooked.webhook_url).pathname).query({ token: hooked.webhook_secret }).send({});
  const first = await send().expect(200);
  await home.me.post(`/api/runs/${first.body.run_id}/cancel`).expect(200);
  const waiting = executor.claim();
  const running = await home.start(source.id);
  const job = await waitUntil(async () => ((await home.getStatus(running)) === 'running' ? waiting : null));
  const before = await countRuns(home);
  await home.close();
  await send().expect(401);
  clock = 5_000;
  await api.cronTicker.tick();
  await waitUntil(async () => job && (await executor.renew(job)).cancelled.includes(running));
  await job.report({ type: 'started' }, { type: 'finished', status: 'cancelled', usage: zeroUsage });
  await waitUntil(async () => (await home.getStatus(running)) === 'cancelled');
  await waitUntil(async () => (await api.database.pool.query('SELECT 1 FROM outbox')).rowCount === 0);
  expect(await countRuns(home)).toBe(before);
  await home.restore();
  await send().expect(200);
  expect(await api.cronTicker.tick()).toBeGreaterThan(0);
  await home.close();
});

test('queued runs wait, sleeping ones sleep on, and both continue where they were', async () => {
  const home = await createHome();
  const { id: worker } = await home.makeWorker({});
  const asleep = await home.start(worker);
  const job = await executor.claimJob();
  expect(job.runId).toBe(asleep);
  await job.suspend({ kind: 'sleep', step: { ordinal: 1, kind: 'sleep', name: 'sleep' }, wakeAt: Date.now() + 500 });
  const queued = await home.start(worker);
  await home.close();
  expect(await executor.claim()).toBeNull();
  expect([await home.getStatus(asleep), await home.getStatus(queued)]).toEqual(['suspended', 'queued']);
  await home.restore();
  const claims = [];
  for (let n = 0; n < 2; n++) claims.push((await executor.claimJob()).runId);
  expect(claims.sort()).toEqual([asleep, queued].sort());
});

test('a review link shows and decides nothing, and nothing expires meanwhile', async () => {
  const home = await createHome();
  const { id: worker } = await home.makeWorker({ approvals: { required: true, expires_in_seconds: 60 } });
  const runId = await home.start(worker);
  const [approval] = (await home.me.get('/api/approvals').expect(200)).body;
  const link = new URL(approval.review_url).pathname.replace('/review/', '/api/reviews/');
  const visitor = createCaller(api.url);
  const statuses = async () => [
    (await visitor.get(link)).status,
    (await visitor.post(`${link}/approve`, { name: 'Grace' })).status,
  ];
  await home.close();
  expect(await statuses()).toEqual([404, 404]);
  clock = 61_000;
  expect(await startApprovalSweeper(api.deps, { auto: false }).tick()).toBe(0);
  clock = 0;
  await home.restore();
  expect(await statuses()).toEqual([200, 200]);
  expect(await home.getStatus(runId)).toBe('queued');
  await home.close();
});

test('no alert is raised for runs that end because of the deletion, and those of others are', async () => {
  const [home, other] = [await createHome(), await createHome()];
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const workers = await Promise.all(
    [home, other].map(async ({ me, id, makeWorker }) => {
      await me.post('/api/alerts', { on: ['run.cancelled'], url: `${url}/${id}` }).expect(201);
      return (await makeWorker({})).id;
    }),
  );
  const running = await home.start(workers[0] as string);
  const job = await executor.claimJob();
  await home.close();
  await job.report({ type: 'started' }, { type: 'finished', status: 'cancelled', usage: zeroUsage });
  await waitUntil(async () => (await home.getStatus(running)) === 'cancelled');
  await other.me.post(`/api/runs/${await other.start(workers[1] as string)}/cancel`).expect(200);
  await waitUntil(async () => {
    await api.deps.deliveryLoop.tick();
    return alerted.length > 0;
  });
  await home.restore();
  await api.deps.deliveryLoop.tick();
  expect(alerted).toEqual([`/${other.id}`]);
  await Promise.all([home.close(), other.close()]);
});

test('readers of a run are disconnected on every replica', async () => {
  const home = await createHome();
  const { id: worker } = await home.makeWorker({});
  const runId = await home.start(worker);
  const other = await api.replica();
  const server = createServer(other.app).listen(0);
  const urls = [api.url, `http://127.0.0.1:${(server.address() as AddressInfo).port}`];
  const headers = { Authorization: `Bearer ${home.token}` };
  const streams = await Promise.all(urls.map((url) => fetch(`${url}/api/runs/${runId}/stream`, { headers })));
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  const ends = Promise.all(streams.map((stream) => stream.text()));
  await home.close();
  for (const text of await ends) expect(text).not.toContain('event: done');
  for (const url of urls) {
    await waitUntil(async () => (await fetch(`${url}/api/runs/${runId}/stream`, { headers })).status === 401);
  }
  server.closeAllConnections();
  server.close();
});
