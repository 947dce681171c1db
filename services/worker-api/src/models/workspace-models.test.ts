/** Models that a workspace offers itself, with keys of its connections: a scripted provider is at the other end. */
import { setupResource, startScriptedModel, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { parseModels } from '../test/parse-models';
import { startTestWorkerApi } from '../test/test-worker-api';

const KEY = 'sk-of-the-workspace-4f9KqL2m';
const PRICE = { input_usd_per_mtok: 1, output_usd_per_mtok: 2 };

const model = setupResource(startScriptedModel, (one) => one.stop());
const host = setupResource(async () => ({ name: new URL(model.baseUrl).host }));
const api = setupResource(
  () =>
    startTestWorkerApi({
      models: parseModels([
        { name: 'local', kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', models: ['m'] },
      ]),
      // The scripted provider is on this machine, as an operator's own would be.
      outboundAllow: [host.name],
    }),
  (started) => started.stop(),
);
const admin = setupResource(async () => createCaller(api.url, (await api.addMember('admin')).jwt));
const path = '/api/models/providers';

/** Each test begins in a workspace that offers no models and has called none. */
beforeEach(async () => {
  const { body: providers } = await admin.get(path).expect(200);
  for (const { name } of providers) await admin.remove(`${path}/${name}`).expect(204);
  await api.database.pool.query('DELETE FROM model_calls');
});

async function newKey(more: object = {}): Promise<string> {
  const key = { app: 'acme', value: KEY, visibility: 'workspace', hosts: [host.name], ...more };
  return (await admin.post('/api/connections', key).expect(201)).body.id;
}

const offer = async (name: string, more: object = {}) =>
  admin.post(path, {
    name,
    kind: 'openai-compatible',
    base_url: model.baseUrl,
    models: ['m'],
    connection_id: await newKey(),
    ...more,
  });

const chat = (as: typeof admin, name: string) => as.post('/api/chat', { message: 'Hello', model: name, stream: false });
const listModels = async (as = admin): Promise<string[]> =>
  (await as.get('/api/models').expect(200)).body.map(({ id }: { id: string }) => id);

test('models of a connection are called with its key, which is never shown', async () => {
  const { body, text } = await offer('acme', { prices: { m: PRICE } });
  expect(body).toMatchObject({
    name: 'acme',
    models: ['m'],
    prices: { m: PRICE },
    problem: null,
    timeout_seconds: null,
  });
  expect(text).not.toContain(KEY);
  const shown = await createCaller(api.url, (await api.addMember('viewer')).jwt).get('/api/models');
  expect(shown.body).toMatchObject([
    { id: 'local/m', provided_by: 'operator', is_default: true },
    { id: 'acme/m', provided_by: 'workspace', is_default: false, price: PRICE },
  ]);
  expect(shown.text).not.toMatch(/sk-of|127\.0\.0\.1/);

  await model.says({ text: 'From acme', usage: { input: 100, output: 10 } });
  const answer = await chat(admin, 'acme/m').expect(200);
  expect(answer.body).toMatchObject({ status: 'completed', text: 'From acme' });
  expect((await admin.get('/api/models/usage').expect(200)).body).toMatchObject({
    models: [{ model: 'acme/m', usd: 0.00012 }],
  });
  const [asked] = await model.asked();
  expect(asked?.headers.authorization).toBe(`Bearer ${KEY}`);
  const [entry] = (await admin.get('/api/audit-log?action=model_provider.created').expect(200)).body;
  expect(entry).toMatchObject({ resource: { id: 'acme' }, details: { kind: 'openai-compatible', models: ['m'] } });
});

test('the key that a provider repeats in its refusal is not shown', async () => {
  await offer('tells').then(({ status }) => expect(status).toBe(201));
  await model.says({ status: 401 }, { status: 400, body: JSON.stringify({ error: { message: `bad key ${KEY}` } }) });
  const refused = (await chat(admin, 'tells/m').expect(200)).body.error;
  expect(refused).toMatchObject({ code: 'model_unauthorized', detail: expect.stringContaining('from its connection') });
  const { body, text } = await chat(admin, 'tells/m').expect(200);
  expect(body.error.code).toBe('model_refused');
  expect(text).not.toContain(KEY);
});

test('no other workspace uses it, and members offer none', async () => {
  await offer('ours').then(({ status }) => expect(status).toBe(201));
  const stranger = createCaller(api.url, api.foreign.owner.jwt);
  expect(await listModels(stranger)).toEqual(['local/m']);
  expect((await chat(stranger, 'ours/m').expect(400)).body.code).toBe('unknown_model');
  await stranger.get(`${path}/ours`).expect(404);
  await stranger
    .post(path, { name: 'stolen', kind: 'openai', models: ['m'], connection_id: await newKey() })
    .expect(404);
  await createCaller(api.url, (await api.addMember('member')).jwt)
    .get(path)
    .expect(403);
  await stranger
    .post('/api/connections', { app: 'acme', value: 'x', visibility: 'workspace', hosts: [host.name] })
    .then(({ body }) =>
      stranger.post(path, {
        name: 'ours',
        kind: 'openai-compatible',
        base_url: model.baseUrl,
        models: ['n'],
        connection_id: body.id,
      }),
    )
    .then(({ status }) => expect(status).toBe(201));
  expect(await listModels(stranger)).toEqual(['local/m', 'ours/n']);
});

test.each([
  ['a name of the operator', { name: 'local' }, 409, /a provider named .+ already exists/],
  ['a private address', { base_url: 'https://169.254.169.254/v1' }, 400, /not on the public internet/],
  ['an address without TLS', { base_url: 'http://models.example.com/v1' }, 400, /must begin with https/],
  ['no address', { base_url: null }, 400, /is required for openai-compatible/],
  ['a host that the key does not allow', { kind: 'openai', base_url: null }, 400, /can't be used for api\.openai\.com/],
  ['prices of other models', { prices: { n: PRICE } }, 400, /is not listed in models/],
  ['ambiguous prices', { prices: { m: [PRICE, PRICE] } }, 400, /prices\.m/],
])('%s is refused', async (_, more, status, words) => {
  const answer = await offer('refused', more);
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringMatching(words)]);
});

test('a private key is refused, and one that becomes private or is deleted disables its models', async () => {
  const connection_id = await newKey({ visibility: 'private' });
  expect((await offer('gone', { connection_id })).body.errors).toMatchObject([{ path: 'connection_id' }]);
  await admin.patch(`/api/connections/${connection_id}`, { visibility: 'workspace' }).expect(200);
  expect((await offer('gone', { connection_id })).status).toBe(201);
  expect((await admin.remove(`/api/connections/${connection_id}`).expect(409)).body.code).toBe('in_use');
  await admin
    .patch(`/api/connections/${connection_id}`, { hosts: ['elsewhere.example.com'], value: 'sk-elsewhere-0001' })
    .expect(200);
  expect((await admin.get(`${path}/gone`).expect(200)).body.problem).toMatch(/can't be used for/);
  const { body } = await chat(admin, 'gone/m').expect(200);
  expect(body.error).toMatchObject({ code: 'model_unauthorized', detail: expect.stringContaining("can't be used") });
  await admin.remove(`/api/connections/${connection_id}?force=true`).expect(204);
  expect((await admin.get(`${path}/gone`).expect(200)).body.problem).toBe('its connection no longer exists');
  await admin.patch(`${path}/gone`, { connection_id: await newKey() }).expect(200);
  await model.says({ text: 'again' });
  expect((await chat(admin, 'gone/m').expect(200)).body.status).toBe('completed');
});

test('models, prices and the whole provider are changed and removed', async () => {
  await offer('moves', { models: ['m', 'n'], prices: { m: PRICE, n: PRICE } });
  const dated = [
    { from: '2020-01-01', ...PRICE },
    { from: '2099-01-01', ...PRICE, output_usd_per_mtok: 9 },
  ];
  const { body } = await admin.put('/api/models/prices', { prices: { 'moves/m': dated, 'moves/n': null } }).expect(200);
  expect(body).toMatchObject([
    { id: 'moves/m', price: PRICE, next_price: { from: '2099-01-01T00:00:00.000Z', output_usd_per_mtok: 9 } },
    { id: 'moves/n', price: null, next_price: null },
  ]);
  expect(
    (await admin.put('/api/models/prices', { prices: { 'local/m': PRICE } }).expect(400)).body.errors,
  ).toMatchObject([{ path: 'prices.local/m', message: expect.stringContaining('operator') }]);
  await admin.put('/api/models/prices', { prices: { 'moves/x': PRICE } }).expect(404);
  expect((await admin.patch(`${path}/moves`, { models: ['m'] }).expect(200)).body).toMatchObject({
    models: ['m'],
    prices: { m: dated },
  });
  await admin.remove(`${path}/moves`).expect(204);
  expect(await listModels()).not.toContain('moves/m');
  await admin.remove(`${path}/moves`).expect(404);
});

test('a key for a known provider is for its host alone, and needs no address', async () => {
  const key = (await admin.post('/api/connections', { app: 'anthropic', value: KEY, visibility: 'workspace' })).body;
  expect(key).toMatchObject({ label: 'Anthropic', hosts: ['api.anthropic.com'] });
  const { body } = await admin
    .post(path, { name: 'claude', kind: 'anthropic', models: ['m'], connection_id: key.id })
    .expect(201);
  expect(body).toMatchObject({ base_url: null, problem: null });
});

test('code of the workspace can list them', async () => {
  await offer('for-code').then(({ status }) => expect(status).toBe(201));
  let tools: unknown;
  const stop = await api.serveRuns((job) => {
    tools = job.tools;
  });
  await admin
    .post('/api/workers', { name: 'Asks', files: [{ path: 'main.py', content: 'def run(): pass' }] })
    .expect(201);
  await admin.post('/api/workers/asks/runs', { inputs: {} }).expect(201);
  await waitUntil(() => tools !== undefined);
  expect(JSON.stringify(tools)).toContain('for-code/m');
  await stop();
});
