import { MODELS_CONNECTION } from '@gantry/events';
import { type FakeJob, setupResource, startScriptedModel, waitUntil, zeroUsage } from '@gantry/testing';
import { callModel, type ModelCall, readRun, startRunningJob } from '../test/call-model';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { buildScriptedProvider, parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';

const model = setupResource(startScriptedModel, (one) => one.stop());
const api = testWorkerApi(() => ({
  models: parseModels([buildScriptedProvider(model.baseUrl)], { smart: 'local/m' }),
}));
const executor = setupResource(() => api.connectExecutor());
const me = setupResource(() => createCaller(api.url, api.owner.jwt));

const startJob = (definition: object = {}, credential = api.owner.jwt) =>
  startRunningJob(api, executor, { definition, credential });
const read = (job: FakeJob) => readRun(api, job);
const sendQuestion = (job: FakeJob, modelCall: ModelCall = {}) => callModel(executor, job, modelCall);

test('a response is recorded, charged once and part of the cost of the run', async () => {
  const job = await startJob();
  expect(job.tools).toEqual([{ name: MODELS_CONNECTION, tools: ['smart', 'local/m'] }]);
  await model.says({ text: 'Hi.', usage: { input: 100, output: 10 } }, { text: 'not asked' });
  const answer = {
    result: {
      text: 'Hi.',
      tool_calls: [],
      cut: false,
      model: 'local/m',
      usage: { input_tokens: 100, output_tokens: 10, usd: 0.00012 },
    },
  };
  expect(await sendQuestion(job, { system: 'Be brief.' })).toEqual(answer);
  expect(await sendQuestion(job, { system: 'Be brief.' })).toEqual(answer);
  const [asked, ...more] = await model.asked();
  expect(more).toEqual([]);
  expect(asked?.body.messages).toMatchObject([{ role: 'system' }, { role: 'user', content: 'Hello' }]);
  expect((await read(job)).steps).toMatchObject([{ kind: 'tool', name: 'model.default', status: 'completed' }]);
  await job.report({ type: 'finished', status: 'completed', output: null, usage: zeroUsage });
  const ended = await waitUntil(async () => {
    const run = await read(job);
    return run.status === 'completed' && run;
  });
  expect(ended.total_cost_usd).toBeCloseTo(0.00012);
});

test('a response is charged at the moment in which it is recorded, and not before', async () => {
  const job = await startJob();
  const { pool } = api.deps;
  await pool.query(`CREATE SEQUENCE refusals;
    CREATE FUNCTION refuse_record() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM nextval('refusals'); RAISE EXCEPTION 'refused' USING ERRCODE = '53300'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON run_steps FOR EACH ROW WHEN (NEW.status = 'completed') EXECUTE FUNCTION refuse_record()`);
  await model.says({ text: 'Hi.' }, { text: 'not asked' });
  const answer = sendQuestion(job);
  const refusals = async () => Number((await pool.query('SELECT last_value FROM refusals')).rows[0].last_value);
  const calls = async () => (await pool.query('SELECT outcome FROM model_calls WHERE run_id = $1', [job.runId])).rows;
  await waitUntil(async () => (await refusals()) >= 2);
  expect(await calls()).toEqual([{ outcome: 'started' }]);
  expect((await read(job)).total_cost_usd).toBe(0);
  await pool.query('DROP FUNCTION refuse_record CASCADE; DROP SEQUENCE refusals');
  expect(await answer).toMatchObject({ result: { text: 'Hi.' } });
  expect(await calls()).toEqual([{ outcome: 'ok' }]);
  expect((await read(job)).total_cost_usd).toBeCloseTo(0.00012);
  expect(await model.asked()).toHaveLength(1);
});

test('a response that violates its schema is repaired once, and both requests are charged', async () => {
  const job = await startJob();
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  await model.says({ text: '{"n": "seven"}' }, { text: '```json\n{"n": 7}\n```' });
  expect(await sendQuestion(job, { schema })).toMatchObject({
    result: { output: { n: 7 }, usage: { input_tokens: 200 } },
  });
  const [, second] = await model.asked();
  expect(JSON.stringify(second?.body.messages)).toContain('n must be of type integer');
  await model.says({ text: 'no' }, { text: 'no' }, { text: 'not asked' });
  expect(await sendQuestion(job, { ordinal: 2, schema })).toMatchObject({
    failed: { code: 'invalid_output', message: expect.stringContaining('it is not valid JSON') },
  });
  expect(await model.asked()).toHaveLength(2);
});

test('calls of declared tools are returned with their arguments, others are not', async () => {
  const job = await startJob();
  const tools = [{ name: 'look', parameters: { type: 'object', properties: { q: { type: 'string' } } } }];
  await model.says({
    calls: [
      { name: 'look', input: { q: 'x' }, id: 'c1' },
      { name: 'drop_all', input: {}, id: 'c2' },
    ],
  });
  const calls = [{ id: 'c1', name: 'look', arguments: { q: 'x' } }];
  expect(await sendQuestion(job, { tools })).toMatchObject({ result: { text: '', tool_calls: calls } });
  await model.says({ text: 'Found.' });
  const messages = [
    { role: 'user', content: 'Look' },
    { role: 'assistant', content: '', tool_calls: calls },
    { role: 'tool', tool_call_id: 'c1', content: 'a result' },
  ];
  expect(await sendQuestion(job, { ordinal: 2, messages, tools })).toMatchObject({ result: { text: 'Found.' } });
  const [asked] = await model.asked();
  expect(asked?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'a result' });
});

test('arguments are an object, and violations of the tool’s schema are reported with the call', async () => {
  const job = await startJob();
  const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const tools = [{ name: 'count', parameters }];
  const call = (id: string, raw: string) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: Number(id), id, function: { name: 'count', arguments: raw } }] } }] })}\n\n`;
  const end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n';
  const given = ['{"n": 7}', '{"n": "seven"}', '{}', '"{\\"n\\": 8}"', '{"n": ', '[7]'];
  await model.says({ raw: given.map((raw, at) => call(String(at), raw)).join('') + end });
  const { result } = (await sendQuestion(job, { tools })) as {
    result: { tool_calls: { arguments: unknown; problems?: string[] }[] };
  };
  expect(result.tool_calls.map(({ arguments: read, problems }) => [read, problems])).toEqual([
    [{ n: 7 }, undefined],
    [{ n: 'seven' }, ['n must be of type integer']],
    [{}, [expect.stringContaining('n')]],
    [{ n: 8 }, undefined],
    [{}, ['the arguments are not a JSON object']],
    [{}, ['the arguments are not a JSON object']],
  ]);
});

test('temperature, tool choice and reasoning reach the provider, and invalid ones are refused', async () => {
  const job = await startJob();
  const tools = [{ name: 'look' }];
  await model.says({ text: 'Hi.' }, { text: 'Hi.' });
  await sendQuestion(job, { temperature: 0.3, reasoning: 'low', tool_choice: 'look', tools });
  await sendQuestion(job, { ordinal: 2, tool_choice: 'required', tools });
  const [first, second] = await model.asked();
  expect(first?.body).toMatchObject({
    temperature: 0.3,
    reasoning_effort: 'low',
    tool_choice: { type: 'function', function: { name: 'look' } },
  });
  expect(second?.body).toMatchObject({ tool_choice: 'required' });
  for (const [at, [wrong, message]] of (
    [
      [{ temperature: 3 }, 'temperature: '],
      [{ reasoning: 'huge' }, 'reasoning: '],
      [{ tool_choice: 'drop_all', tools }, 'tool_choice: tools has no tool named drop_all'],
      [{ tool_choice: 'required' }, 'tool_choice: no tools were given'],
    ] as const
  ).entries()) {
    const failed = { code: 'invalid_arguments', message: expect.stringContaining(message) };
    expect(await sendQuestion(job, { ordinal: 3 + at, ...wrong })).toEqual({ failed });
  }
});

test('a run that a token for one worker has started offers no other worker to a model', async () => {
  const [own, other] = [await createTestWorker(api), await createTestWorker(api)];
  const { token } = await api.createToken('personal', api.owner.jwt, { restrict: { workers: [own.id] } });
  await createCaller(api.url, token).post(`/api/workers/${own.id}/runs`, { inputs: {} }).expect(201);
  const job = await waitUntil(() => executor.claim());
  await job.report({ type: 'started' });
  const refused = await sendQuestion(job, { tools: [{ worker: other.id }] });
  expect(refused).toMatchObject({ failed: { code: 'not_allowed', message: expect.stringContaining(other.id) } });
  await model.says({ text: 'Hi.' });
  expect(await sendQuestion(job, { ordinal: 2, tools: [{ worker: own.id }] })).toMatchObject({
    result: { text: 'Hi.' },
  });
});

test('a secret of the workspace is masked in requests', async () => {
  await me.put('/api/secrets/KEPT', { value: 'value-to-keep-4711' }).expect(201);
  const job = await startJob();
  await model.says({ text: 'Hi.' });
  await sendQuestion(job, { messages: [{ role: 'user', content: 'It is value-to-keep-4711.' }] });
  const [asked] = await model.asked();
  expect(asked?.body.messages.at(-1)?.content).toBe('It is ***.');
});

test('a call that cannot be made reports why, and costs nothing', async () => {
  const job = await startJob();
  await model.says({ text: 'not asked' });
  expect(await sendQuestion(job, { tool: 'smarter' })).toMatchObject({
    failed: { code: 'unknown_tool', message: expect.stringContaining('smart, local/m') },
  });
  expect(
    await sendQuestion(job, { ordinal: 2, messages: [{ role: 'tool', tool_call_id: 'c9', content: 'x' }] }),
  ).toMatchObject({
    failed: { code: 'invalid_arguments', message: expect.stringContaining('messages.0.tool_call_id') },
  });
  expect(await model.asked()).toEqual([]);
});

test('a provider that refuses, and an unresponsive one, are failures that the code can catch', async () => {
  const job = await startJob();
  await model.says({ status: 400, body: 'context too long' });
  expect(await sendQuestion(job)).toMatchObject({
    failed: { code: 'unavailable', message: expect.stringContaining('context too long') },
  });
  await model.says({ silent: true });
  expect(await sendQuestion(job, { ordinal: 2, timeoutMs: 300 })).toMatchObject({
    failed: { code: 'unavailable', message: expect.stringContaining('no response within 0.3 seconds') },
  });
});

test('retries of a call and of its run do not multiply', async () => {
  const retry = { max_attempts: 5, backoff_seconds: 0, backoff: 'fixed' as const };
  let job = await startJob({ retry });
  await model.says(...Array.from({ length: 20 }, () => ({ status: 500, body: 'down' })));
  for (;;) {
    expect(await sendQuestion(job)).toMatchObject({ failed: { code: 'unavailable' } });
    const error = { code: 'exception' as const, message: 'no answer' };
    await job.report({ type: 'finished', status: 'failed', error, usage: zeroUsage });
    if (job.attempt === 5) break;
    job = await executor.claimJob();
    await job.report({ type: 'started' });
    await waitUntil(async () => (await read(job)).status === 'running');
  }
  expect(await model.asked()).toHaveLength(6);
});

test('a response stopped by a content filter is a refusal with the text until then, and is charged', async () => {
  const job = await startJob();
  await model.says({ text: 'I would', finish: 'content_filter' }, { text: 'not asked' });
  expect(await sendQuestion(job)).toMatchObject({
    failed: {
      code: 'refused',
      message: expect.stringMatching(/content filter withheld .* Text received before that: I would$/),
    },
  });
  expect(await model.asked()).toHaveLength(1);
  const { rows } = await api.deps.pool.query('SELECT outcome, error_code FROM model_calls WHERE run_id = $1', [
    job.runId,
  ]);
  expect(rows).toEqual([{ outcome: 'failed', error_code: 'model_filtered' }]);
});

test('no call is made that could exceed the budget of its worker, or of its token', async () => {
  await model.says({ text: 'x', usage: { input: 100, output: 1_000 } }, { text: 'not asked' });
  const limits = { budget_usd_per_month: 0.003 };
  const job = await startJob({ limits });
  expect(await sendQuestion(job)).toMatchObject({ result: {} });
  expect(await sendQuestion(job, { ordinal: 2 })).toMatchObject({
    failed: { code: 'budget_exceeded', message: expect.stringContaining('limits.budget_usd_per_month') },
  });
  const { token } = await api.createToken('personal', api.owner.jwt, { restrict: { budget_usd: 0.003 } });
  const other = await startJob({}, token);
  await model.says({ text: 'x', usage: { input: 100, output: 1_000 } }, { text: 'not asked' });
  expect(await sendQuestion(other)).toMatchObject({ result: {} });
  expect(await sendQuestion(other, { ordinal: 2 })).toMatchObject({
    failed: { code: 'budget_exceeded', message: expect.stringContaining('restrict.budget_usd') },
  });
  expect(await model.asked()).toHaveLength(1);
});
