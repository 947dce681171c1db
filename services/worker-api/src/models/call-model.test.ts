import { newId } from '@gantry/events';
import { transaction } from '@gantry/postgres';
import { setupResource, startScriptedModel } from '@gantry/testing';
import type { ToolSet } from 'ai';
import { parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';
import type { ModelCallError } from './call-failure';
import { callModel } from './call-model';
import { createModelRegistry } from './model-registry';

const api = testWorkerApi();
const openai = setupResource(startScriptedModel, (one) => one.stop());
const anthropic = setupResource(startScriptedModel, (one) => one.stop());

const KEY = 'sk-of-the-operator';
const PRICE = { input_usd_per_mtok: 1, output_usd_per_mtok: 2 };

const registry = () =>
  createModelRegistry(
    parseModels(
      [
        {
          name: 'a',
          kind: 'openai-compatible',
          base_url: openai.baseUrl,
          api_key: KEY,
          timeout_seconds: 1,
          models: ['m', 'free'],
          prices: { m: PRICE },
          max_output_tokens: 1_000,
        },
        {
          name: 'b',
          kind: 'anthropic',
          base_url: anthropic.baseUrl,
          api_key: KEY,
          timeout_seconds: 1,
          models: ['m'],
          prices: { m: { ...PRICE, cache_read_usd_per_mtok: 0.1 } },
          max_output_tokens: 1_000,
        },
      ],
      { both: ['a/m', 'b/m'] },
    ),
  );

interface Asking {
  model?: string;
  workspaceId?: string;
  budgets?: { tokenId: string; usd: number }[];
  tools?: ToolSet;
  signal?: AbortSignal;
  onText?: (text: string) => void;
}

/** A workspace of its own, so that what is booked is that of the test. */
async function newWorkspace(budgetUsd: number | null = null): Promise<string> {
  const id = newId('ws_');
  await api.database.pool.query('INSERT INTO workspaces (id, name, model_budget_usd) VALUES ($1, $1, $2)', [
    ...[id, budgetUsd],
  ]);
  return id;
}

async function callTestModel({ model = 'a/m', workspaceId, budgets, tools = {}, signal, onText = () => {} }: Asking) {
  const answer = await callModel(api.deps, {
    models: registry().resolve(model),
    spender: { workspaceId: workspaceId ?? api.workspaceId, userId: null, tokenId: null, budgets: budgets ?? null },
    about: { conversationId: null, turnId: null },
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'Hello' }],
    tools,
    signal: signal ?? new AbortController().signal,
    onText,
  });
  await transaction(api.database.pool, (tx) => answer.settle(tx));
  return answer;
}

const expectFailure = (asking: Asking): Promise<ModelCallError> =>
  callTestModel(asking).then(
    () => Promise.reject(new Error('it answered')),
    (err) => err,
  );

async function readBooked(workspaceId: string) {
  const { rows } = await api.database.pool.query(
    'SELECT model, outcome, error_code, usd, input_tokens, output_tokens, estimated FROM model_calls WHERE workspace_id = $1 ORDER BY started_at, id',
    [workspaceId],
  );
  return rows;
}

const both = [
  ['a/m', () => openai],
  ['b/m', () => anthropic],
] as const;

test.each(both)('%s: text is streamed as it arrives, and its cost is recorded', async (model, server) => {
  const workspaceId = await newWorkspace();
  await server().says({ text: 'Hello' });
  const heard: string[] = [];
  const { content, failure } = await callTestModel({ model, workspaceId, onText: (text) => heard.push(text) });
  expect(failure).toBeNull();
  expect(content).toMatchObject([{ type: 'text', text: 'Hello' }]);
  expect(heard.length).toBeGreaterThan(1);
  expect(await readBooked(workspaceId)).toEqual([
    { model, outcome: 'ok', error_code: null, usd: 0.00012, input_tokens: 100, output_tokens: 10, estimated: false },
  ]);
  const [asked] = await server().asked();
  expect(JSON.stringify(asked?.headers)).toContain(KEY);
});

test.each(both)('%s: a tool call arrives with its arguments', async (model, server) => {
  await server().says({ text: 'Look', calls: [{ name: 'list_runs', input: { limit: 3 } }] });
  const { content } = await callTestModel({ model });
  expect(content).toMatchObject([
    { type: 'text', text: 'Look' },
    { type: 'tool-call', toolName: 'list_runs', input: { limit: 3 } },
  ]);
});

test('tokens from the cache of a provider cost what the operator configures', async () => {
  const workspaceId = await newWorkspace();
  await anthropic.says({ text: 'x', usage: { input: 100, output: 0, cached: 900 } });
  await callTestModel({ model: 'b/m', workspaceId });
  const [{ usd, input_tokens }] = await readBooked(workspaceId);
  expect({ usd, input_tokens }).toEqual({ usd: 0.00019, input_tokens: 1_000 });
});

test.each([
  [400, 'model_refused', 1],
  [401, 'model_unauthorized', 1],
  [404, 'model_not_found', 1],
  [500, 'model_unavailable', 3],
])('a provider that responds %i: %s, requested %i times, and no key is repeated', async (status, code, times) => {
  const refusal = { status, body: `no, ${KEY}` };
  await openai.says(refusal, refusal, refusal, refusal);
  const failure = await expectFailure({});
  expect(failure.code).toBe(code);
  expect(failure.detail).not.toContain(KEY);
  expect(await openai.asked()).toHaveLength(times);
});

test('a short Retry-After of a provider is respected, and one that is long is passed over', async () => {
  await openai.says({ status: 429, headers: { 'Retry-After': '0' } }, { text: 'later' });
  expect((await callTestModel({})).content).toMatchObject([{ text: 'later' }]);
  await openai.says({ status: 429, headers: { 'Retry-After': '3600' } });
  await anthropic.says({ text: 'from b' });
  expect(await callTestModel({ model: 'both' })).toMatchObject({ model: 'b/m', content: [{ text: 'from b' }] });
  expect(await openai.asked()).toHaveLength(1);
});

test('an unresponsive provider times out, and is retried', async () => {
  const workspaceId = await newWorkspace();
  await openai.says({ silent: true }, { text: 'awake' });
  expect((await callTestModel({ workspaceId })).content).toMatchObject([{ text: 'awake' }]);
  expect((await readBooked(workspaceId)).map((row) => row.error_code)).toEqual(['model_timed_out', null]);
});

test('unreadable data is reported at once and not requested again', async () => {
  const workspaceId = await newWorkspace();
  await openai.says({ raw: 'data: {no json\n\n' }, { text: 'not asked' });
  expect((await expectFailure({ workspaceId })).code).toBe('model_malformed');
  expect(await openai.asked()).toHaveLength(1);
  expect(await readBooked(workspaceId)).toMatchObject([{ outcome: 'failed', error_code: 'model_malformed', usd: 0 }]);
});

test.each(both)(
  '%s: an interrupted response keeps its text, costs it, and is not requested again',
  async (model, server) => {
    const workspaceId = await newWorkspace();
    await server().says({ text: 'Hello', cut: 4, usage: { input: 100, output: 10 } }, { text: 'not asked' });
    const { content, failure } = await callTestModel({ model, workspaceId });
    expect(failure?.code).toBe('model_unavailable');
    expect(content).toMatchObject([{ type: 'text', text: expect.stringMatching(/^Hel?/) }]);
    expect(await server().asked()).toHaveLength(1);
    const [row] = await readBooked(workspaceId);
    expect(row).toMatchObject({ outcome: 'failed', error_code: 'model_unavailable', estimated: true });
    expect(row.usd).toBeGreaterThan(0);
  },
);

test('a provider that reports no usage is charged by the length of the texts', async () => {
  const workspaceId = await newWorkspace();
  await openai.says({ text: 'Hello', usage: null });
  await callTestModel({ workspaceId });
  const [row] = await readBooked(workspaceId);
  expect(row).toMatchObject({ outcome: 'ok', estimated: true });
  expect(row.usd).toBeGreaterThan(0);
});

test('a model without a price has no cost, and is not called while a budget applies', async () => {
  const workspaceId = await newWorkspace();
  await openai.says({ text: 'free' });
  await callTestModel({ model: 'a/free', workspaceId });
  expect(await readBooked(workspaceId)).toMatchObject([{ usd: null, input_tokens: 100 }]);
  const held = await expectFailure({ model: 'a/free', workspaceId: await newWorkspace(1) });
  expect(held).toMatchObject({ code: 'model_without_price', status: 403 });
  expect(await openai.asked()).toHaveLength(1);
});

/** The most that one call here can cost is a little over 0.002. */
test('of many simultaneous calls only as many are made as the budget of the month allows', async () => {
  const workspaceId = await newWorkspace(0.0065);
  await openai.says(
    ...Array.from({ length: 10 }, () => ({ hold: true, text: 'x', usage: { input: 100, output: 1_000 } })),
  );
  const calls = Array.from({ length: 10 }, () =>
    callTestModel({ workspaceId }).then(
      () => 'made',
      (err) => err.code,
    ),
  );
  await Promise.race([Promise.all(calls), untilRefused(calls, 7)]);
  await openai.release();
  const outcomes = await Promise.all(calls);
  expect(outcomes.filter((one) => one === 'made')).toHaveLength(3);
  expect(outcomes.filter((one) => one === 'budget_exceeded')).toHaveLength(7);
  const { rows } = await api.database.pool.query('SELECT sum(usd) AS usd FROM model_calls WHERE workspace_id = $1', [
    workspaceId,
  ]);
  expect(rows[0].usd).toBeLessThanOrEqual(0.0065);
});

/** So many are refused while the others are held by the provider. */
const untilRefused = (calls: Promise<unknown>[], count: number): Promise<void> =>
  new Promise((resolve) => {
    let refused = 0;
    for (const call of calls) void call.then(() => ++refused === count && resolve());
  });

test('the budget of a token includes what its calls cost, and what they may cost', async () => {
  const workspaceId = await newWorkspace();
  const budgets = [{ tokenId: newId('tok_'), usd: 0.004 }];
  await openai.says({ text: 'x', usage: { input: 100, output: 1_000 } }, { text: 'not asked' });
  await callTestModel({ workspaceId, budgets });
  expect(await expectFailure({ workspaceId, budgets })).toMatchObject({ code: 'budget_exceeded', status: 403 });
  expect(await openai.asked()).toHaveLength(1);
});

test('a cancelled call counts with the most that it may have cost', async () => {
  const workspaceId = await newWorkspace();
  const stop = new AbortController();
  await openai.says({ text: 'Hello', cut: 2, hang: true });
  const heard = jest.fn(() => stop.abort());
  expect(await expectFailure({ workspaceId, signal: stop.signal, onText: heard })).toMatchObject({
    name: 'AbortError',
  });
  const [row] = await readBooked(workspaceId);
  expect(row).toMatchObject({ outcome: 'stopped' });
  expect(row.usd).toBeGreaterThan(0.002);
});
