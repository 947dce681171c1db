import { testSite } from './test/browser';
import { checkPage, PHONE } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { createSecretState } from './test/fake-secrets';

const DAY_MS = 86_400_000;

describe('secrets', () => {
  const site = testSite();
  beforeEach(() => {
    const { worker, automation } = site.api.secrets;
    const report = { id: 'morning-report', name: 'Morning report' };
    const sales = { id: 'aut_sales', name: 'Weekly sales report' };
    worker.set.set('CRM_TOKEN', Date.now() - 3 * DAY_MS);
    worker.set.set('OLD_KEY', Date.now() - 90 * DAY_MS);
    worker.declared.set('SMTP_PASSWORD', [report]);
    automation.declared.set('CRM_TOKEN', [sales]);
    automation.set.set('PAGE_TOKEN', Date.now() - DAY_MS);
    automation.declared.set('PAGE_TOKEN', [sales]);
    worker.hosts.set('CRM_TOKEN', ['api.crm.example', '*.crm.example']);
    worker.declared.set('CRM_TOKEN', [report, { id: 'clean-up', name: 'Nightly clean-up', exposed: true }]);
  });

  const row = (page: Awaited<ReturnType<typeof site.visitAsUser>>, name: string) =>
    page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/secrets');
    await row(page, 'CRM_TOKEN').waitFor();
    await checkPage(page, 'secrets');
    await page.getByRole('button', { name: 'Set SMTP_PASSWORD' }).click();
    await page.getByLabel('Value', { exact: true }).fill('correct horse');
    await checkPage(page, 'secrets-set');
    await clickButtons(page, 'Cancel', 'Set CRM_TOKEN', 'Add host');
    await checkPage(page, 'secrets-hosts');
    await clickButtons(page, 'Cancel', 'Delete CRM_TOKEN');
    await checkPage(page, 'secrets-delete');
    site.api.secrets = createSecretState();
    await page.reload();
    await page.getByRole('heading', { name: 'No secrets yet' }).waitFor();
    await checkPage(page, 'secrets-empty');
  });

  test('a row shows which surface has the name and which lacks it; missing ones come first', async () => {
    const page = await site.visitAsUser('/secrets');
    await row(page, 'CRM_TOKEN').waitFor();
    const names = await page.getByRole('table', { name: 'Secrets' }).locator('code').allTextContents();
    expect(names).toEqual(['CRM_TOKEN', 'SMTP_PASSWORD', 'OLD_KEY', 'PAGE_TOKEN']);
    expect(await row(page, 'CRM_TOKEN').textContent()).toMatch(/Set3 days ago[\s\S]*Morning report[\s\S]*Missing/);
    expect(await row(page, 'OLD_KEY').textContent()).toContain('No worker uses this secret');
  });

  test('a heading sorts the list by keyboard: up, down, then as before; rows without a value come last', async () => {
    const page = await site.visitAsUser('/secrets');
    await row(page, 'CRM_TOKEN').waitFor();
    const table = page.getByRole('table', { name: 'Secrets' });
    const press = async (head: string) => {
      await table.getByRole('button', { name: head, exact: true }).press('Enter');
      const order = await table.getByRole('columnheader', { name: head }).getAttribute('aria-sort');
      return [order, ...(await table.locator('code').allTextContents())];
    };
    await expect(press('Name')).resolves.toEqual([
      ...['ascending', 'CRM_TOKEN', 'OLD_KEY', 'PAGE_TOKEN', 'SMTP_PASSWORD'],
    ]);
    await expect(press('Name')).resolves.toEqual([
      ...['descending', 'SMTP_PASSWORD', 'PAGE_TOKEN', 'OLD_KEY', 'CRM_TOKEN'],
    ]);
    await expect(press('Name')).resolves.toEqual([null, 'CRM_TOKEN', 'SMTP_PASSWORD', 'OLD_KEY', 'PAGE_TOKEN']);
    await expect(press('Workers')).resolves.toEqual([
      ...['ascending', 'OLD_KEY', 'CRM_TOKEN', 'SMTP_PASSWORD', 'PAGE_TOKEN'],
    ]);
    await expect(press('Workers')).resolves.toEqual([
      ...['descending', 'CRM_TOKEN', 'OLD_KEY', 'SMTP_PASSWORD', 'PAGE_TOKEN'],
    ]);
  });

  test('on a phone the headings stay above the stacked rows', async () => {
    const page = await site.visitAsUser('/secrets', PHONE);
    await row(page, 'CRM_TOKEN').waitFor();
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await expect(page.locator('tbody code').allTextContents()).resolves.toEqual([
      ...['CRM_TOKEN', 'OLD_KEY', 'PAGE_TOKEN', 'SMTP_PASSWORD'],
    ]);
  });

  test('a missing secret is set on the surface that lacks it; a new one on both surfaces at once', async () => {
    const page = await site.visitAsUser('/secrets?set=CRM_TOKEN');
    await page.getByRole('dialog').getByLabel('Automations').waitFor();
    expect(await page.getByRole('dialog').getByLabel('Workers').isChecked()).toBe(false);
    await page.getByLabel('Value', { exact: true }).fill('line one\nline two');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByText('CRM_TOKEN set for automations').waitFor();
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByLabel('Name', { exact: true }).fill('new-key');
    await page.getByLabel('Value', { exact: true }).fill('v');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await row(page, 'NEW_KEY').waitFor();
    expect(site.api.secrets.sent).toEqual({
      'automation CRM_TOKEN': 'line one\nline two',
      'worker NEW_KEY': 'v',
      'automation NEW_KEY': 'v',
    });
    expect(await page.getByText('line one').count()).toBe(0);
  });

  test('a problem of a value is shown once, and stays until it is dismissed', async () => {
    const page = await site.visitAsUser('/secrets');
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByLabel('Name', { exact: true }).fill('pin');
    await page.getByLabel('Value', { exact: true }).fill('471108');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    const warning = page.getByText('PIN: six digits are found in many texts by chance');
    await warning.waitFor();
    expect(await warning.count()).toBe(1);
    // The toast beside it goes.
    await page.getByText('PIN set for workers and automations').waitFor({ state: 'detached' });
    await warning.hover();
    await page.mouse.move(0, 0);
    await page.getByRole('status').getByRole('button', { name: 'Dismiss' }).click();
    await warning.waitFor({ state: 'detached' });
  });

  test('hosts of a value are shown, changed with it, and refused by their position', async () => {
    const { worker } = site.api.secrets;
    const page = await site.visitAsUser('/secrets');
    await row(page, 'CRM_TOKEN').waitFor();
    const text = await row(page, 'CRM_TOKEN').textContent();
    expect(text).toContain('Sent only to api.crm.example, *.crm.example');
    expect(text).toContain('Nightly clean-up (code can read the value)');
    await page.getByRole('button', { name: 'Set CRM_TOKEN' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Workers').check();
    await dialog.getByLabel('Value', { exact: true }).fill('v2');
    await clickButtons(dialog, 'Remove *.crm.example', 'Add host');
    await page.keyboard.type('https://crm.example');
    await dialog.getByRole('button', { name: 'Replace' }).click();
    await dialog.getByText('For workers: host 2 must be a host').waitFor();
    await dialog.getByLabel('Host 2').fill('crm.example:8443');
    await clickButtons(dialog, 'Add host', 'Replace');
    await page.getByText('CRM_TOKEN set for').waitFor();
    expect(worker.hosts.get('CRM_TOKEN')).toEqual(['api.crm.example', 'crm.example:8443']);
  });

  test('places of a value are shown, changed with it, and refused by their number', async () => {
    const { worker } = site.api.secrets;
    const page = await site.visitAsUser('/secrets');
    await page.getByRole('button', { name: 'New secret' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('PLACED');
    await dialog.getByLabel('Value', { exact: true }).fill('v1');
    await dialog.getByLabel('Automations').uncheck();
    expect(await dialog.getByLabel('Allowed request parts').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Add host' }).click();
    await page.keyboard.type('api.example.com');
    const places = dialog.getByLabel('Allowed request parts');
    expect(await places.inputValue()).toBe('header');
    await places.fill('header, somewhere');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await dialog.getByText('For workers: place 2 must be a place').waitFor();
    await places.fill('header:x-key, query:api_key');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await row(page, 'PLACED')
      .getByText('Sent only to api.example.com in these request parts: header:x-key, query:api_key')
      .waitFor();
    expect(worker.places.get('PLACED')).toEqual(['header:x-key', 'query:api_key']);
    await page.getByRole('button', { name: 'Replace PLACED' }).click();
    expect(await dialog.getByLabel('Allowed request parts').inputValue()).toBe('header:x-key, query:api_key');
  });

  test('a surface that refuses is named, and the change on the other one stays', async () => {
    site.api.secrets.failingSurface = 'automation';
    const page = await site.visitAsUser('/secrets');
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByLabel('Name', { exact: true }).fill('9WRONG');
    await page.getByLabel('Value', { exact: true }).fill('v');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByText('starting with a letter').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('BOTH');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByText('For automations: a workspace can have at most 500 secrets').waitFor();
    expect(site.api.secrets.worker.set.has('BOTH')).toBe(true);
  });

  test('deleting names the workers that will fail, and removes the secret from the chosen surfaces', async () => {
    const { worker, automation } = site.api.secrets;
    automation.set.set('CRM_TOKEN', Date.now());
    const page = await site.visitAsUser('/secrets');
    await page.getByRole('button', { name: 'Delete CRM_TOKEN' }).click();
    await page.getByText('Runs will fail until the secret is set again: Morning report, Nightly clean-up').waitFor();
    await page.getByLabel('Delete from automations').uncheck();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('CRM_TOKEN deleted').waitFor();
    expect([worker.set.has('CRM_TOKEN'), automation.set.has('CRM_TOKEN')]).toEqual([false, true]);
  });

  test('a viewer sees the names and no button that the server would refuse', async () => {
    Object.assign(site.api.accounts.me, { workspace_id: 'ws_lab', role: 'viewer' });
    const page = await site.visitAsUser('/secrets?set=CRM_TOKEN');
    await row(page, 'CRM_TOKEN').waitFor();
    expect(await page.getByRole('button', { name: 'New secret' }).count()).toBe(0);
    expect(await page.locator('tbody').getByRole('button').count()).toBe(0);
  });
});
