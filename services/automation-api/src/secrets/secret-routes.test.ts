import { connectBus } from '@gantry/events';
import { pino } from 'pino';
import { deployArtifact, testService } from '../test/service';

const VALUE = 'correct-horse-battery-staple';

const service = testService();

test('a secret is stored, overwritten, listed by name and deleted; its value is never shown', async () => {
  const me = service.createCaller();
  const set = (value: string) => me.post('/api/secrets', { name: 'API_KEY', value });
  const first = await set(VALUE).expect(201);
  const times = { createdAt: expect.any(Number), updatedAt: expect.any(Number) };
  expect(first.body).toEqual({ name: 'API_KEY', hosts: [], places: ['header'], ...times });
  await set(`${VALUE}-2`).expect(200);
  const { body, text } = await me.get('/api/secrets').expect(200);
  expect(body.secrets).toMatchObject([{ name: 'API_KEY' }]);
  expect(first.text + text).not.toContain('horse');
  await me.delete('/api/secrets/API_KEY').expect(204);
  await me.delete('/api/secrets/API_KEY').expect(404);
  expect((await me.get('/api/secrets')).body.secrets).toEqual([]);
});

test('names that automations declare are listed with those automations, and whether they are set', async () => {
  const me = service.createCaller();
  const manifest = { name: 'Mailer', secrets_needed: ['MAIL_KEY', 'API_KEY'] };
  const { id } = await deployArtifact(me, { files: { 'main.py': 'def run(): pass' }, manifest });
  await deployArtifact(me, { files: { 'main.py': 'def run(): pass' }, manifest: { name: 'Needs nothing' } });
  await me.post('/api/secrets', { name: 'API_KEY', value: VALUE }).expect(201);
  const usedBy = [{ id, name: 'Mailer' }];
  expect((await me.get('/api/secrets/declared').expect(200)).body.secrets).toEqual([
    { name: 'API_KEY', set: true, usedBy },
    { name: 'MAIL_KEY', set: false, usedBy },
  ]);
  await me.delete(`/api/automations/${id}`).expect(204);
  expect((await me.get('/api/secrets/declared').expect(200)).body.secrets).toEqual([]);
});

test('a run gets the latest value, sealed for the executor', async () => {
  const me = service.createCaller();
  const { id } = await deployArtifact(me, {
    files: { 'main.py': 'def run(): pass' },
    manifest: { name: 'x', secrets_needed: ['API_KEY'] },
  });
  for (const value of ['old value', VALUE]) await me.post('/api/secrets', { name: 'API_KEY', value });
  await me.post('/api/secrets', { name: 'NOT_DECLARED', value: 'stays here' });
  await me.post(`/api/automations/${id}/run`, { inputs: {}, wait: 0 }).expect(200);
  const spectator = await connectBus({ ...service.nats.spectator, name: 'spectator', log: pino({ level: 'silent' }) });
  const messages: string[] = [];
  spectator.nc.subscribe('>', { callback: (_, message) => void messages.push(message.string()) });
  await spectator.nc.flush();
  const job = await (await service.connectExecutor()).claim();
  expect(job?.secrets).toEqual({ API_KEY: VALUE });
  await spectator.nc.flush();
  expect(messages.length).toBeGreaterThan(1);
  expect(messages.join()).not.toContain(VALUE);
  await spectator.nc.close();
});

test('code gets a placeholder of a secret with hosts, and its value is nowhere else', async () => {
  const me = service.createCaller();
  const { id } = await deployArtifact(me, {
    files: { 'main.py': 'def run(): pass' },
    manifest: { name: 'x', secrets_needed: ['API_KEY', 'PLAIN'] },
  });
  const hosts = ['api.example.com'];
  const { body } = await me
    .post('/api/secrets', { name: 'API_KEY', value: VALUE, hosts: ['API.example.com'] })
    .expect(201);
  expect(body).toMatchObject({ name: 'API_KEY', hosts });
  await me.post('/api/secrets', { name: 'PLAIN', value: 'as it is' });
  await me.post(`/api/automations/${id}/run`, { inputs: {}, wait: 0 }).expect(200);
  const job = await (await service.connectExecutor()).claim();
  expect(job?.secrets).toEqual({ PLAIN: 'as it is' });
  const placeholder = expect.stringMatching(/^gph_/);
  expect(job?.credentials).toMatchObject([{ kind: 'secret', name: 'API_KEY', value: VALUE, hosts, placeholder }]);
  const { rows } = await service.api.deps.pool.query('SELECT row_to_json(r)::text AS text FROM runs r');
  expect(rows.map(({ text }) => text).join()).not.toContain('horse');
});

test.each([
  [['https://api.example.com'], 'hosts.0', /must be a host/],
  [['*.com'], 'hosts.0', /top-level/],
  [['a.example', 'A.example:443'], 'hosts.1', /twice/],
  [['a.example:70000'], 'hosts.0', /port/],
])('the hosts %j are refused at %s', async (hosts, path, message) => {
  const { body } = await service.createCaller().post('/api/secrets', { name: 'WRONG', value: 'x', hosts }).expect(400);
  expect(JSON.stringify(body)).toMatch(message);
  expect(JSON.stringify(body)).toContain(path);
});

test('a run whose secret is not set fails with its name', async () => {
  const me = service.createCaller();
  const { id } = await deployArtifact(me, {
    files: { 'main.py': 'def run(): pass' },
    manifest: { name: 'x', secrets_needed: ['API_KEY'] },
  });
  const stop = await service.serveRuns(() => ({}));
  const { body } = await me.post(`/api/automations/${id}/run`, { inputs: {} }).expect(200);
  await stop();
  expect(body).toMatchObject({
    status: 'error',
    error: { code: 'missing_secret', message: expect.stringContaining('API_KEY') },
  });
});

test('concurrent writes of one name leave one readable value', async () => {
  const me = service.createCaller();
  const values = ['a-1', 'b-2', 'c-3', 'd-4'];
  await Promise.all(values.map((value) => me.post('/api/secrets', { name: 'RACE', value })));
  const revealed = await service.api.deps.secrets.reveal(me.workspaceId, ['RACE']);
  expect(values).toContain(revealed.RACE);
});

test('nothing in the database or the log contains a value in plain text', async () => {
  const me = service.createCaller();
  await me.post('/api/secrets', { name: 'API_KEY', value: VALUE }).expect(201);
  await me.post('/api/secrets', { name: 'API_KEY', value: VALUE, extra: 1 }).expect(400);
  const { pool } = service.api.deps;
  const { rows: tables } = await pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  expect(tables.length).toBeGreaterThan(8);
  for (const { tablename } of tables) {
    const { rows } = await pool.query(`SELECT t::text AS row FROM ${tablename} t`);
    const dump = rows.map(({ row }) => row).join('\n');
    for (const form of [VALUE, Buffer.from(VALUE).toString('base64'), Buffer.from(VALUE).toString('hex')]) {
      expect([tablename, dump.includes(form)]).toEqual([tablename, false]);
    }
  }
  expect(service.logs.text()).not.toContain(VALUE);
});

test.each([
  [{ name: 'api_key', value: 'x' }, 'name'],
  [{ name: '1KEY', value: 'x' }, 'name'],
  [{ name: `K${'A'.repeat(64)}`, value: 'x' }, 'name'],
  [{ name: 'KEY' }, 'value'],
  [{ value: 'x' }, 'name'],
  [{ name: 'KEY', value: '' }, 'value'],
  [{ name: 'KEY', value: 7 }, 'value'],
  [{ name: 'KEY', value: 'x'.repeat(32_769) }, 'value'],
  [{ name: 'KEY', value: 'é'.repeat(20_000) }, 'value'],
  [{ name: 'KEY', value: 'a\0b' }, 'value'],
])('%# is a 400 that names the field and not the value', async (body, path) => {
  const response = await service.createCaller().post('/api/secrets', body).expect(400);
  expect(response.body.details).toContainEqual({ path, message: expect.any(String) });
  expect(response.text.length).toBeLessThan(1_000);
});

test('only admins change secrets; every member of the workspace sees the names', async () => {
  const admin = service.createCaller();
  const member = service.createCaller({ role: 'member', workspaceId: admin.workspaceId });
  const viewer = service.createCaller({ role: 'viewer', workspaceId: admin.workspaceId });
  await admin.post('/api/secrets', { name: 'KEY', value: 'x' }).expect(201);
  await member.post('/api/secrets', { name: 'KEY', value: 'y' }).expect(403);
  await member.delete('/api/secrets/KEY').expect(403);
  expect((await viewer.get('/api/secrets').expect(200)).body.secrets).toMatchObject([{ name: 'KEY' }]);
});
