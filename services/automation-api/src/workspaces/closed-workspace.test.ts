/** A workspace that worker-api deleted does not respond or run on this surface until it is restored. */
import { workspaceDeleted, workspaceRestored } from '@gantry/events';
import { given, givenAnnouncer, noUsage, until } from '@gantry/testing';
import { type Caller, deployed, testService } from '../test/service';

const inputs = { who: 'x' };
let clock = 0;
const service = testService({ now: () => new Date(Date.now() + clock) });
const executor = given(() => service.connectExecutor());
const announcer = givenAnnouncer(service);
afterEach(() => {
  clock = 0;
});

interface Shared {
  me: Caller;
  id: string;
  purgeAt: number;
}

/** A workspace with a public automation. */
async function shared(deploy: object = {}): Promise<Shared> {
  const me = service.signedIn();
  const { id } = await deployed(me, { deploy: { visibility: 'public', ...deploy } });
  return { me, id, purgeAt: Date.now() + 1_000_000 };
}

async function closed({ workspaceId }: Caller): Promise<boolean> {
  const { rows } = await service.api.deps.pool.query(
    'SELECT NOT restored AS closed FROM workspace_closures WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows[0]?.closed ?? false;
}

async function close({ me, purgeAt }: Shared) {
  await announcer.announce(workspaceDeleted, me.workspaceId, { workspaceId: me.workspaceId, purgeAt });
  await until(async () => (await closed(me)) && service.api.deps.closures.has(me.workspaceId));
}

async function restore({ me, purgeAt }: Shared) {
  await announcer.announce(workspaceRestored, me.workspaceId, { workspaceId: me.workspaceId, purgeAt });
  await until(async () => !(await closed(me)) && (await me.get('/api/automations')).status === 200);
}

const statusOf = async (runId: string) =>
  (await service.api.deps.pool.query('SELECT status FROM runs WHERE id = $1', [runId])).rows[0].status;

test('its public page is gone for strangers and members alike, and is back when it is restored', async () => {
  const home = await shared();
  const { me, id } = home;
  const { body: run } = await service.anonymous.post(`/api/pages/${id}/runs`, { inputs, wait: 0 }).expect(200);
  const job = await executor.claim();
  const artifact = {
    ...{ artifactId: 'art_report', name: 'report.csv', contentType: 'text/csv', size: 1, sha256: '0'.repeat(64) },
    key: `${me.workspaceId}/runs/${run.runId}/1/report`,
  };
  await service.api.deps.objects.put(artifact.key, Buffer.from('x'));
  await job?.report({ type: 'started' }, { type: 'artifact', ...artifact });
  await job?.report({ type: 'finished', status: 'completed', output: {}, usage: noUsage });
  const page = `/api/pages/${id}`;
  const download = `${page}/runs/${run.runId}/artifacts/art_report/download`;
  const { location } = (
    await until(async () => {
      const answer = await service.anonymous.get(download);
      return answer.status === 302 && answer;
    })
  ).headers;
  const elsewhere = service.signedIn();
  const statuses = async () => [
    (await service.anonymous.get(page)).status,
    (await elsewhere.get(page)).status,
    (await me.get(page)).status,
    (await service.anonymous.post(`${page}/runs`, { inputs, wait: 0 })).status,
    (await service.anonymous.get(`${page}/runs/${run.runId}`)).status,
    (await service.anonymous.get(`${page}/runs/${run.runId}/events`)).status,
    (await service.anonymous.post(`${page}/runs/${run.runId}/cancel`)).status,
    (await service.anonymous.get(download)).status,
    (await fetch(String(location))).status,
    (await me.get(`/api/runs/${run.runId}`)).status,
    (await me.post(`/api/automations/${id}/run`, { inputs, wait: 0 })).status,
  ];
  expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200, 409, 302, 200, 200, 200]);
  await close(home);
  // Like an unknown automation; for its members like another workspace.
  expect(await statuses()).toEqual([401, 404, 403, 401, 401, 401, 401, 401, 404, 403, 403]);
  const { rowCount } = await service.api.deps.pool.query('SELECT 1 FROM runs WHERE workspace_id = $1', [
    me.workspaceId,
  ]);
  expect(rowCount).toBe(3);
  await restore(home);
  expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200, 409, 302, 200, 200, 200]);
  await service.api.deps.pool.query("DELETE FROM runs WHERE workspace_id = $1 AND status = 'queued'", [me.workspaceId]);
});

test('an automation that was run a moment ago is not run from memory', async () => {
  const home = await shared();
  const waiting = executor.claim();
  const answer = home.me.post(`/api/automations/${home.id}/run`, { inputs });
  void answer.then(() => {});
  await (await waiting)?.complete({ greeting: 'hi' });
  await answer.expect(200);
  // Only the table knows: as on a replica that has not received the event, with a cached identity.
  await close(home);
  const known = jest.spyOn(service.api.deps.closures, 'has').mockReturnValue(false);
  await home.me.post(`/api/automations/${home.id}/run`, { inputs }).expect(404);
  known.mockRestore();
});

test('what is queued waits, what runs is told to stop, and a reader on any replica is cut off', async () => {
  const home = await shared();
  const { me, id } = home;
  const run = async () =>
    (await service.anonymous.post(`/api/pages/${id}/runs`, { inputs, wait: 0 }).expect(200)).body.runId;
  const waiting = executor.claim();
  const running = await run();
  const job = await waiting;
  await job?.report({ type: 'started' });
  const queued = await run();
  const reading = [
    fetch(`${service.url}/api/pages/${id}/runs/${running}/events`),
    fetch(`${service.url}/api/runs/${queued}/events`, { headers: { Authorization: `Bearer ${me.token}` } }),
  ].map(async (answer) => (await answer).text());
  await until(async () => (await statusOf(running)) === 'running');
  await close(home);
  for (const text of await Promise.all(reading)) expect(text).not.toContain('event: done');
  await until(async () => job && (await executor.renew(job)).cancelled.includes(running));
  expect(await executor.claim()).toBeNull();
  await job?.report({ type: 'finished', status: 'cancelled', usage: noUsage });
  await until(async () => (await statusOf(running)) === 'cancelled');
  expect(await statusOf(queued)).toBe('queued');
  await restore(home);
  expect((await until(() => executor.claim())).runId).toBe(queued);
});

test('a place to upload to takes nothing more', async () => {
  const home = await shared();
  const { body } = await home.me.post('/api/artifacts/upload-url').expect(200);
  const upload = () =>
    fetch(body.uploadUrl, { method: 'PUT', body: 'zip', headers: { 'Content-Type': 'application/zip' } });
  await close(home);
  expect((await upload()).status).toBe(404);
  await restore(home);
  expect((await upload()).status).toBe(200);
});

test('its schedules rest', async () => {
  const home = await shared({ schedule: '* * * * *', scheduleEnabled: true, scheduleInputs: inputs });
  clock = 120_000;
  await close(home);
  expect(await service.api.ticker.tick()).toBe(0);
  await restore(home);
  expect(await service.api.ticker.tick()).toBe(1);
});
