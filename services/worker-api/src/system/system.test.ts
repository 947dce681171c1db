import { AUTOMATION_STATS_SUBJECT, connectBus, encode, runSubjects } from '@gantry/events';
import { COUNTED_MAX } from '@gantry/run-engine';
import { setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { pino } from 'pino';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { BASE_URL, DASHBOARD_URL, testWorkerApi } from '../test/test-worker-api';

const log = pino({ level: 'silent' });

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

/** Each test begins in a workspace without workers. */
afterEach(async () => {
  const { body: workers } = await owner.get('/api/workers').expect(200);
  for (const { id } of workers) await owner.remove(`/api/workers/${id}`).expect(204);
});

const overview = async (who = owner) => (await who.get('/api/system/overview').expect(200)).body;
const start = async (id: string) => (await owner.post(`/api/workers/${id}/runs`, { inputs: {} })).body.run_id as string;

async function failOnce(id: string): Promise<void> {
  await start(id);
  const job = await executor.claim();
  const error = { code: 'exception' as const, message: 'the shop is closed\0', type: 'ShopError' };
  await job?.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
}

test('the overview counts resources and names failures, without those private to other members', async () => {
  const other = await api.addMember('member');
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  expect(await overview(viewer)).toMatchObject({
    workers: { total: 0, active: 0, paused: 0, archived: 0, capped: false, failing: [] },
    runs: { queued: 0, running: 0, suspended: 0, pending_approval: 0, last_24h: { total: 0, capped: false } },
    approvals_pending: 0,
    queue_depth: 0,
  });
  const failing = await createWorker(api, { name: 'Failing' });
  const paused = await createWorker(api, { name: 'Paused' });
  await owner.post(`/api/workers/${paused.id}/pause`).expect(200);
  const hidden = await createWorker(api, { name: 'Hidden', visibility: 'private', jwt: other.jwt });
  const held = await createWorker(api, { name: 'Held', approvals: { required: true } });
  await failOnce(failing.id);
  await failOnce(hidden.id);
  await waitUntil(async () => (await overview()).runs.last_24h.failed === 2);
  await start(held.id);
  await start(failing.id);
  const shown = await overview();
  expect(shown.workers).toMatchObject({ total: 4, active: 3, paused: 1 });
  expect(shown.workers.failing.map(({ id }: { id: string }) => id)).toEqual([hidden.id, failing.id]);
  expect(shown.runs).toMatchObject({ queued: 1, running: 0, pending_approval: 1, last_24h: { total: 2, failed: 2 } });
  expect(shown).toMatchObject({ approvals_pending: 1, queue_depth: 1 });
  const seen = await overview(viewer);
  expect(seen.workers).toMatchObject({
    total: 3,
    failing: [{ id: failing.id, name: 'Failing', last_error: expect.stringContaining('the shop is closed') }],
  });
  const today = new Date().toISOString().slice(0, 10);
  await waitUntil(async () => (await overview()).runs.by_day.at(-1).failed === 2);
  expect((await overview()).runs.by_day).toHaveLength(14);
  expect((await overview()).runs.by_day.at(-1)).toEqual({ day: today, runs: 2, failed: 2 });
  const elsewhere = createCaller(api.url, api.foreign.owner.jwt);
  expect((await overview(elsewhere)).workers.total).toBe(0);
});

test('the next scheduled runs are soonest first, without private ones of other members and without paused workers', async () => {
  const other = await api.addMember('member');
  const schedule = (cron: string) => ({ schedule: { cron, timezone: 'UTC' } });
  const later = await createWorker(api, { name: 'Later', ...schedule('0 0 1 1 *') });
  const sooner = await createWorker(api, { name: 'Sooner', ...schedule('* * * * *') });
  const hidden = { name: 'Hidden schedule', visibility: 'private', jwt: other.jwt };
  await createWorker(api, { ...hidden, ...schedule('* * * * *') });
  const paused = await createWorker(api, { name: 'Paused schedule', ...schedule('* * * * *') });
  await owner.post(`/api/workers/${paused.id}/pause`).expect(200);
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  const { upcoming } = await overview(viewer);
  expect(upcoming.map(({ id }: { id: string }) => id)).toEqual([sooner.id, later.id]);
  expect(Date.parse(upcoming[0].at)).toBeGreaterThan(Date.now() - 60_000);
});

test('automations are requested by message, and the overview omits them if there is no reply in time', async () => {
  expect(await overview()).toMatchObject({ automations: null, automations_unavailable: expect.any(String) });
  const automations = await connectBus({ ...api.nats.as('automation-api'), name: 'automation-api', log });
  const asked: string[] = [];
  automations.nc.subscribe(AUTOMATION_STATS_SUBJECT, {
    callback: (_err, message) => {
      asked.push((message.json() as { workspaceId: string }).workspaceId);
      message.respond(encode({ total: COUNTED_MAX + 1, active: 3, failing: 1, queued: 5, running: 2 }));
    },
  });
  await automations.nc.flush();
  const shown = await overview();
  expect(shown).toMatchObject({
    automations: { total: COUNTED_MAX, active: 3, failing: 1, queued: 5, running: 2, capped: true },
    automations_unavailable: null,
    queue_depth: shown.runs.queued + 5,
  });
  expect(asked).toEqual([api.workspaceId]);
  await automations.nc.close();
});

test('executors are those with a recent announcement', async () => {
  const bus = await connectBus({ ...api.nats.newExecutor(), name: 'executor', log });
  const announce = (state: string) => {
    const status = { slots: 4, busy: 1, isolation: 'zygote', python: '3.13.1', startedAt: 1 };
    bus.nc.publish(runSubjects.executorStatus(bus.user), encode({ ...status, state }));
  };
  announce('draining');
  await waitUntil(async () => (await overview()).executors.length === 1);
  expect((await overview()).executors).toMatchObject([
    { id: bus.user, state: 'draining', slots: 4, busy: 1, isolation: 'zygote', python: '3.13.1' },
  ]);
  announce('stopped');
  await waitUntil(async () => (await overview()).executors.length === 0);
  await bus.nc.close();
});

test('the details of health show the state of each part, to every signed-in user', async () => {
  const { body } = await owner.get('/health/details').expect(200);
  expect(body).toMatchObject({
    status: 'ok',
    service: 'worker-api',
    version: expect.any(String),
    uptime_seconds: expect.any(Number),
    dependencies: [
      { name: 'postgres', up: true, latency_ms: expect.any(Number) },
      { name: 'nats', up: true, latency_ms: expect.any(Number) },
      { name: 'jetstream', up: true, latency_ms: expect.any(Number) },
      { name: 'object_store', up: true },
    ],
    migrations: { applied: expect.any(Number), latest: expect.stringMatching(/^\d{14}_/) },
    outbox: { waiting: expect.any(Number) },
  });
  expect(body.streams.map(({ name }: { name: string }) => name)).toEqual([
    'EVENTS',
    'RUN_EVENTS_AUTOMATION',
    'RUN_EVENTS_WORKER',
  ]);
  expect(body.streams[0].consumers).toContainEqual(expect.objectContaining({ pending: expect.any(Number) }));
  await createCaller(api.url).get('/health/details').expect(401);
});

test("the document of the surface names this surface's own address", async () => {
  const { body } = await createCaller(api.url).get('/openapi.json').expect(200);
  expect(body.servers).toEqual([{ url: BASE_URL }]);
});

test('the capabilities of this version are public', async () => {
  const { body } = await createCaller(api.url).get('/api/system/info').expect(200);
  expect(body.features).toMatchObject({ workers: true, contexts: true, chat: false, oidc_sign_in: false });
});

test('a browser at the address is redirected to the dashboard, and a program gets a list of addresses', async () => {
  const open = (accept: string) => fetch(`${api.url}/`, { headers: { Accept: accept }, redirect: 'manual' });
  const browser = await open('text/html,application/xhtml+xml,*/*;q=0.8');
  expect([browser.status, browser.headers.get('location')]).toEqual([302, DASHBOARD_URL]);
  expect(await (await open('*/*')).json()).toMatchObject({ dashboard: DASHBOARD_URL, docs: `${DASHBOARD_URL}/docs` });
});
