import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildModel, buildModelUsage } from './test/fake-chat';

const price = { input_usd_per_mtok: 3, output_usd_per_mtok: 15, cache_read_usd_per_mtok: 0.3 };
const buildUsage = (model: string, usd: number, calls: number, more = {}) => ({
  model,
  usd,
  calls,
  failed_calls: 0,
  input_tokens: calls * 1_904,
  cached_tokens: 0,
  output_tokens: calls * 88,
  ...more,
});

describe('models and their budget', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.chat.models = [
      buildModel('claude-large-with-a-long-name', {
        id: 'anthropic/claude-large-with-a-long-name',
        provider: 'anthropic',
        aliases: ['smart', 'chat'],
        is_default: true,
        price,
        next_price: { from: '2026-07-01T00:00:00.000Z', input_usd_per_mtok: 2, output_usd_per_mtok: 10 },
      }),
      buildModel('qwen3', { aliases: ['fast'] }),
      buildModel('large', { id: 'acme/large', provider: 'acme', provided_by: 'workspace', price }),
    ];
    site.api.chat.modelUsage = buildModelUsage({
      usd: 12.41,
      budget_usd: 20,
      reserved_usd: 1.2,
      calls: 512,
      unpriced_calls: 31,
      models: [
        buildUsage('anthropic/claude-large-with-a-long-name', 12.41, 481, { failed_calls: 3, cached_tokens: 640_000 }),
        buildUsage('local/qwen3', 0, 31),
      ],
    });
  });

  const PATH = '/settings/models';

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser(PATH);
    await page.getByRole('img', { name: '62% of the budget spent, 6% reserved' }).waitFor();
    await page.getByRole('region', { name: 'By model' }).getByText('3 failed').waitFor();
    await page.getByText('$2.00 from 1 Jul 2026').waitFor();
    await page.getByText('Workspace key', { exact: true }).waitFor();
    await checkPage(page, 'models');
    site.api.chat.models = [];
    site.api.chat.modelUsage = buildModelUsage();
    await page.reload();
    await page.getByText('MODEL_PROVIDERS_FILE').waitFor();
    await page.getByText('spent, no budget set').waitFor();
    await checkPage(page, 'models-none');
  });

  test('an admin sets the budget, removes it, and undoes the removal', async () => {
    const page = await site.visitAsUser(PATH);
    const field = page.getByRole('spinbutton', { name: 'Monthly budget' });
    await field.fill('35.5');
    await field.press('Enter');
    await page.getByText('Budget set to $35.50 a month').waitFor();
    const [workspace] = site.api.accounts.me.workspaces;
    expect(workspace?.models).toEqual({ monthly_budget_usd: 35.5 });
    await field.fill('');
    await page.getByRole('button', { name: 'Save budget' }).click();
    await page.getByText('Budget removed').waitFor();
    expect(workspace?.models).toEqual({ monthly_budget_usd: null });
  });

  test('a model without a price is named where a budget holds', async () => {
    const page = await site.visitAsUser(PATH);
    await page.getByText('Some models can’t be used while a budget is set').waitFor();
    await page.getByText('No price is set for local/qwen3.').waitFor();
    await page.getByText('This total excludes 31 calls to models without a price.').waitFor();
  });

  test('a member who is not an admin reads the budget', async () => {
    const [workspace] = site.api.accounts.me.workspaces;
    if (!workspace) throw new Error('no sample');
    Object.assign(workspace, { role: 'member', permissions: { ...workspace.permissions, update: false } });
    const page = await site.visitAsUser(PATH);
    await page.getByText('Only admins and owners can change the budget.').waitFor();
    expect(await page.getByRole('spinbutton').count()).toBe(0);
  });
});
