import { newId } from '@gantry/events';
import { setupResource } from '@gantry/testing';
import { sealRevokedGrant } from '../connections/credential';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { sealedColumns } from './sealed-columns';

const VALUE = 'correct-horse-battery-staple';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
afterEach(() => api.deps.prisma.secret.deleteMany());

/** A worker whose current version declares these secrets. */
async function workerWith(id: string, secrets: string[], columns: { visibility?: 'private'; ownerId?: string } = {}) {
  const { prisma } = api.deps;
  const { workspaceId } = api;
  const uid = newId('wrk_');
  const text = { name: `The ${id}`, description: '', runner: 'python', tags: [] };
  await prisma.worker.create({ data: { uid, workspaceId, id, ...text, ...columns, currentVersion: 1 } });
  const code = { sha: 'a', files: [], codeDigest: 'a', codeKey: 'a', codeSize: 1, changeSource: 'created' };
  await prisma.workerVersion.create({
    data: { workerUid: uid, number: 1, workspaceId, definition: { secrets, contexts: [] }, ...code },
  });
  return uid;
}

test('a secret is stored, overwritten in three ways, listed with its use, and never shown', async () => {
  await workerWith('reporter', ['API_KEY']);
  const first = await owner.put('/api/secrets/API_KEY', { value: VALUE }).expect(201);
  await owner.post('/api/secrets/API_KEY', { value: `${VALUE}-2` }).expect(200);
  await owner.post('/api/secrets', { name: 'API_KEY', value: `${VALUE}-3` }).expect(200);
  expect(first.body).toEqual({
    name: 'API_KEY',
    hosts: [],
    places: ['header'],
    created_at: expect.any(String),
    updated_at: expect.any(String),
    last_used_at: null,
    used_by: [{ id: 'reporter', name: 'The reporter' }],
  });
  expect(await api.deps.secrets.reveal(api.workspaceId, ['API_KEY'])).toEqual({ API_KEY: `${VALUE}-3` });
  const { body, text } = await owner.get('/api/secrets').expect(200);
  expect(body).toMatchObject([{ name: 'API_KEY', last_used_at: expect.any(String) }]);
  const { rows } = await api.deps.pool.query(
    'SELECT action, resource_id, details::text FROM audit_log ORDER BY created_at',
  );
  const changes = rows.filter(({ action, resource_id: name }) => action === 'secret.set' && name === 'API_KEY');
  expect(changes).toHaveLength(3);
  expect(first.text + text + JSON.stringify(rows) + api.logs.text()).not.toContain('horse');
});

test('a declared secret is deleted only by force, and its list hides private workers from other members', async () => {
  await owner.put('/api/secrets/IN_USE', { value: 'x' }).expect(201);
  await workerWith('open-one', ['IN_USE']);
  await workerWith('hidden-one', ['IN_USE'], { visibility: 'private', ownerId: 'usr_somebody' });
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  const [seen] = (await viewer.get('/api/secrets').expect(200)).body.filter(
    ({ name }: { name: string }) => name === 'IN_USE',
  );
  expect(seen.used_by).toEqual([{ id: 'open-one', name: 'The open-one' }]);
  const refused = await owner.remove('/api/secrets/IN_USE').expect(409);
  expect(refused.body).toMatchObject({ code: 'in_use', detail: expect.stringContaining('open-one, hidden-one') });
  await owner.remove('/api/secrets/IN_USE?force=true').expect(204);
  await owner.remove('/api/secrets/IN_USE').expect(404);
});

test('names that workers declare are listed with those workers, and whether they are set', async () => {
  await workerWith('caller', ['DECLARED_SET', 'DECLARED_MISSING']);
  await workerWith('hidden', ['DECLARED_HIDDEN', 'DECLARED_MISSING'], { visibility: 'private', ownerId: 'usr_other' });
  await owner.put('/api/secrets/DECLARED_SET', { value: VALUE }).expect(201);
  const used_by = [{ id: 'caller', name: 'The caller' }];
  const member = createCaller(api.url, (await api.addMember('member')).jwt);
  const { body } = await member.get('/api/secrets/declared').expect(200);
  expect(body.filter(({ name }: { name: string }) => name.startsWith('DECLARED_'))).toEqual([
    { name: 'DECLARED_MISSING', set: false, used_by },
    { name: 'DECLARED_SET', set: true, used_by },
  ]);
  const all = (await owner.get('/api/secrets/declared').expect(200)).body.map(({ name }: { name: string }) => name);
  expect(all).toContain('DECLARED_HIDDEN');
});

test('a test reports whether it is set and opens', async () => {
  const member = createCaller(api.url, (await api.addMember('member')).jwt);
  const testSecret = () => member.post('/api/secrets/TESTED/test').expect(200);
  expect((await testSecret()).body).toMatchObject({ ok: false, set: false, decrypts: false });
  await owner.put('/api/secrets/TESTED', { value: 'x' }).expect(201);
  expect((await testSecret()).body).toMatchObject({ ok: true, set: true, tested_at: expect.any(String) });
  await api.deps.pool.query(`UPDATE secrets SET sealed = '\\x01' WHERE name = 'TESTED'`);
  expect((await testSecret()).body).toMatchObject({ ok: false, set: true, decrypts: false });
  await owner.remove('/api/secrets/TESTED').expect(204);
});

test('the key is rotated by admins while secrets are read, and the rotation is audited', async () => {
  for (let n = 0; n < 20; n++) await owner.put(`/api/secrets/ROTATED_${n}`, { value: `value ${n}` }).expect(201);
  const names = Array.from({ length: 20 }, (_, n) => `ROTATED_${n}`);
  const listRotations = async () =>
    (await api.deps.pool.query("SELECT details FROM audit_log WHERE action = 'secret_keys.rotated'")).rows;
  const before = await listRotations();
  let rotating = true;
  const reading = (async () => {
    while (rotating) {
      const values = await api.deps.secrets.reveal(api.workspaceId, names);
      expect(Object.keys(values)).toHaveLength(20);
    }
  })();
  const first = await owner.post('/api/secrets/rotate-keys').expect(200);
  expect(first.body.resealed).toBeGreaterThanOrEqual(20);
  expect((await owner.post('/api/secrets/rotate-keys').expect(200)).body.key_version).toBe(first.body.key_version + 1);
  rotating = false;
  await reading;
  expect(await listRotations()).toHaveLength(before.length + 2);
  const member = createCaller(api.url, (await api.addMember('member')).jwt);
  await member.post('/api/secrets/rotate-keys').expect(403);
  await member.put('/api/secrets/ROTATED_1', { value: 'x' }).expect(403);
});

test('signing keys, connections and OAuth clients move to the new key with the secrets', async () => {
  const { pool, vault } = api.deps;
  await createWorker(api, { name: 'Signed', trigger: { type: 'webhook', signed: true } });
  await owner.post('/api/alerts', { on: ['run.failed'], url: 'https://alerts.example' }).expect(201);
  await owner.put('/api/secrets/SEALED_TOO', { value: 'x' });
  await owner.post('/api/connections', { app: 'acme', value: 'key', hosts: ['api.acme.example'] }).expect(201);
  await owner.put('/api/integrations/apps/github', { client_id: 'id', client_secret: 'secret' });
  const grant = { kind: 'oauth' as const, accessToken: 'a', refreshToken: null, clientId: 'id' };
  await pool.query(
    `INSERT INTO connection_revocations (id, workspace_id, app, parameters, sealed, next_attempt_at)
     VALUES ('rvk_1', $1, 'github', '{}', $2, now() + interval '1 day')`,
    [api.workspaceId, await sealRevokedGrant(vault, api.workspaceId, 'rvk_1', grant)],
  );
  const { body } = await owner.post('/api/secrets/rotate-keys').expect(200);
  for (const { table, column } of sealedColumns) {
    const { rows } = await pool.query(
      `SELECT DISTINCT substring(${column} from 2 for 4) = int4send($1) AS moved FROM ${table} WHERE ${column} IS NOT NULL`,
      [body.key_version],
    );
    expect([table, rows]).toEqual([table, [{ moved: true }]]);
  }
});

test('no column with sealed values is left out of the rotation', async () => {
  const { rows } = await api.deps.pool.query(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type = 'bytea'`,
  );
  const sealedForNoWorkspace = ['signing_keys.private_key'];
  const notSealed = /(hash|_hash|\.wrapped_key)$/;
  const found = rows.map(({ name }) => name).filter((name) => !notSealed.test(name));
  const listed = sealedColumns.map(({ table, column }) => `${table}.${column}`);
  expect(found.sort()).toEqual([...listed, ...sealedForNoWorkspace].sort());
});

test.each([
  ['/api/secrets', { name: 'api_key', value: 'x' }, 'name'],
  ['/api/secrets', { name: 'KEY' }, 'value'],
  ['/api/secrets', { name: 'KEY', value: '' }, 'value'],
  ['/api/secrets', { name: 'KEY', value: 'x'.repeat(32_769) }, 'value'],
  ['/api/secrets', { name: 'KEY', value: 'é'.repeat(20_000) }, 'value'],
  ['/api/secrets', { name: 'KEY', value: 'a\0b' }, 'value'],
  ['/api/secrets/lower', { value: 'x' }, 'name'],
  ['/api/secrets/KEY', { value: 'x', extra: 1 }, 'extra'],
])('%s %# is a 400 that names the field and not the value', async (path, body, field) => {
  const answer = await owner.post(path, body).expect(400);
  expect(answer.body.errors).toContainEqual({ path: field, message: expect.any(String) });
  expect(answer.text.length).toBeLessThan(1_000);
});
