/** A workspace that worker-api deleted does not respond or run on this surface until it is restored. */
import { workspaceDeleted, workspaceRestored } from '@gantry/events';
import { setupResource, setupTestEventPublisher, waitUntil, zeroUsage } from '@gantry/testing';
import { type Caller, deployArtifact, testService } from '../test/service';

const inputs = { who: 'x' };
let clockOffsetMs = 0;
const service = testService({ now: () => new Date(Date.now() + clockOffsetMs) });
const executor = setupResource(() => service.connectExecutor());
const announcer = setupTestEventPublisher(service);
afterEach(() => {
  clockOffsetMs = 0;
});

interface SharedWorkspace {
  me: Caller;
  id: string;
  purgeAt: number;
}

/** A workspace with a public automation. */
async function deployShared(deploy: object = {}): Promise<SharedWorkspace> {
  const me = service.createCaller();
  const { id } = await deployArtifact(me, { deploy: { visibility: 'public', ...deploy } });
  return { me, id, purgeAt: Date.now() + 1_000_000 };
}

async function isClosed({ workspaceId }: Caller): Promise<boolean> {
  const { rows } = await service.api.deps.pool.query(
    'SELECT NOT restored AS closed FROM workspace_closures WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows[0]?.closed ?? false;
}

async function close({ me, purgeAt }: SharedWorkspace) {
  await announcer.announce(workspaceDeleted, me.workspaceId, { workspaceId: me.workspaceId, purgeAt });
  await waitUntil(async () => (await isClosed(me)) && service.api.deps.closures.has(me.workspaceId));
}

async function restore({ me, purgeAt }: SharedWorkspace) {
  await announcer.announce(workspaceRestored, me.workspaceId, { workspaceId: me.workspaceId, purgeAt });
  await waitUntil(async () => !(await isClosed(me)) && (await me.get('/api/automations')).status === 200);
}

const getRunStatus = async (runId: string) =>
  (await service.api.deps.pool.query('SELECT status FROM runs WHERE id = $1', [runId])).rows[0].status;

test('its public page is gone for visitors and members alike, and is back once it is restored', async () => {
  const home = await deployShared();
  const { me, id } = home;
  const { body: startRun } = await service.anonymous.post(`/api/pages/${id}/runs`, { inputs, wait: 0 }).expect(200);
  const job = await executor.claim();
  const artifact = {
    artifactId: 'art_report',
    name: 'report.csv',
    contentType: 'text/csv',
    size: 1,
    sha256: '0'.repeat(64),
    key: `${me.workspaceId}/runs/${startRun.runId}/1/report`,
  };
  await service.api.deps.objects.put(artifact.key, Buffer.from('x'));
  await job?.report({ type: 'started' }, { type: 'artifact', ...artifact });
  await job?.report({ type: 'finished', status: 'completed', output: {}, usage: zeroUsage });
  const page = `/api/pages/${id}`;
  const download = `${page}/runs/${startRun.runId}/artifacts/art_report/download`;
  const { location } = (
    await waitUntil(async () => {
      const response = await service.anonymous.get(download);
      return response.status === 302 && response;
    })
  ).headers;
  const elsewhere = service.createCaller();
  const listStatuses = async () => [
    (await service.anonymous.get(page)).status,
    (await elsewhere.get(page)).status,
    (await me.get(page)).status,
    (await service.anonymous.post(`${page}/runs`, { inputs, wait: 0 })).status,
    (await service.anonymous.get(`${page}/runs/${startRun.runId}`)).status,
    (await service.anonymous.get(`${page}/runs/${startRun.runId}/events`)).status,
    (await service.anonymous.post(`${page}/runs/${startRun.runId}/cancel`)).status,
    (await service.anonymous.get(download)).status,
    (await fetch(String(location))).status,
    (await me.get(`/api/runs/${startRun.runId}`)).status,
    (await me.post(`/api/automations/${id}/run`, { inputs, wait: 0 })).status,
  ];
  expect(await listStatuses()).toEqual([200, 200, 200, 200, 200, 200, 409, 302, 200, 200, 200]);
  await close(home);
  // Like an unknown automation; for its members like another workspace.
  expect(await listStatuses()).toEqual([401, 404, 403, 401, 401, 401, 401, 401, 404, 403, 403]);
  const { rowCount } = await service.api.deps.pool.query('SELECT 1 FROM runs WHERE workspace_id = $1', [
    me.workspaceId,
  ]);
  expect(rowCount).toBe(3);
  await restore(home);
  expect(await listStatuses()).toEqual([200, 200, 200, 200, 200, 200, 409, 302, 200, 200, 200]);
  await service.api.deps.pool.query("DELETE FROM runs WHERE workspace_id = $1 AND status = 'queued'", [me.workspaceId]);
});

test('a cached automation is not run', async () => {
  const home = await deployShared();
  const waiting = executor.claim();
  const response = home.me.post(`/api/automations/${home.id}/run`, { inputs });
  void response.then(() => {});
  await (await waiting)?.complete({ greeting: 'hi' });
  await response.expect(200);
  // Only the table knows: as on a replica that has not received the event, with a cached identity.
  await close(home);
  const known = jest.spyOn(service.api.deps.closures, 'has').mockReturnValue(false);
  await home.me.post(`/api/automations/${home.id}/run`, { inputs }).expect(404);
  known.mockRestore();
});

test('queued runs wait, active ones are told to stop, and readers on every replica are disconnected', async () => {
  const home = await deployShared();
  const { me, id } = home;
  const startRun = async () =>
    (await service.anonymous.post(`/api/pages/${id}/runs`, { inputs, wait: 0 }).expect(200)).body.runId;
  const waiting = executor.claim();
  const running = await startRun();
  const job = await waiting;
  await job?.report({ type: 'started' });
  const queued = await startRun();
  const reading = [
    fetch(`${service.url}/api/pages/${id}/runs/${running}/events`),
    fetch(`${service.url}/api/runs/${queued}/events`, { headers: { Authorization: `Bearer ${me.token}` } }),
  ].map(async (response) => (await response).text());
  await waitUntil(async () => (await getRunStatus(running)) === 'running');
  await close(home);
  for (const text of await Promise.all(reading)) expect(text).not.toContain('event: done');
  await waitUntil(async () => job && (await executor.renew(job)).cancelled.includes(running));
  expect(await executor.claim()).toBeNull();
  await job?.report({ type: 'finished', status: 'cancelled', usage: zeroUsage });
  await waitUntil(async () => (await getRunStatus(running)) === 'cancelled');
  expect(await getRunStatus(queued)).toBe('queued');
  await restore(home);
  const resumed = await executor.claimJob();
  expect(resumed.runId).toBe(queued);
  await resumed.complete({});
});

test('an upload URL accepts nothing more', async () => {
  const home = await deployShared();
  const { body } = await home.me.post('/api/artifacts/upload-url').expect(200);
  const upload = () =>
    fetch(body.uploadUrl, { method: 'PUT', body: 'zip', headers: { 'Content-Type': 'application/zip' } });
  await close(home);
  expect((await upload()).status).toBe(404);
  await restore(home);
  expect((await upload()).status).toBe(200);
});

test('its schedules do not fire', async () => {
  const home = await deployShared({ schedule: '* * * * *', scheduleEnabled: true, scheduleInputs: inputs });
  clockOffsetMs = 120_000;
  await close(home);
  expect(await service.api.ticker.tick()).toBe(0);
  await restore(home);
  expect(await service.api.ticker.tick()).toBe(1);
  await (await executor.claimJob()).complete({});
});
