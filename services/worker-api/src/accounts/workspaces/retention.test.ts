import { buildEventSubjectPattern, connectBus, retentionChanged } from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from '../../test/caller';
import { createWorker } from '../../test/create-worker';
import { testWorkerApi } from '../../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const path = () => `/api/workspaces/${api.workspaceId}`;
const sql = (text: string, values: unknown[]) => api.database.pool.query(text, values);

const maximums = { run_days: 365, log_days: 90, runs_kept: 1_000 };
const defaults = { run_days: 90, log_days: 30, runs_kept: 20, maximums };

test('an admin sets how long runs are kept, each value by itself, and resets it', async () => {
  const admin = createCaller(api.url, (await api.addMember('admin')).jwt);
  const getRetention = async () => (await admin.get(path()).expect(200)).body.retention;
  expect(await getRetention()).toEqual(defaults);
  const changed = await admin.patch(path(), { retention: { run_days: 7, runs_kept: 0 } }).expect(200);
  expect(changed.body.retention).toEqual({ ...defaults, run_days: 7, runs_kept: 0 });
  await admin.patch(path(), { name: 'Short-lived', retention: { run_days: null, log_days: 3 } }).expect(200);
  expect(await getRetention()).toEqual({ ...defaults, log_days: 3, runs_kept: 0 });
  await admin.patch(path(), { retention: { log_days: null, runs_kept: null } }).expect(200);
  expect(await getRetention()).toEqual(defaults);
  const { body } = await admin.get('/api/audit-log?action=workspace.retention_changed').expect(200);
  expect(body.map((entry: { details: unknown }) => entry.details)).toEqual([
    { log_days: null, runs_kept: null },
    { run_days: null, log_days: 3 },
    { run_days: 7, runs_kept: 0 },
  ]);
});

test("values over the operator's bounds are refused, each by name, and nothing of the request is saved", async () => {
  const before = (await owner.get(path()).expect(200)).body;
  const { body } = await owner
    .patch(path(), { name: 'Not this', retention: { run_days: 366, log_days: 91, runs_kept: 5 } })
    .expect(400);
  expect(body.errors).toEqual([
    { path: 'retention.run_days', message: 'must not be more than 365 on this installation' },
    { path: 'retention.log_days', message: 'must not be more than 90 on this installation' },
  ]);
  await owner.patch(path(), { retention: { run_days: 0 } }).expect(400);
  await owner.patch(path(), { retention: {} }).expect(400);
  await owner.patch(path(), {}).expect(400);
  expect((await owner.get(path()).expect(200)).body).toEqual(before);
  const member = createCaller(api.url, (await api.addMember('member')).jwt);
  await member.patch(path(), { retention: { run_days: 1 } }).expect(403);
});

test('an older run is deleted at the next sweep with its log, its approvals and its objects; other services are told', async () => {
  const { workspaceId, owner: foreignOwner } = api.foreign;
  const me = createCaller(api.url, foreignOwner.jwt);
  const heard: unknown[] = [];
  const spectator = await connectBus({ ...api.nats.spectator, name: 'spectator', log: api.deps.log });
  spectator.nc.subscribe(buildEventSubjectPattern(retentionChanged), {
    callback: (_err, message) => {
      const event = message.json<{ data: { workspaceId: string } }>();
      if (event.data.workspaceId === workspaceId) heard.push(event);
    },
  });
  await spectator.nc.flush();
  const worker = await createWorker(api, { jwt: foreignOwner.jwt, approvals: { required: true } });
  const runs: string[] = [];
  for (let made = 0; made < 2; made++) {
    const { body } = await me.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
    await me.post(`/api/runs/${body.run_id}/cancel`).expect(200);
    await api.deps.objects.put(`${workspaceId}/runs/${body.run_id}/1/output`, Buffer.from('1'));
    runs.push(body.run_id);
  }
  const [old, young] = runs as [string, string];
  await sql(
    `UPDATE runs SET created_at = created_at - interval '8 days', finished_at = finished_at - interval '8 days' WHERE id = $1`,
    [old],
  );
  await me.patch(`/api/workspaces/${workspaceId}`, { retention: { run_days: 7, runs_kept: 0 } }).expect(200);
  await api.replica();
  await waitUntil(async () => (await me.get(`/api/runs/${old}`)).status === 404);
  await me.get(`/api/runs/${young}`).expect(200);
  const approvals = await me.get('/api/approvals').expect(200);
  expect(approvals.body.map((approval: { run_id: string }) => approval.run_id)).toEqual([young]);
  expect((await sql('SELECT FROM run_events WHERE run_id = $1', [old])).rowCount).toBe(0);
  const objects = runs.map((id) => api.deps.objects.head(`${workspaceId}/runs/${id}/1/output`));
  expect(await Promise.all(objects)).toEqual([null, expect.anything()]);
  const second = String(Math.floor(Date.now() / 1_000) - 8 * 86_400);
  const aged = `run_${second}${old.slice(-11)}`;
  const replay = await me.post(`/api/runs/${aged}/replay`).expect(404);
  expect(replay.body.detail).toBe(
    `no run "${aged}" in this workspace; runs and their inputs are deleted 7 days after the runs end`,
  );
  const unknown = await me.post(`/api/runs/${young.slice(0, -1)}/replay`).expect(404);
  expect(unknown.body.detail).not.toContain('deleted');
  await waitUntil(() => heard.length > 0);
  expect(heard[0]).toMatchObject({ data: { workspaceId, runDays: 7, logDays: null, runsKept: 0 } });
  await spectator.nc.close();
});
