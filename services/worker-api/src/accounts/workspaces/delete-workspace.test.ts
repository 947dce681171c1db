import {
  buildEventSubjectPattern,
  connectBus,
  workspaceDeleted,
  workspacePurged,
  workspaceRestored,
} from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from '../../test/caller';
import { helloWorker } from '../../test/create-worker';
import { type Person, testWorkerApi } from '../../test/test-worker-api';
import { deleteWorkspaceRows, purgeDeletedWorkspaces } from './delete-workspace';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));

async function createWorkspaceWithMember(): Promise<{ path: string; id: string; member: Person; token: string }> {
  const { body } = await owner.post('/api/workspaces', { name: 'Short-lived' }).expect(201);
  const member = await api.addMember('member');
  await api.database.prisma.membership.create({
    data: { workspaceId: body.id, userId: member.userId, role: 'member' },
  });
  const made = await owner.post('/api/workspace/tokens', { name: 'ci' }).set('x-svc-workspace', body.id).expect(201);
  api.identities.clear();
  return { id: body.id, path: `/api/workspaces/${body.id}`, member, token: made.body.token };
}

test('a deleted workspace is closed at once, for members and tokens, and is restored unchanged', async () => {
  const { id, path, member, token } = await createWorkspaceWithMember();
  const enter = async () => [
    (await owner.get(path)).status,
    (await createCaller(api.url, member.jwt).get('/auth/me').set('x-svc-workspace', id)).status,
    (await createCaller(api.url, token).get('/auth/me')).status,
  ];
  expect(await enter()).toEqual([200, 200, 200]);
  const { body } = await owner.remove(path).expect(200);
  expect(Date.parse(body.purge_at) - Date.parse(body.deleted_at)).toBe(7 * 86_400_000);
  expect(await enter()).toEqual([404, 403, 401]);
  const left = await owner.get('/api/workspaces').expect(200);
  expect(left.body.map((workspace: { id: string }) => workspace.id)).not.toContain(id);
  const deleted = await owner.get('/api/workspaces?deleted=true').expect(200);
  expect(deleted.body).toEqual([expect.objectContaining({ id, purge_at: body.purge_at })]);

  await createCaller(api.url, member.jwt).post(`${path}/restore`).expect(404);
  await createCaller(api.url, api.foreign.owner.jwt).post(`${path}/restore`).expect(404);
  await owner.post(`${path}/restore`).expect(200);
  await waitUntil(async () => (await enter()).join() === '200,200,200');
  await owner.post(`${path}/restore`).expect(404);
});

test('after seven days it cannot be restored; all its data is deleted, and every service is told', async () => {
  const { id, path, token } = await createWorkspaceWithMember();
  const { pool } = api.database;
  await api.deps.vault.seal(id, { table: 'secrets', name: 'A', version: 1 }, 'sealed');
  await owner.post('/api/workers', helloWorker).set('x-svc-workspace', id).expect(201);
  const { rows: versions } = await pool.query('SELECT * FROM worker_versions WHERE workspace_id = $1', [id]);
  const output = `${id}/runs/run_done/1/output`;
  await api.deps.objects.put(output, Buffer.from('{}'));
  await pool.query(
    `INSERT INTO runs (id, workspace_id, subject_id, kind, trigger, status, inputs, spec, output_key)
     VALUES ('run_done', $1, $2, 'run', 'api', 'completed', '{}', '{"files": []}', $3)`,
    [id, versions[0].worker_uid, output],
  );
  const headObjects = () => Promise.all([versions[0].code_key, output].map((key) => api.deps.objects.head(key)));
  expect(await headObjects()).toEqual([expect.anything(), expect.anything()]);
  const heard: string[] = [];
  const spectator = await connectBus({ ...api.nats.spectator, name: 'spectator', log: api.deps.log });
  for (const event of [workspaceDeleted, workspaceRestored, workspacePurged]) {
    spectator.nc.subscribe(buildEventSubjectPattern(event), { callback: () => heard.push(event.type) });
  }
  await spectator.nc.flush();
  await owner.remove(path).expect(200);
  expect(await purgeDeletedWorkspaces(pool)).toBe(0);
  await pool.query("UPDATE workspaces SET deleted_at = deleted_at - interval '7 days' WHERE id = $1", [id]);
  await owner.post(`${path}/restore`).expect(404);
  expect(await purgeDeletedWorkspaces(pool)).toBe(1);
  const rows = async () => {
    const counts = await Promise.all(
      (await tablesWithWorkspace()).map((table) => pool.query(`SELECT 1 FROM ${table} WHERE workspace_id = $1`, [id])),
    );
    return counts.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
  };
  await waitUntil(async () => (await rows()) === 0);
  expect(await headObjects()).toEqual([null, null]);
  await waitUntil(() => heard.includes(workspacePurged.type) && heard.includes(workspaceDeleted.type));
  await createCaller(api.url, token).get('/auth/me').expect(401);
  await spectator.nc.close();
});

/** All tables but those of events that are still to be published, or were within five minutes. */
async function tablesWithWorkspace(): Promise<string[]> {
  const { rows } = await api.database.pool.query(
    `SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND c.column_name = 'workspace_id' AND t.table_type = 'BASE TABLE'
       AND c.table_name NOT IN ('outbox', 'published_events')`,
  );
  return rows.map(({ table_name }) => table_name);
}

test('every table that names a workspace is covered', async () => {
  const seen: string[] = [];
  const { pool } = api.database;
  const client = await pool.connect();
  const recording = {
    query: (sql: string | { text: string }) => {
      seen.push(typeof sql === 'string' ? sql : sql.text);
      return { rows: [] };
    },
  } as unknown as typeof client;
  await deleteWorkspaceRows(recording, api.deps.objects, 'ws_any');
  client.release();
  const { rows: cascading } = await pool.query(
    `WITH RECURSIVE going AS (
       SELECT unnest(ARRAY['workspaces', 'runs'])::regclass::oid AS id
       UNION SELECT conrelid FROM pg_constraint JOIN going ON confrelid = id WHERE contype = 'f' AND confdeltype = 'c'
     ) SELECT id::regclass::text AS table_name FROM going`,
  );
  const covered = new Set(cascading.map(({ table_name }) => table_name));
  // No foreign key leads to runs: their dependent rows are deleted with them.
  covered.delete('runs');
  const forgotten = (await tablesWithWorkspace()).filter(
    (table) => !covered.has(table) && !seen.some((sql) => sql.includes(`FROM ${table} `)),
  );
  expect(forgotten).toEqual([]);
});

test('fifty workspaces of one owner are the limit, side by side too, and a deleted one makes room', async () => {
  const { userId, jwt } = await api.addMember('member');
  const person = createCaller(api.url, jwt);
  const create = () => person.post('/api/workspaces', { name: 'Another' });
  const { id } = (await create().expect(201)).body;
  const ids = Array.from({ length: 48 }, (_, index) => `ws_limit${index}`);
  await api.database.prisma.workspace.createMany({ data: ids.map((each) => ({ id: each, name: each })) });
  await api.database.prisma.membership.createMany({
    data: ids.map((workspaceId) => ({ workspaceId, userId, role: 'owner' as const })),
  });
  const side = await Promise.all([create(), create()]);
  expect(side.map(({ status }) => status).sort()).toEqual([201, 409]);
  await person.remove(`/api/workspaces/${id}`).set('x-svc-workspace', id).expect(200);
  await create().expect(201);
  expect((await create().expect(409)).body.code).toBe('too_many_workspaces');
  expect((await person.post(`/api/workspaces/${id}/restore`).expect(409)).body.code).toBe('too_many_workspaces');
});
