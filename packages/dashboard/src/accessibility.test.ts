import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildRun } from './test/fake-api';
import { addSalesAutomation } from './test/sample';

describe('every screen is accessible', () => {
  const site = testSite();

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const { api } = site;
    api.pages.clear();
    api.runs.length = 0;
    const visitor = await site.visit();
    await visitor.goto(`${api.origin}/sign-in`);
    await visitor.getByLabel('Email').fill('nobody@example.com');
    await visitor.getByLabel('Password', { exact: true }).fill('wrong');
    await visitor.getByRole('button', { name: 'Sign in' }).click();
    await visitor.getByRole('alert').waitFor();
    await checkPage(visitor, 'sign-in');

    const page = await site.visitAsUser('/automations');
    await page.getByText('Deploy your first automation').waitFor();
    await checkPage(page, 'empty list');

    addSalesAutomation(api);
    await page.reload();
    await page.getByText('Weekly sales report').waitFor();
    await checkPage(page, 'list');
    await page.getByRole('link', { name: 'Weekly sales report' }).click();
    await page.getByRole('heading', { name: 'Past runs' }).waitFor();
    await page.getByRole('button', { name: 'Roll back to version 1' }).waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('This field is required.').waitFor();
    await checkPage(page, 'form with a problem');

    await page.getByRole('region', { name: 'Past runs' }).getByRole('link').first().click();
    await page.getByRole('img', { name: /Total sales over/ }).waitFor();
    await checkPage(page, 'finished run');

    const failed = api.runs.find(({ status }) => status === 'error')?.runId;
    await page.goto(`${api.origin}/a/aut_sales?run=${failed}`);
    await page.getByText('Stack trace').click();
    await checkPage(page, 'failed run');

    const live = buildRun({ automationId: 'aut_sales' });
    api.runs.unshift(live);
    for (const level of ['debug', 'info', 'warning', 'error']) {
      api.emit(live, 'log', {
        stream: 'stdout',
        level,
        text: `a line of level ${level}`,
        at: new Date().toISOString(),
      });
    }
    api.emit(live, 'progress', { fraction: 0.4, message: 'adding up' });
    await page.goto(`${api.origin}/a/aut_sales?run=${live.runId}`);
    await page.getByText('40% · adding up').waitFor();
    await checkPage(page, 'live run');

    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page.getByRole('dialog').waitFor();
    await checkPage(page, 'rollback');

    await page.goto(`${api.origin}/a/aut_unknown`);
    await page.getByRole('heading', { name: 'Automation not found' }).waitFor();
    await checkPage(page, 'not found');
  });

  test('the first Tab offers to skip to the content, and the colours follow the system until they are chosen', async () => {
    const page = await site.visitAsUser('/', { colorScheme: 'dark' });
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');

    const scheme = () => page.evaluate(() => document.documentElement.dataset.mantineColorScheme);
    expect(await scheme()).toBe('dark');
    await page.getByRole('button', { name: 'Switch to light mode' }).click();
    expect(await scheme()).toBe('light');
    await page.reload();
    await page.getByRole('button', { name: 'Switch to dark mode' }).waitFor();
    expect(await scheme()).toBe('light');
  });
});
