import { switchWorkspace, testSite } from './test/browser';
import { checkPage, PHONE, PHONE_APPEARANCE } from './test/check-page';
import { addSalesAutomation } from './test/sample';

describe('the shell', () => {
  const site = testSite();
  beforeEach(() => {
    addSalesAutomation(site.api);
  });

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/automations');
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    await page.getByRole('link', { name: 'Your account' }).waitFor();
    await checkPage(page, 'shell-account');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Search or go to' }).click();
    await page.getByRole('option', { name: 'Runs' }).waitFor();
    await checkPage(page, 'shell-palette');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await checkPage(page, 'shell-dialog');

    const pageOnPhone = await site.visitAsUser('/automations', PHONE);
    await pageOnPhone.getByRole('button', { name: 'Open navigation' }).click();
    await pageOnPhone.getByRole('link', { name: 'Approvals' }).waitFor();
    await checkPage(pageOnPhone, 'shell-drawer', [PHONE_APPEARANCE]);
  });

  test('the navigation marks the current page, leads elsewhere, and stays collapsed once collapsed', async () => {
    const page = await site.visitAsUser('/automations');
    const main = page.getByRole('navigation', { name: 'Main' });
    expect(await main.getByRole('link', { name: 'Docs' }).getAttribute('href')).toBe('/docs');
    const here = () => main.locator('[aria-current="page"]').allTextContents();
    expect(await here()).toEqual(['Automations']);
    await page.getByRole('link', { name: 'Weekly sales report' }).click();
    await page.getByRole('heading', { name: 'Weekly sales report' }).waitFor();
    expect(await here()).toEqual(['Automations']);
    const trail = page.getByRole('navigation', { name: 'Breadcrumb' });
    expect(await trail.getByRole('listitem').allTextContents()).toEqual(['Automations', 'Weekly sales report']);
    await trail.getByRole('link', { name: 'Automations' }).click();
    await page.getByRole('heading', { name: 'Automations' }).waitFor();

    await main.getByRole('button', { name: 'Collapse' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Expand navigation' }).waitFor();
    await main.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('heading', { name: 'Approvals', exact: true }).waitFor();
  });

  test('a few letters lead to any page or automation, by the keyboard alone', async () => {
    const page = await site.visitAsUser('/approvals');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search or go to' });
    await field.fill('weekly');
    await page.getByRole('option', { name: /Weekly sales report/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Weekly sales report' }).waitFor();

    await page.keyboard.press('Control+k');
    await field.fill('audit');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();

    await page.keyboard.press('Control+k');
    await field.fill('nothing is called this');
    await page.getByText('No results.').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('keys go to pages and to the search, but not while typing', async () => {
    const page = await site.visitAsUser('/approvals');
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    const search = page.getByRole('searchbox', { name: 'Search automations' });
    await search.waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('g p?');
    expect(await search.inputValue()).toBe('g p?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe('/automations');
  });

  test('old addresses redirect to the new ones', async () => {
    const page = await site.visitAsUser('/settings/audit-log');
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings/audit');
    await page.goto(`${site.api.origin}/settings`);
    await page.getByRole('heading', { name: 'Workspace', level: 1 }).waitFor();
  });

  test('another workspace is chosen from a list, and on a phone from the drawer', async () => {
    const page = await site.visitAsUser('/approvals', PHONE);
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await switchWorkspace(page, 'The laboratory');
    await page.waitForFunction(() => localStorage.getItem('gantry-workspace') === 'ws_lab');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});
