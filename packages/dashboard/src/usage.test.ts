import { testSite } from './test/browser';
import { checkPage } from './test/check-page';

const MONTH = '2026-01';

describe('usage', () => {
  const site = testSite();
  beforeEach(() => {
    const days = Array.from({ length: 31 }, (_, index) => {
      const runs = 40 + ((index * 7_919) % 160);
      const day = `${MONTH}-${String(index + 1).padStart(2, '0')}`;
      return { day, runs, failed: index % 9 === 4 ? 7 : 0, compute_ms: runs * 1_830, cost_usd: runs * 0.0041 };
    });
    const sum = (name: 'runs' | 'failed' | 'compute_ms' | 'cost_usd') => days.reduce((all, day) => all + day[name], 0);
    const buildDay = (runs: number, cost_usd: number, failed = 0) => ({
      runs,
      failed,
      compute_ms: runs * 1_830,
      cost_usd,
    });
    site.api.usage.months.set(MONTH, {
      month: MONTH,
      days,
      total: { runs: sum('runs'), failed: sum('failed'), compute_ms: sum('compute_ms'), cost_usd: sum('cost_usd') },
      workers: [
        { id: 'price-watch', name: 'Price watch', deleted: false, budget_usd: 8, ...buildDay(2_210, 8.31, 21) },
        {
          id: 'morning-report',
          name: 'Morning report for all regions',
          deleted: false,
          budget_usd: 5,
          ...buildDay(900, 4.2),
        },
        { id: 'clean-up', name: 'Nightly clean-up', deleted: false, budget_usd: null, ...buildDay(31, 0.0042) },
        { id: 'invoices', name: 'Invoice table', deleted: true, budget_usd: null, ...buildDay(4, 0) },
        { id: 'idle', name: 'Idle', deleted: false, budget_usd: 10, ...buildDay(0, 0) },
      ],
      others: { workers: 3, ...buildDay(12, 0.05) },
    });
  });

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser(`/settings/usage?month=${MONTH}`);
    await page.getByRole('link', { name: 'Price watch' }).waitFor();
    await page.getByRole('img', { name: /Cost by day: peak of \$0.8/ }).waitFor();
    await checkPage(page, 'usage');
    await page.getByText('Show table').click();
    await checkPage(page, 'usage-table');
    await page.goto(`${site.api.origin}/settings/usage`);
    await page.getByText('No worker runs finished').waitFor();
    await checkPage(page, 'usage-empty');
  });

  test('a budget shows how much of it is used, and which one is exhausted', async () => {
    const page = await site.visitAsUser(`/settings/usage?month=${MONTH}`);
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('Price watch').getByText('Budget of $8.00 used up').waitFor();
    await row('Morning report').getByText('84% of $5.00').waitFor();
    expect(await row('Nightly').textContent()).toContain('$0.0042Set budget for Nightly');
    expect(await row('Invoice').textContent()).toContain('Invoice table (deleted)');
    expect(await row('other workers').textContent()).toContain('3 other workers$0.05');
  });

  test('the plot shows the chosen series, and the months are addresses', async () => {
    const page = await site.visitAsUser(`/settings/usage?month=${MONTH}`);
    await page.getByLabel('Metric').selectOption('runs');
    await page.getByRole('img', { name: /Runs by day: peak of 19\d on/ }).waitFor();
    await page.getByRole('link', { name: 'Previous month' }).click();
    await page.getByRole('heading', { name: 'December 2025' }).waitFor();
    await page.getByText('No worker runs finished').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'January 2026' }).waitFor();
  });
});
