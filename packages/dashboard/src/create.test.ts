import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildOverview } from './test/fake-overview';

describe('the choice between a worker and an automation', () => {
  const site = testSite();

  function setRole(role: 'owner' | 'viewer') {
    for (const one of site.api.accounts.me.workspaces) one.role = role;
    site.api.accounts.me.role = role;
  }
  afterEach(() => setRole('owner'));

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/new');
    await page.getByRole('link', { name: 'New automation' }).waitFor();
    await checkPage(page, 'create');
  });

  test('a key opens it, and the keyboard alone leads on to either', async () => {
    const page = await site.visitAsUser('/approvals');
    await page.keyboard.press('c');
    await page.getByRole('heading', { level: 1, name: 'Create' }).waitFor();
    const worker = page.getByRole('region', { name: 'Worker' });
    await worker.getByText('Triggers: schedules, webhooks and events').waitFor();
    const automation = page.getByRole('region', { name: 'Automation' });
    await automation.getByText('anyone with the link').waitFor();
    await worker.getByRole('link').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'New worker' }).waitFor();
    await page.getByRole('link', { name: 'Compare workers and automations' }).click();
    await automation.getByRole('link').waitFor();
    await page.getByRole('main').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'New automation' }).waitFor();
    await page.getByRole('link', { name: 'Compare workers and automations' }).click();
    await page.getByRole('heading', { level: 1, name: 'Create' }).waitFor();
  });

  test('the palette and an empty workspace lead to a new automation at once, and to the explanation', async () => {
    site.api.overview = buildOverview();
    const page = await site.visitAsUser('/');
    await page.getByRole('link', { name: 'Compare workers and automations' }).click();
    await page.getByRole('heading', { level: 1, name: 'Create' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or go to' }).fill('new automation');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'New automation' }).waitFor();
  });

  test('a viewer reads it, and creates nothing', async () => {
    setRole('viewer');
    const page = await site.visitAsUser('/new');
    await page.getByText('Viewers can’t create workers or automations').waitFor();
    await page.getByText('Send a sales report every weekday').waitFor();
    expect(await page.getByRole('main').getByRole('link').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Create', exact: true }).count()).toBe(0);
  });
});
