import { waitUntil } from '@gantry/testing';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildApproval, createApprovalState } from './test/fake-approvals';
import { createChatState } from './test/fake-chat';
import { buildOverview } from './test/fake-overview';
import { buildEmptyUsage, createUsageState } from './test/fake-usage';

const HOUR_MS = 3_600_000;
const at = (fromNowMs: number): string => new Date(Date.now() + fromNowMs).toISOString();

describe('overview', () => {
  const site = testSite();

  function fill() {
    const { runs, executors } = buildOverview();
    const failed = [0, 1, 0, 0, 3, 0, 0, 0, 1, 0, 0, 5, 0, 2];
    site.api.overview = buildOverview({
      workers: {
        total: 9,
        active: 8,
        paused: 1,
        archived: 0,
        capped: false,
        failing: [
          {
            id: 'invoice-import',
            name: 'Invoice import',
            last_run_id: 'run_1',
            failed_at: at(-0.2 * HOUR_MS),
            last_error: "KeyError: 'amount' in row 14 of invoices.csv",
          },
          {
            id: 'price-watch',
            name: 'Price watch',
            last_run_id: 'run_2',
            failed_at: at(-5 * HOUR_MS),
            last_error:
              'the shop answered 503 three times, the last time after 30 seconds; it may be down for longer than this run may take, so nothing was written',
          },
        ],
      },
      runs: {
        ...runs,
        running: 3,
        queued: 2,
        last_24h: { total: 148, completed: 144, failed: 2, timed_out: 0, cancelled: 2, rejected: 0, capped: false },
        by_day: runs.by_day.map((day, index) => ({
          ...day,
          runs: 90 + ((index * 37) % 60),
          failed: failed[index] ?? 0,
        })),
      },
      upcoming: [
        { id: 'morning-report', name: 'Morning report', at: at(0.4 * HOUR_MS) },
        { id: 'invoice-import', name: 'Invoice import', at: at(2.2 * HOUR_MS) },
        { id: 'weekly-digest', name: 'Weekly digest', at: at(50 * HOUR_MS) },
      ],
      approvals_pending: 6,
      automations: { total: 2, active: 2, failing: 1, queued: 0, running: 1, capped: false },
      queue_depth: 2,
      executors: executors.map((executor) => ({ ...executor, busy: 3 })),
    });
    for (const title of ['Pay 1,240 € to Hopper Ltd?', 'Send the newsletter to 4,120 people?']) {
      site.api.approvals.list.push(buildApproval(`apr_${title}`, { title }));
    }
    const used = { runs: 1_904, failed: 12, compute_ms: 7_200_000, cost_usd: 12.4 };
    const worker = { deleted: false, runs: 400, failed: 2, compute_ms: 90_000 };
    const month = new Date().toISOString().slice(0, 7);
    site.api.usage.months.set(month, {
      ...buildEmptyUsage(month),
      total: used,
      workers: [
        { ...worker, id: 'invoice-import', name: 'Invoice import', budget_usd: 8, cost_usd: 6.9 },
        { ...worker, id: 'price-watch', name: 'Price watch', budget_usd: null, cost_usd: 3.1 },
        { ...worker, id: 'morning-report', name: 'Morning report', budget_usd: 20, cost_usd: 2.4 },
      ],
    });
  }

  test('axe finds nothing and nothing is wider than the screen', async () => {
    fill();
    const page = await site.visitAsUser('/');
    await page.getByRole('img', { name: /^Runs, / }).waitFor();
    await page.getByRole('link', { name: 'Pay 1,240 € to Hopper Ltd?' }).waitFor();
    await page.getByText(/^\$6\.9.* of \$8/).waitFor();
    await checkPage(page, 'overview');

    site.api.overview = buildOverview({ workers: { ...buildOverview().workers, total: 1, active: 1 }, executors: [] });
    site.api.approvals = createApprovalState();
    site.api.usage = createUsageState();
    await page.reload();
    await page.getByText('No executor is ready').first().waitFor();
    await page.getByText('No pending approvals. Requests from runs').waitFor();
    await checkPage(page, 'overview-quiet');

    site.api.overview = buildOverview();
    await page.reload();
    await page.getByRole('link', { name: 'Choose a template' }).waitFor();
    await page.getByText('/api/workers/word-count/runs').waitFor();
    await checkPage(page, 'overview-empty');
  });

  test('items that need attention link to their pages', async () => {
    fill();
    const page = await site.visitAsUser('/');
    expect(await page.getByRole('link', { name: /KeyError/ }).getAttribute('href')).toBe('/runs/run_1');
    expect(await page.getByRole('link', { name: '4 more' }).getAttribute('href')).toBe('/approvals');
    expect(await page.getByRole('link', { name: 'Invoice import' }).first().getAttribute('href')).toBe(
      '/workers/invoice-import',
    );
    await page.getByText('2 queued').waitFor();
    await page.getByText('2 failed').waitFor();
  });

  test('an empty workspace shows the commands to begin with, and the first worker without a reload', async () => {
    const page = await site.visitAsUser('/');
    const lines = page.locator('pre').filter({ hasText: 'export GANTRY_TOKEN' });
    await lines.getByText('/api/workers').waitFor();
    expect(await lines.textContent()).toMatch(/x-svc-workspace: ws_/);
    await waitUntil(() => site.api.changes.watchers.size > 0);
    site.api.overview = buildOverview({ workers: { ...buildOverview().workers, total: 1, active: 1 } });
    site.api.changes.emit('change', { noun: 'workers' });
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
  });

  test('a sentence in an empty workspace is the first message of a conversation', async () => {
    site.api.chat = createChatState();
    const page = await site.visitAsUser('/');
    await page.getByText(/claude mcp add --transport http gantry http.*\/mcp/).waitFor();
    await page.getByRole('textbox', { name: 'Describe the task' }).fill('Watch our status page.');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/chat\/cnv_/);
    await page.getByText('Watch our status page.').first().waitFor();
    expect(site.api.chat.sent.map(({ body }) => body)).toMatchObject([{ message: 'Watch our status page.' }]);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(site.api.chat.sent).toHaveLength(1);
  });
});
