/** Prices that change: a call costs what held when it began. */
import { transaction } from '@gantry/postgres';
import { setupResource, startScriptedModel } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { parseModels } from '../test/parse-models';
import { startTestWorkerApi } from '../test/test-worker-api';
import { callModel } from './call-model';

const model = setupResource(startScriptedModel, (one) => one.stop());
const [CHEAP, DEAR] = [
  { input_usd_per_mtok: 1, output_usd_per_mtok: 2 },
  { input_usd_per_mtok: 10, output_usd_per_mtok: 20 },
];
const provider = (prices: object) => ({
  name: 'local',
  kind: 'openai-compatible',
  base_url: model.baseUrl,
  models: ['m'],
  prices: { m: prices },
});
/** Not in the order of their days. */
const dated = [
  { from: '2026-07-01', ...DEAR },
  { from: '2026-01-01T00:00:00+01:00', ...CHEAP },
];
let time = new Date();
const api = setupResource(
  () => startTestWorkerApi({ models: parseModels([provider(dated)]), now: () => time }),
  (started) => started.stop(),
);

async function sendMessage() {
  const models = (await api.deps.models.forWorkspace(api.workspaceId)).resolve('local/m');
  const answer = await callModel(api.deps, {
    models,
    spender: { workspaceId: api.workspaceId, userId: null, tokenId: null, budgets: null },
    about: { conversationId: null, turnId: null },
    system: '',
    messages: [{ role: 'user', content: 'Hello' }],
    tools: {},
    signal: new AbortController().signal,
    onText: () => {},
  });
  await transaction(api.database.pool, (tx) => answer.settle(tx));
}

test('each call is charged at the price of its day, and keeps it', async () => {
  await model.says(...Array.from({ length: 3 }, () => ({ text: 'Hello', usage: { input: 20, output: 0 } })));
  for (const day of ['2025-12-31T22:59:59Z', '2026-06-30T23:59:59Z', '2026-07-01T00:00:00Z']) {
    time = new Date(day);
    await sendMessage();
  }
  const { rows } = await api.database.pool.query('SELECT usd, price FROM model_calls ORDER BY started_at');
  expect(rows).toEqual([
    { usd: null, price: null },
    { usd: 0.00002, price: CHEAP },
    { usd: 0.0002, price: DEAR },
  ]);
});

test('the current price and the next one are shown', async () => {
  time = new Date('2026-03-01T00:00:00Z');
  // The credential must not have ended by then.
  const viewer = createCaller(api.url, (await api.createToken('workspace', api.owner.jwt, { role: 'viewer' })).token);
  const read = async () => (await viewer.get('/api/models').expect(200)).body;
  expect(await read()).toMatchObject([{ price: CHEAP, next_price: { from: '2026-07-01T00:00:00.000Z', ...DEAR } }]);
  time = new Date('2026-07-01T00:00:00Z');
  expect(await read()).toMatchObject([{ price: DEAR, next_price: null }]);
});

test.each([
  [[], /must not be empty/],
  [[{ from: 'soon', ...CHEAP }], /must be a date, such as 2026-01-01/],
  [[{ from: '2026-01-01', ...CHEAP }, DEAR], /each must have from/],
  [
    [
      { from: '2026-01-01', ...CHEAP },
      { from: '2026-01-01T00:00:00Z', ...DEAR },
    ],
    /can't have the same from/,
  ],
])('an ambiguous price list is refused: %j', (prices, words) => {
  expect(() => parseModels([provider(prices)])).toThrow(words);
});
