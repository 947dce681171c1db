import { type FakeJob, setupResource, startScriptedModel } from '@gantry/testing';
import { callModel } from '../test/call-model';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { createWorker } from '../test/create-worker';
import { buildScriptedProvider, parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';
import { toManifest } from './bundle';
import { parseDefinition } from './definition';

const model = setupResource(startScriptedModel, (one) => one.stop());
const api = testWorkerApi(() => ({ models: parseModels([buildScriptedProvider(model.baseUrl)]) }));
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const skill = (content = '# Sort\n\nSort the mail.\n') => [{ path: 'SKILL.md', content }];
const sorter = (more: object = {}) => ({ name: 'Sorter', runner: 'agent', files: skill(), ...more });

async function startJob(id: string): Promise<FakeJob> {
  await owner.post(`/api/workers/${id}/runs`, { inputs: {} }).expect(201);
  const job = await executor.claimJob();
  await job.report({ type: 'started' });
  return job;
}

const sendQuestion = (job: FakeJob, tools: object[], ordinal = 1) => callModel(executor, job, { tools, ordinal });

test('an agent is created from a skill, and its run gets its tools and settings', async () => {
  const tools = ['python', { tool: 'worker:report', approve: 'always' }];
  const output = { type: 'object', properties: { sorted: { type: 'integer' } } };
  const made = await owner.post('/api/workers', sorter({ tools, model: 'local/m', max_turns: 5, output })).expect(201);
  expect(made.body).toMatchObject({
    runner: 'agent',
    entrypoint: 'SKILL.md',
    model: 'local/m',
    max_turns: 5,
    budget_usd: null,
    output,
    retry: { max_attempts: 5 },
    tools: [
      { tool: 'python', approve: 'destructive' },
      { tool: 'worker:report', approve: 'always' },
    ],
  });
  const job = await startJob('sorter');
  expect(job).toMatchObject({
    entrypoint: 'SKILL.md',
    agent: {
      skill: 'SKILL.md',
      model: 'local/m',
      maxTurns: 5,
      output,
      tools: [
        { kind: 'python', approve: 'destructive' },
        { kind: 'worker', worker: 'report', approve: 'always' },
      ],
    },
  });
  await job.complete({ text: 'Done.' });
  const { body } = await owner.patch('/api/workers/sorter', { max_turns: 6 }).expect(200);
  expect(body).toMatchObject({ version: 2, max_turns: 6, model: 'local/m' });
  const named = { name: 'Sorter', description: '', tags: [] };
  const definition = parseDefinition({ runner: 'agent', max_turns: 6, output });
  const manifest = toManifest({ worker: named, definition, triggers: [] });
  expect(manifest).toMatchObject({ runner: 'agent', entrypoint: 'SKILL.md', max_turns: 6, output });
});

test('settings of its answers are saved and handed to its run, and an unknown tool choice is refused', async () => {
  const settings = { temperature: 0.2, reasoning: 'low', tool_choice: 'python' };
  const made = await owner.post('/api/workers', sorter({ name: 'Set', tools: ['python'], ...settings })).expect(201);
  expect(made.body).toMatchObject(settings);
  const job = await startJob('set');
  expect(job.agent).toMatchObject({ temperature: 0.2, reasoning: 'low', toolChoice: 'python' });
  await job.complete({ text: 'Done.' });
  for (const choice of ['http', 'worker:report']) {
    const { body } = await owner.patch('/api/workers/set', { tool_choice: choice }).expect(400);
    expect(JSON.stringify(body)).toContain('must be auto, none, required, or a single tool listed in tools');
  }
  await owner.patch('/api/workers/set', { tools: [], tool_choice: 'required' }).expect(400);
});

test('fields of agents are no part of the version of a code worker', async () => {
  const made = await createWorker(api, { name: 'Code', inputs: [] });
  const same = await owner.patch('/api/workers/code', { tools: [], model: null, budget_usd: null }).expect(200);
  expect(same.body).toMatchObject({ version: 1, sha: made.sha });
});

test.each<[object, string, RegExp]>([
  [{ tools: ['bash'] }, 'tools.0', /must be one of python, http, ask_person, worker:<id>/],
  [{ tools: ['linear.create_issue'] }, 'tools.0', /a connection must be listed in connections/],
  [{ tools: ['context:prices'] }, 'tools.0', /not listed in contexts: prices/],
  [{ tools: ['worker:'] }, 'tools.0', /must name a worker/],
  [{ tools: ['python', 'python'] }, 'tools.1', /appears twice/],
  [{ tools: [{ tool: 'python', approve: 'maybe' }] }, 'tools.0.approve', /always.*destructive.*never/],
  [{ max_turns: 0 }, 'max_turns', /1/],
  [{ entrypoint: 'main.py' }, 'entrypoint', /must name a Markdown file/],
])('%j is refused at %s', async (more, path, said) => {
  const { body } = await owner.post('/api/workers', sorter({ name: 'Wrong', ...more })).expect(400);
  const found = body.errors.filter((one: { path: string }) => one.path === path);
  expect(found.map(({ message }: { message: string }) => message).join()).toMatch(said);
});

test('a skill that is too long for a model is refused with its size', async () => {
  const { body } = await owner.post('/api/workers', sorter({ files: skill('x'.repeat(40_001)) })).expect(400);
  expect(body.detail).toMatch(/entrypoint: "SKILL.md" is 40001 bytes; the limit is 40000 bytes/);
});

test('a model is told the inputs of workers that it can run, and its calls name their worker', async () => {
  await createWorker(api, { name: 'Report', inputs: [{ name: 'year', type: 'integer', required: true }] });
  const worker = await createTestWorker(api, { definition: { runner: 'agent', tools: ['worker:report'] } });
  const job = await startJob(worker.id);
  await model.says({ calls: [{ name: 'run__report', input: { year: 2025 }, id: 'c1' }] });
  expect(await sendQuestion(job, [{ worker: 'report' }])).toMatchObject({
    result: {
      tool_calls: [
        { name: 'run__report', arguments: { year: 2025 }, serves: { worker: 'report', destructive: false } },
      ],
    },
  });
  const [asked] = await model.asked();
  expect(asked?.body.tools).toMatchObject([
    {
      function: { name: 'run__report', parameters: { properties: { year: { type: 'integer' } }, required: ['year'] } },
    },
  ]);
  expect(await sendQuestion(job, [{ worker: 'nobody' }], 2)).toMatchObject({
    failed: { code: 'unknown_tool', message: expect.stringContaining('no worker nobody') },
  });
  expect(await sendQuestion(job, [{ connection: 'linear' }], 3)).toMatchObject({
    failed: { code: 'not_allowed', message: expect.stringContaining('does not declare the connection linear') },
  });
});

test('no model is called beyond the budget of a run', async () => {
  const worker = await createTestWorker(api, { definition: { runner: 'agent', budget_usd: 0.003 } });
  const job = await startJob(worker.id);
  await model.says({ text: 'x', usage: { input: 100, output: 1_000 } }, { text: 'not asked' });
  expect(await sendQuestion(job, [])).toMatchObject({ result: {} });
  expect(await sendQuestion(job, [], 2)).toMatchObject({
    failed: { code: 'budget_exceeded', message: expect.stringContaining("budget_usd: this run's model calls") },
  });
  const other = await startJob(worker.id);
  await model.says({ text: 'y' });
  expect(await sendQuestion(other, [])).toMatchObject({ result: { text: 'y' } });
});
