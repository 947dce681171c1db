import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { createContext, saveVersion } from './test/fake-contexts';

describe('contexts', () => {
  const site = testSite();
  beforeEach(() => {
    setRole('owner');
    const used = [{ id: 'price-watch', name: 'Price watch' }];
    const prices = createContext(
      'price-list',
      { 'prices.csv': 'sku,price\nA1,12\nB2,7.5\n', 'notes/readme.md': '# Prices\n\nPer *kilogram*.\n' },
      { description: 'What things cost in the shops of the north', used_by: used, writeable: true },
    );
    saveVersion(
      prices,
      { ...prices.versions[0]?.files, 'prices.csv': 'sku,price\nA1,13\nB2,7.5\n' },
      { message: 'New prices' },
    );
    saveVersion(
      prices,
      { ...prices.versions[1]?.files, 'last-run.json': '{"at": 1}\n' },
      { author: null, source: 'run' },
    );
    const letters = createContext('letter-templates', { 'refund.md': 'Dear customer\n' }, { visibility: 'private' });
    site.api.contexts = [prices, letters];
  });

  function setRole(role: 'owner' | 'viewer') {
    const [ops] = site.api.accounts.me.workspaces;
    if (!ops) throw new Error('no sample');
    ops.role = role;
    site.api.accounts.me.role = role;
  }
  const prices = () => site.api.contexts[0];
  const filesNow = () => prices()?.versions.at(-1)?.files ?? {};

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/contexts');
    await page.getByRole('link', { name: 'price-list' }).waitFor();
    await checkPage(page, 'contexts');
    await page.getByRole('button', { name: 'New context' }).click();
    await page.getByLabel('Name').fill('No');
    await page.keyboard.press('Enter');
    await page.getByText('Use 3 to 64 lowercase letters').waitFor();
    await checkPage(page, 'contexts-new');
    prices()?.about.findings.push({ path: 'prices.csv', line: 2, kind: 'assigned_secret' });
    await page.goto(`${site.api.origin}/contexts/price-list?file=prices.csv`);
    await page.getByRole('textbox', { name: 'Contents of prices.csv' }).waitFor();
    await checkPage(page, 'context');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('cell', { name: '7.5' }).waitFor();
    await checkPage(page, 'context-preview');
    await page.goto(`${site.api.origin}/contexts/price-list/versions?from=1&to=2`);
    await page.getByText('A1,13').first().waitFor();
    await checkPage(page, 'context-versions');
    await page.goto(`${site.api.origin}/contexts/price-list/settings`);
    await page.getByLabel('Description').waitFor();
    await checkPage(page, 'context-settings');
    site.api.contexts = [];
    await page.goto(`${site.api.origin}/contexts`);
    await page.getByText('No contexts yet').waitFor();
    await checkPage(page, 'contexts-empty');
  });

  test('a context is created, gets a file, and the file is saved as a version', async () => {
    const page = await site.visitAsUser('/contexts');
    await page.getByRole('button', { name: 'New context' }).click();
    await page.getByLabel('Name').fill('price-list');
    await page.keyboard.press('Enter');
    await page.getByText('A context named price-list already exists.').waitFor();
    await page.getByLabel('Name').fill('holidays');
    await page.getByRole('button', { name: 'Create context' }).click();
    await page.getByRole('heading', { level: 1, name: 'holidays' }).waitFor();
    await page.getByRole('button', { name: 'New file' }).click();
    await page.getByLabel('New file path').fill('2026.txt');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Contents of 2026.txt' }).click();
    await page.keyboard.insertText('1 May\n');
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByRole('dialog').getByLabel('Change message').fill('The first of May');
    await page.keyboard.press('Enter');
    await page.getByText('Saved as version 2').waitFor();
    expect(site.api.contexts[0]?.versions.at(-1)).toMatchObject({
      message: 'The first of May',
      files: { '2026.txt': '1 May\n' },
    });
  });

  test('an edit is rolled back, and the history shows the author of each change', async () => {
    const page = await site.visitAsUser('/contexts/price-list/versions');
    await page.getByRole('link', { name: 'Run', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Changes in version 2' }).click();
    await page.getByText('A1,13').first().waitFor();
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('Rolled price-list back to version 1').waitFor();
    expect(Object.keys(filesNow()).sort()).toEqual(['notes/readme.md', 'prices.csv']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Version 5', { exact: true }).waitFor();
    expect(Object.keys(filesNow())).toContain('last-run.json');
  });

  test('settings are changed; deleting names the workers that still use it', async () => {
    const page = await site.visitAsUser('/contexts/price-list/settings');
    await page.getByLabel('Description').fill('All prices');
    await page.getByLabel('Allow runs to save changes').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(prices()?.about).toMatchObject({ description: 'All prices', writeable: false });
    await page.getByText('Price watch can’t run until you remove this context from the worker.').waitFor();
    await clickButtons(page, 'Delete price-list', 'Delete now');
    await page.getByText('price-list deleted').waitFor();
    expect(site.api.contexts.map(({ about }) => about.name)).toEqual(['letter-templates']);
  });

  test('a viewer reads it and sees no other actions; an unknown context is reported as not found', async () => {
    setRole('viewer');
    const page = await site.visitAsUser('/contexts/price-list');
    await page.getByText('You have read-only access to these files.').waitFor();
    for (const name of ['Save version', 'Upload', 'New file']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    await page.goto(`${site.api.origin}/contexts/nothing`);
    await page.getByRole('heading', { name: 'Context not found' }).waitFor();
  });
});
