import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { submitFields } from './test/fill-fields';
import { addSalesAutomation } from './test/sample';

describe('settings of an automation', () => {
  const site = testSite();
  beforeEach(() => {
    const { api } = site;
    addSalesAutomation(api);
    api.schedules.set('aut_sales', {
      schedule: '0 7 * * MON',
      enabled: true,
      timezone: 'Europe/Berlin',
      misfire: 'fire_once',
      inputs: { title: 'Week 47' },
      nextRunAt: Date.now() + 3 * 86_400_000,
      lastScheduledAt: Date.now() - 4 * 86_400_000,
      missedFires: 0,
    });
  });
  const settings = '/a/aut_sales/settings';

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/automations');
    await page.getByText('Mondays at 7:00').waitFor();
    await checkPage(page, 'automations');
    await page.goto(site.api.origin + settings);
    await page.getByText('Mondays at 7:00, Berlin').waitFor();
    await checkPage(page, 'automation-settings');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByLabel('Report title').waitFor();
    await page.getByRole('region', { name: 'Next runs' }).getByRole('listitem').first().waitFor();
    await checkPage(page, 'automation-schedule');
  });

  test('a guessed address leads to the page, and its tab to the settings', async () => {
    const page = await site.visitAsUser('/automations/aut_sales');
    await page.getByRole('link', { name: 'Settings' }).last().waitFor();
    expect(new URL(page.url()).pathname).toBe('/a/aut_sales');
    await page.getByRole('navigation', { name: 'Automation' }).getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('region', { name: 'Public link' }).waitFor();
  });

  test('it is renamed, paused and resumed, with a confirmation each time', async () => {
    const page = await site.visitAsUser(settings);
    await page.getByRole('textbox', { name: 'Name' }).fill('Sales');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Sales', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Sales paused').waitFor();
    await page.getByText('None while the automation is paused').waitFor();
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByText('Sales resumed').waitFor();
    expect(site.api.pages.get('aut_sales')).toMatchObject({ name: 'Sales', status: 'active' });
  });

  test('a schedule is changed with the inputs of its runs, turned off and removed', async () => {
    const page = await site.visitAsUser(settings);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByLabel('Frequency').selectOption('weekdays');
    await page.getByLabel('Time', { exact: true }).fill('09:30');
    await submitFields(page, { 'Report title': '' }, 'Save schedule', 'This field is required.');
    await submitFields(page, { 'Report title': 'By itself' }, 'Save schedule', 'Weekdays at 9:30, Berlin');
    expect(site.api.schedules.get('aut_sales')).toMatchObject({
      schedule: '30 9 * * MON-FRI',
      timezone: 'Europe/Berlin',
      enabled: true,
      inputs: { title: 'By itself' },
    });
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('None (schedule is off)').waitFor();
    await clickButtons(page, 'Remove schedule', 'Remove now');
    await page.getByText('No schedule. This automation runs only when started manually or through the API').waitFor();
  });

  test('the link is made public after a confirmation, and the automation archived and restored', async () => {
    const page = await site.visitAsUser(settings);
    await clickButtons(page, 'Make public', 'Make public now');
    await page.getByText('Anyone with this link can view the form').waitFor();
    expect(site.api.pages.get('aut_sales')?.visibility).toBe('public');

    await clickButtons(page, 'Archive Weekly sales report', 'Archive now');
    await page.getByText('Weekly sales report archived').waitFor();
    await page.getByLabel('Status').selectOption('archived');
    await page.getByRole('link', { name: 'Weekly sales report' }).waitFor();
    await page.goto(site.api.origin + settings);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('button', { name: 'Archive Weekly sales report' }).waitFor();
  });

  test('a viewer sees the settings and no controls to change them', async () => {
    Object.assign(site.api.accounts.me.workspaces[0] ?? {}, { role: 'viewer' });
    const page = await site.visitAsUser(settings);
    await page.getByText('Mondays at 7:00, Berlin').waitFor();
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual(['Copy link', 'Copy']);
  });
});
