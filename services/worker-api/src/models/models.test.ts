import { createCaller } from '../test/caller';
import { parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi({
  models: parseModels(
    [
      {
        name: 'local',
        kind: 'openai-compatible',
        base_url: 'http://127.0.0.1:9/v1',
        api_key: 'sk-of-the-operator',
        models: ['m', 'free'],
        prices: { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } },
      },
      { name: 'openai', kind: 'openai', api_key: 'sk-of-the-operator', models: ['gpt-4o-2024-08-06'] },
    ],
    { smart: ['openai/gpt-4o-2024-08-06', 'local/m'], fast: 'local/m' },
  ),
});

test('every member of a workspace reads its models and prices, and no member reads a key or an address', async () => {
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  const { body, text } = await viewer.get('/api/models').expect(200);
  expect(body).toMatchObject([
    { id: 'local/m', aliases: ['fast'], is_default: false, price: { input_usd_per_mtok: 1 } },
    { id: 'local/free', price: null },
    { id: 'openai/gpt-4o-2024-08-06', aliases: ['smart'], is_default: true, price: null },
  ]);
  expect(text).not.toMatch(/sk-of|127\.0\.0\.1/);
});

test('an admin sets the budget of models for a month, and a member does not', async () => {
  const path = `/api/workspaces/${api.workspaceId}`;
  const owner = createCaller(api.url, api.owner.jwt);
  const models = { monthly_budget_usd: 12.5 };
  expect((await owner.patch(path, { models }).expect(200)).body.models).toEqual(models);
  expect((await owner.get('/api/models/usage').expect(200)).body).toMatchObject({ budget_usd: 12.5, usd: 0, calls: 0 });
  const [entry] = (await owner.get('/api/audit-log?action=workspace.model_budget_changed').expect(200)).body;
  expect(entry.details).toEqual({ from: null, to: 12.5 });
  await createCaller(api.url, (await api.addMember('member')).jwt)
    .patch(path, { models })
    .expect(403);
  expect((await owner.patch(path, { models: { monthly_budget_usd: null } }).expect(200)).body.models).toEqual({
    monthly_budget_usd: null,
  });
});
