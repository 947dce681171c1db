import { setupResource, startScriptedModel } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { createWorker } from '../test/create-worker';
import { parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';

const model = setupResource(startScriptedModel, (one) => one.stop());
const providers = () => [
  { name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['qwen3', 'llama'] },
];
const api = testWorkerApi(() => ({ models: parseModels(providers(), { smart: 'local/qwen3' }) }));
const bare = testWorkerApi(() => ({ models: parseModels([]) }));
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));

const agent = (name: string, more: object = {}) => ({
  name,
  runner: 'agent',
  files: [{ path: 'SKILL.md', content: '# Sort\n\nSort the mail.\n' }],
  ...more,
});
const read = async (id: string) => (await owner.get(`/api/workers/${id}`).expect(200)).body;

test('an agent with a model that the workspace does not have is saved with a warning, until it has another', async () => {
  const made = await owner.post('/api/workers', agent('Lost', { model: 'local/qwen2' })).expect(201);
  const problem = expect.stringMatching(/^there is no model "local\/qwen2".*local\/qwen3/);
  const warnings = [expect.stringMatching(/^model: there is no model "local\/qwen2"/)];
  expect(made.body).toMatchObject({ model_problem: problem, health: 'needs_attention', warnings });
  expect(await read('lost')).toMatchObject({ model_problem: problem, health: 'needs_attention' });
  const { body: list } = await owner.get('/api/workers').expect(200);
  expect(list).toContainEqual(expect.objectContaining({ id: 'lost', model_problem: problem }));
  for (const name of ['smart', 'default', null]) {
    const { body } = await owner.patch('/api/workers/lost', { model: name }).expect(200);
    expect(body).toMatchObject({ model: name, model_problem: null, health: 'ready', warnings: [] });
  }
});

test('workers among the tools that a run cannot call are named, until they exist', async () => {
  await createWorker(api, { name: 'Deleted' });
  await createWorker(api, { name: 'Hidden', visibility: 'private' });
  await createWorker(api, { name: 'Report' });
  await owner.remove('/api/workers/deleted').expect(204);
  const tools = ['worker:report', 'worker:deleted', 'worker:hidden', 'worker:later'];
  const { body: made } = await owner.post('/api/workers', agent('Caller', { tools })).expect(201);
  expect(made).toMatchObject({ missing_workers: ['deleted', 'hidden', 'later'], health: 'needs_attention' });
  expect(made.warnings).toEqual(['deleted', 'hidden', 'later'].map((id) => expect.stringContaining(`worker ${id} `)));
  await createWorker(api, { name: 'Later' });
  expect((await read('caller')).missing_workers).toEqual(['deleted', 'hidden']);
  const { body } = await owner.patch('/api/workers/caller', { tools: ['worker:report', 'worker:later'] }).expect(200);
  expect(body).toMatchObject({ missing_workers: [], health: 'ready', warnings: [] });
});

test('a worker of another workspace cannot be called by an agent', async () => {
  await api.deps.prisma.workspace.create({ data: { id: 'ws_elsewhere', name: 'Elsewhere' } });
  const { id } = await createTestWorker(api, { workspaceId: 'ws_elsewhere' });
  const { body } = await owner.post('/api/workers', agent('Stranger', { tools: [`worker:${id}`] })).expect(201);
  expect(body.missing_workers).toEqual([id]);
});

test('without any model an agent is saved, and reports it before its first run; code refers to none', async () => {
  const { body } = await createCaller(bare.url, bare.owner.jwt).post('/api/workers', agent('Early')).expect(201);
  const problem = expect.stringContaining('no model is configured');
  expect(body).toMatchObject({ model_problem: problem, warnings: [expect.stringContaining('no model is configured')] });
  const code = await createWorker(bare, { name: 'Code', inputs: [] });
  expect(code).toMatchObject({ model_problem: null, missing_workers: [], health: 'ready' });
});
