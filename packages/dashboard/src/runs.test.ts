import { readFile } from 'node:fs/promises';
import { waitUntil } from '@gantry/testing';
import type { Locator, Page } from 'playwright-core';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { buildRun } from './test/fake-api';
import { buildWorkerRun } from './test/fake-worker-runs';
import { buildWorker, createWorkerState } from './test/fake-workers';
import { addSalesAutomation } from './test/sample';

/** More than are ever in view, with those above and below. */
const ROWS_MAX = 60;
const MINUTE_MS = 60_000;

describe('runs', () => {
  const site = testSite();
  const now = Date.now();
  beforeEach(() => {
    addSalesAutomation(site.api);
    site.api.runs.length = 0;
  });

  type WorkerFields = Parameters<typeof buildWorkerRun>[0];
  /** @param minutes how long ago it was made */
  function addWorkerRun(minutes: number, fields: WorkerFields = {}) {
    const created_at = new Date(now - minutes * MINUTE_MS).toISOString();
    const fake = buildWorkerRun({
      status: 'completed',
      created_at,
      started_at: created_at,
      duration_ms: 1_200,
      ...fields,
    });
    site.api.workerRuns.push(fake);
    return fake.run;
  }
  function addAutomationRun(minutes: number, fields: Parameters<typeof buildRun>[0] = {}) {
    const createdAt = now - minutes * MINUTE_MS;
    const ended = { startedAt: createdAt, completedAt: createdAt + 900, durationMs: 900 };
    const run = buildRun({
      automationId: 'aut_sales',
      status: 'success',
      trigger: 'page',
      createdAt,
      ...ended,
      ...fields,
    });
    site.api.runs.push(run);
    return run;
  }
  const getRows = (page: Page): Locator => page.getByRole('list', { name: 'Runs' }).getByRole('listitem');
  const listNames = async (page: Page): Promise<string[]> => getRows(page).getByRole('link').allTextContents();

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const failure = { error: "No module named 'requests': declare the package", error_code: 'exception' as const };
    addWorkerRun(1, { status: 'running', duration_ms: null, completed_at: null });
    addWorkerRun(3, { status: 'failed', ...failure });
    addAutomationRun(5);
    addWorkerRun(9, { status: 'pending_approval', trigger: 'webhook', duration_ms: null });
    addAutomationRun(70, { status: 'error', error: { code: 'cancelled', message: 'stopped' }, trigger: 'schedule' });
    for (let n = 2; n < 30; n++) addWorkerRun(n * 60, { trigger: n % 3 ? 'schedule' : 'api' });
    const page = await site.visitAsUser('/runs');
    await getRows(page).nth(4).waitFor();
    await getRows(page).nth(1).getByRole('checkbox').check();
    await page.getByText('1 run selected').waitFor();
    await checkPage(page, 'runs');
    await page.goto(`${site.api.origin}/runs?status=rejected`);
    await page.getByRole('heading', { name: 'No matching runs' }).waitFor();
    await checkPage(page, 'runs-none');
  });

  test('runs of both surfaces are one list by time, thousands of them, of which only those in view are rows', async () => {
    for (let n = 0; n < 1_500; n++) addWorkerRun(n * 2);
    for (let n = 0; n < 300; n++) addAutomationRun(n * 10 + 1);
    const page = await site.visitAsUser('/runs');
    await getRows(page).first().waitFor();
    expect((await listNames(page)).slice(0, 4)).toEqual([
      'Price watch',
      'Weekly sales report',
      'Price watch',
      'Price watch',
    ]);
    expect(await getRows(page).count()).toBeLessThan(ROWS_MAX);
    const list = page.getByRole('region', { name: 'List of runs' });
    await page.waitForFunction(
      (box) => {
        box?.scrollTo(0, box.scrollHeight);
        return box && box.scrollHeight > 1_790 * 44;
      },
      await list.elementHandle(),
      { polling: 50 },
    );
    expect(await getRows(page).count()).toBeLessThan(ROWS_MAX);
    await page.waitForFunction((box) => !box?.textContent?.includes('Loading older'), await list.elementHandle());
    await getRows(page).last().waitFor();
    expect(await getRows(page).last().getAttribute('aria-posinset')).toBe('1800');
  });

  test('names are shown after a page that has loaded the automations too', async () => {
    site.api.workers = createWorkerState();
    site.api.workers.list.push(buildWorker('price-watch', { name: 'Price watch' }));
    addAutomationRun(1);
    const page = await site.visitAsUser('/workers/price-watch/triggers');
    await page.getByRole('button', { name: 'Add event' }).click();
    await page.getByLabel('Source').selectOption('Weekly sales report');
    await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
    await getRows(page).first().waitFor();
    expect(await listNames(page)).toEqual(['Weekly sales report']);
  });

  test('filters are in the address, narrow both surfaces, and can be cleared', async () => {
    addWorkerRun(1, { status: 'failed' });
    addWorkerRun(2);
    addAutomationRun(3, { status: 'error', error: { code: 'exception', message: 'No orders.' } });
    addAutomationRun(4, { status: 'error', error: { code: 'cancelled', message: 'stopped' } });
    const page = await site.visitAsUser('/runs');
    const filters = page.getByRole('search', { name: 'Filter runs' });
    await getRows(page).nth(3).waitFor();
    await filters.getByLabel('Status').selectOption('Failed');
    await page.waitForURL('**/runs?status=failed');
    await getRows(page).nth(2).waitFor({ state: 'detached' });
    await getRows(page).nth(1).waitFor();
    expect(await listNames(page)).toEqual(['Price watch', 'Weekly sales report']);
    await filters.getByLabel('Worker or automation').selectOption('Weekly sales report');
    await page.waitForURL('**/runs?automation=aut_sales&status=failed');
    await page.waitForFunction(() => document.querySelectorAll('main ol li').length === 1);
    await filters.getByRole('button', { name: 'Clear filters' }).click();
    await getRows(page).nth(3).waitFor();
    expect(new URL(page.url()).search).toBe('');
    await filters.getByLabel('Name or run ID').fill('price');
    await page.waitForURL('**/runs?q=price');
    await getRows(page).nth(2).waitFor({ state: 'detached' });
    await getRows(page).nth(1).waitFor();
    expect(await listNames(page)).toEqual(['Price watch', 'Price watch']);
    await page.goto(`${site.api.origin}/runs?within=hour&trigger=schedule&tag=finance`);
    await getRows(page).first().waitFor();
    expect(await filters.getByLabel('Time').inputValue()).toBe('hour');
    expect(await filters.getByLabel('Tag').inputValue()).toBe('finance');
    await filters.getByLabel('Name or run ID').fill('run_w1');
    await page.getByRole('link', { name: 'Open run run_w1' }).waitFor();
  });

  test('new runs appear at the top without moving the rows in view', async () => {
    for (let n = 0; n < 120; n++) addWorkerRun(n + 10, { worker_id: `worker-${n}` });
    const page = await site.visitAsUser('/runs');
    const list = page.getByRole('region', { name: 'List of runs' });
    await getRows(page).first().waitFor();
    await list.evaluate((box) => box.scrollTo(0, 20 * 44));
    await getRows(page).filter({ hasText: 'worker-25' }).waitFor();
    const getPosition = async () => (await getRows(page).filter({ hasText: 'worker-25' }).boundingBox())?.y;
    const place = await getPosition();
    await waitUntil(() => site.api.changes.watchers.size > 0);
    addWorkerRun(0, { worker_id: 'the-newest' });
    site.api.changes.emit('change', { noun: 'runs' });
    await page.waitForFunction((box) => (box?.scrollTop ?? 0) > 20 * 44, await list.elementHandle());
    expect(await getPosition()).toBe(place);
    await list.evaluate((box) => box.scrollTo(0, 0));
    await getRows(page).filter({ hasText: 'the-newest' }).waitFor();
  });

  test('by keyboard: runs are selected, cancelled after a question, and run again', async () => {
    const running = addWorkerRun(1, { status: 'running', completed_at: null });
    const failed = addWorkerRun(2, { status: 'failed' });
    const automation = addAutomationRun(3, { inputs: { title: 'Week 47' } });
    const page = await site.visitAsUser('/runs');
    await getRows(page).nth(2).waitFor();
    await page.getByLabel('Select all visible runs').focus();
    await page.keyboard.press('Space');
    await page.getByText('3 runs selected').waitFor();
    const bar = page.getByRole('toolbar', { name: 'Selected runs' });
    await bar.getByRole('button', { name: 'Cancel 1 run' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('1 run cancelled').waitFor();
    await getRows(page).getByText('Cancelled').waitFor();
    for (const place of [1, 2]) await getRows(page).nth(place).getByRole('checkbox').check();
    await bar.getByRole('button', { name: 'Run 2 again' }).click();
    await page.getByText('2 runs restarted').waitFor();
    expect(site.api.bulk).toEqual([
      { line: 'POST /api/runs/bulk/cancel', ids: [running.id] },
      { line: 'POST /api/runs/bulk/replay', ids: [failed.id] },
    ]);
    expect(site.api.requests.map(({ line }) => line)).toContain(`POST /api/automations/${automation.automationId}/run`);
  });

  test('a viewer cannot select runs', async () => {
    const [ops] = site.api.accounts.me.workspaces;
    if (!ops) throw new Error('no sample');
    ops.role = 'viewer';
    addWorkerRun(1);
    const page = await site.visitAsUser('/runs');
    await getRows(page).first().waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    ops.role = 'owner';
  });

  test('a filter is saved under a name, chosen again, and deleted with undo', async () => {
    addWorkerRun(1);
    const page = await site.visitAsUser('/runs?status=completed&worker=price-watch');
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await page.getByLabel('Filter name').fill('Good ones');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await page.getByRole('button', { name: 'Good ones', exact: true }).click();
    await page.waitForURL('**/runs?worker=price-watch&status=completed');
    await clickButtons(page, 'Saved filters', 'Delete Good ones', 'Undo', 'Saved filters');
    await page.getByRole('button', { name: 'Good ones', exact: true }).waitFor();
  });

  test('both surfaces are exported with the filter applied', async () => {
    addAutomationRun(3, { status: 'error', error: { code: 'exception', message: '=1+1' } });
    const page = await site.visitAsUser('/runs?status=failed');
    await getRows(page).first().waitFor();
    const files: Record<string, string> = {};
    page.on('download', async (download) => {
      files[download.suggestedFilename()] = await readFile(await download.path(), 'utf8');
    });
    await page.getByRole('button', { name: 'Export CSV' }).click();
    await waitUntil(() => Object.keys(files).length === 2);
    expect(files['worker-runs.csv']).toContain('status=failed');
    expect(files['automation-runs.csv']).toMatch(/aut_sales,1,Failed,Page,.*,900,"'=1\+1"/);
  });
});
