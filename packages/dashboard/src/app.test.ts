import type { Page } from 'playwright-core';
import { signOut, testSite } from './test/browser';
import { buildRun, type FakeRun } from './test/fake-api';
import { PERSON } from './test/person';
import { addSalesAutomation, buildOutputs, RUN_FILES } from './test/sample';

describe('the page of an automation', () => {
  const site = testSite();
  beforeEach(() => addSalesAutomation(site.api));

  /** The page has to have asked for it first. */
  async function findStartedRun(page: Page): Promise<FakeRun> {
    await page.waitForURL(/\?run=/);
    const id = new URL(page.url()).searchParams.get('run');
    const run = site.api.runs.find(({ runId }) => runId === id);
    if (!run) throw new Error(`the fake has no run ${id}`);
    return run;
  }

  const getFocusedId = (page: Page) => page.evaluate(() => document.activeElement?.id ?? '');

  test('a signed-out visitor is asked to sign in, sees why it failed, and returns to the requested page', async () => {
    const page = await site.visit();
    await page.goto(`${site.api.origin}/a/aut_sales?run=run_1`);
    await page.getByLabel('Email').fill(PERSON.email);
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Incorrect email or password').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Weekly sales report' }).waitFor();
    expect(page.url()).toBe(`${site.api.origin}/a/aut_sales?run=run_1`);

    // The token is in memory only; the cookie brings the session back, and signing out ends it.
    await page.reload();
    await page.getByRole('heading', { name: 'Weekly sales report' }).waitFor();
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain('jwt');
    await signOut(page);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('many tabs that wake up at once share one session, and signing out in one signs out all', async () => {
    const first = await site.visitAsUser('/');
    const others = await Promise.all([1, 2, 3].map(() => first.context().newPage()));
    site.api.refreshMs = 400;
    await Promise.all([first.reload(), ...others.map((tab) => tab.goto(`${site.api.origin}/a/aut_sales`))]);
    for (const tab of others) await tab.getByRole('heading', { name: 'Weekly sales report' }).waitFor();
    await first.getByRole('heading', { name: 'Overview' }).waitFor();
    site.api.refreshMs = 0;
    await signOut(first);
    for (const tab of others) await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a link to the sign-in page can’t send people to another site', async () => {
    const page = await site.visit();
    await page.goto(`${site.api.origin}/sign-in?next=${encodeURIComponent('//evil.example/')}`);
    await page.getByLabel('Email').fill(PERSON.email);
    await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(new URL(page.url()).origin).toBe(site.api.origin);
  });

  test('the list finds an automation by its description and opens it', async () => {
    const page = await site.visitAsUser('/automations');
    await page.getByRole('searchbox', { name: 'Search automations' }).fill('nothing like this');
    await page.getByText('No automations match').waitFor();
    await page.getByRole('searchbox').fill('BY REGION');
    const row = page.getByRole('listitem').filter({ hasText: 'Weekly sales report' });
    await row.getByText('Succeeded').waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Weekly sales report' }).waitFor();
  });

  test('by keyboard alone: fill in, be corrected at the field, run, watch the log line by line, read the result', async () => {
    const page = await site.visitAsUser('/a/aut_sales');
    await page.getByLabel('Report title').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByText('This field is required.').waitFor();
    expect(await getFocusedId(page)).toBe('input-title');
    await page.keyboard.type('Week 47');
    await page.keyboard.press('Tab');
    while ((await getFocusedId(page)) !== 'input-limit') await page.keyboard.press('Tab');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('900');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Enter 500 or less.').waitFor();
    expect(await getFocusedId(page)).toBe('input-limit');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('20');

    site.api.refuseNext = {
      status: 400,
      body: {
        error: 'inputs.title: taken',
        code: 'invalid',
        details: [{ path: 'inputs.title', message: 'There is a report of this title already.' }],
      },
    };
    await page.keyboard.press('Control+Enter');
    await page.getByText('There is a report of this title already.').waitFor();
    expect(await getFocusedId(page)).toBe('input-title');
    await page.keyboard.type(' again');
    await page.keyboard.press('Control+Enter');

    const run = await findStartedRun(page);
    expect(run.inputs).toEqual({
      region: 'eu',
      title: 'Week 47 again',
      week_of: '2026-11-16',
      limit: 20,
      source: 'https://shop.example.com/orders',
      draft: false,
    });
    const log = page.getByRole('log');
    await page.getByText('Lines appear here').waitFor();
    for (const [index, text] of ['reading orders', 'adding up', 'drawing'].entries()) {
      site.api.emit(run, 'log', { stream: 'stdout', level: 'info', text });
      await log.getByText(text).waitFor();
      site.api.emit(run, 'progress', { fraction: (index + 1) / 4, message: text });
      await page.getByText(`${(index + 1) * 25}% · ${text}`).waitFor();
    }

    // A restarting server loses no reader: the page reconnects with the number of the last event that it has seen.
    const seen = run.events.at(-1)?.id;
    site.api.dropStreams();
    site.api.emit(run, 'log', { stream: 'stderr', level: 'warning', text: 'while nobody listened' });
    await log.getByText('while nobody listened').waitFor();
    expect(await log.getByText('reading orders').count()).toBe(1);
    expect(site.api.requests.filter(({ line }) => line.endsWith('/events')).at(-1)?.lastEventId).toBe(String(seen));

    site.api.finish(run, {
      status: 'success',
      result: { status: 'success', outputs: { note: 'All done.' }, logs: '' },
    });
    await page.getByText('All done.').waitFor();
    await page.getByRole('status').getByText('Run status: Succeeded.').waitFor({ state: 'attached' });
    await page.getByRole('region', { name: 'Past runs' }).getByText('just now').waitFor();
  });

  test('every type of output is rendered as its type', async () => {
    const run = buildRun({
      automationId: 'aut_sales',
      status: 'success',
      completedAt: Date.now(),
      durationMs: 1_200,
      artifacts: RUN_FILES,
      result: { status: 'success', outputs: { ...buildOutputs(1), extra: [{ a: 1 }] }, logs: 'one\ntwo\n' },
    });
    site.api.runs.unshift(run);
    const page = await site.visitAsUser(`/a/aut_sales?run=${run.runId}`);
    const output = (label: string) => page.getByRole('region', { name: label, exact: true });

    await output('Total sales').getByText('47,101.5').waitFor();
    await output('Total sales')
      .getByRole('img', { name: /Total sales over \d+ runs/ })
      .waitFor();
    await output('Summary').getByRole('heading', { name: 'A good week' }).waitFor();
    await output('Note').getByText('Sent to nobody').waitFor();
    await output('Details').getByText('"2026-11-16"').waitFor();
    await output('extra').getByRole('columnheader', { name: 'a' }).waitFor();
    await page.getByRole('log').getByText('two').waitFor();

    await page.waitForFunction(
      () => document.querySelector<HTMLImageElement>('[data-output=chart] img')?.naturalWidth === 400,
    );
    const [report] = await Promise.all([page.waitForEvent('download'), output('Report').getByRole('link').click()]);
    expect(report.suggestedFilename()).toBe('report.pdf');
    await output('Files').getByText('orders-cleaned.parquet').waitFor();

    const table = output('By region').getByRole('table');
    const firstRegion = () => table.locator('tbody tr').first().locator('td').first().textContent();
    expect(await firstRegion()).toBe('Northern Europe');
    await table.getByRole('button', { name: 'orders' }).click();
    expect(await firstRegion()).toBe('Baltics');
    expect(await table.getByRole('columnheader', { name: 'orders' }).getAttribute('aria-sort')).toBe('ascending');
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      output('Orders').getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(csv.suggestedFilename()).toBe('raw.csv');
  });

  test('an automation of another workspace of the member is found there, and opened by switching to it', async () => {
    site.api.homes.set('aut_sales', 'ws_lab');
    const page = await site.visitAsUser('/a/aut_sales');
    await page.getByRole('heading', { name: 'This automation belongs to The laboratory' }).waitFor();
    await page.getByRole('button', { name: 'Switch to The laboratory' }).click();
    await page.getByRole('heading', { level: 1, name: 'Weekly sales report' }).waitFor();
    site.api.homes.clear();
  });

  test('the log of a past run has its original times, levels and fields', async () => {
    const run = buildRun({ runId: 'run_past', startedAt: Date.now() - 5_000 });
    site.api.runs.unshift(run);
    const at = run.startedAt as number;
    site.api.emit(run, 'log', {
      level: 'warning',
      text: 'two rows left out',
      fields: { rows: [3, 9] },
      at: at + 1_500,
    });
    site.api.finish(run, {
      status: 'success',
      result: { status: 'success', outputs: {}, logs: 'two rows left out\n' },
    });
    const page = await site.visitAsUser('/a/aut_sales?run=run_past');
    const log = page.getByRole('log');
    await log.getByText('warning').waitFor();
    expect(await log.textContent()).toMatch(/1\.50\s*warning two rows left out rows=\[3,9\]/);
  });

  test('a failed run shows the reason and the remedy, with the location in the code collapsed', async () => {
    const failed = site.api.runs.find(({ status }) => status === 'error');
    const page = await site.visitAsUser(`/a/aut_sales?run=${failed?.runId}`);
    await page.getByRole('paragraph').filter({ hasText: 'no orders for region "eu"' }).waitFor();
    await page.getByText('Check the inputs').waitFor();
    const trace = page.getByText('File "totals.py", line 12');
    expect(await trace.isVisible()).toBe(false);
    await page.getByText('Stack trace').click();
    await trace.waitFor();
    await page.getByRole('button', { name: 'Use these inputs' }).click();
    expect(await page.getByLabel('Report title').inputValue()).toMatch(/^Week \d+$/);
  });

  test('on a phone: a file is sent before its run starts, the result scrolls into view, and the run can be stopped', async () => {
    const page = await site.visitAsUser('/a/aut_sales', { viewport: { width: 390, height: 844 } });
    await page.getByLabel('Report title').fill('With a file');
    await page.getByLabel('Orders').setInputFiles({ name: 'o.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b') });
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const run = await findStartedRun(page);
    expect(run.inputs.orders).toEqual({ name: 'o.csv', storageKey: 'ws_1/uploads/0' });
    expect(site.api.uploads.at(-1)?.toString()).toBe('a,b');
    await page.waitForFunction(() => {
      const stop = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Stop');
      return stop && stop.getBoundingClientRect().bottom < window.innerHeight;
    });
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('The run was stopped').waitFor();
  });

  test('rolling back asks first, and can be left with Escape', async () => {
    const page = await site.visitAsUser('/a/aut_sales');
    const open = page.getByRole('button', { name: 'Roll back to version 2' });
    await open.click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await open.evaluate((button) => button === document.activeElement)).toBe(true);
    await open.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('Version 2', { exact: true }).first().waitFor();
    expect(site.api.pages.get('aut_sales')?.currentVersion).toBe(2);
  });

  test('a visitor with the link of a public automation runs it without signing in, and sees only their own runs', async () => {
    const sales = site.api.pages.get('aut_sales');
    if (!sales) throw new Error('no sample');
    site.api.pages.set('aut_public', { ...sales, id: 'aut_public', name: 'Greeter', visibility: 'public', inputs: [] });
    const page = await site.visit();
    await page.goto(`${site.api.origin}/a/aut_public`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const run = await findStartedRun(page);
    expect(run.trigger).toBe('link');
    site.api.emit(run, 'log', { stream: 'stdout', level: 'info', text: 'for anybody' });
    await page.getByRole('log').getByText('for anybody').waitFor();
    site.api.finish(run, { status: 'success', result: { status: 'success', outputs: { note: 'Hello.' }, logs: '' } });
    await page.getByText('Hello.').waitFor();
    expect(await page.getByRole('heading', { name: 'Past runs' }).count()).toBe(0);
    expect(await page.getByRole('heading', { name: 'Versions' }).count()).toBe(0);
  });
});
