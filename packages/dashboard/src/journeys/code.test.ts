import type { Page } from 'playwright-core';
import { checkPage } from '../test/check-page';
import { testPlatform } from '../test/open-platform';

describe('code and files', () => {
  const platform = testPlatform();

  async function replaceText(page: Page, name: RegExp, text: string) {
    await page.getByRole('textbox', { name }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  }

  async function save(page: Page, message: string, version: number) {
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByRole('dialog').getByLabel('Change message').fill(message);
    await page.keyboard.press('Enter');
    await page.getByText(`Saved as version ${version}`).waitFor();
  }

  test('code is fixed, tested, saved, compared and rolled back', async () => {
    const inputs = [{ name: 'n', label: 'Number', type: 'integer', required: true }];
    const files = [{ path: 'main.py', content: 'def run(n):\n    return {"square": n + n}\n' }];
    await platform.expectStatus(201, 'POST', '/api/workers', { id: 'squares', name: 'Squares', inputs, files });
    const page = await platform.visitAsOwner('/workers/squares/code');
    await page.getByText('No problems found.').waitFor();

    await replaceText(page, /Code in main\.py/, 'import requests\n\ndef run(n):\n    return {"square": n ** (2}\n');
    await page.getByRole('button', { name: /Error.*Line 4/ }).waitFor();
    await replaceText(
      page,
      /Code in main\.py/,
      'def run(n):\n    print("squaring", n)\n    return {"square": n / 0}\n',
    );
    await page.getByText('No problems found.').waitFor();

    await page.getByLabel('Number').fill('7');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: /The test failed here: ZeroDivisionError.*Line 3/ }).waitFor();
    await page.getByRole('log').getByText('squaring 7').waitFor();

    await replaceText(page, /Code in main\.py/, 'def run(n):\n    return {"square": n ** 2}\n');
    await page.keyboard.press('Control+Enter');
    const result = page.getByRole('region', { name: 'Test result' });
    await result.getByText('Succeeded', { exact: true }).waitFor();
    await result.getByText('49').first().waitFor();
    const test = await result.getByRole('link', { name: 'View run' }).getAttribute('href');
    expect(await platform.expectStatus(200, 'GET', `/api${test}`)).toMatchObject({
      trigger: 'test',
      output: { square: 49 },
    });
    expect(await platform.expectStatus(200, 'GET', '/api/workers/squares/versions')).toHaveLength(1);
    expect(await platform.expectStatus(200, 'GET', '/api/runs?worker_id=squares')).toEqual([]);

    await save(page, 'Square instead of doubling', 2);
    await page.getByRole('navigation', { name: 'Worker' }).getByRole('link', { name: 'Versions' }).click();
    await page.getByText('Square instead of doubling').waitFor();
    await page.locator('.cm-changedLine', { hasText: 'n ** 2' }).first().waitFor();
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('Rolled Squares back to version 1').waitFor();
    const [now] = await platform.expectStatus(200, 'GET', '/api/workers/squares/files');
    expect(now.content).toContain('n + n');
  });

  test('an undefined name is shown and corrected before the first run of a worker', async () => {
    const files = [{ path: 'main.py', content: 'def run(n):\n    total = n + 1\n    return {"total": totl}\n' }];
    const inputs = [{ name: 'n', label: 'Number', type: 'integer', required: true }];
    await platform.expectStatus(201, 'POST', '/api/workers', { id: 'totals', name: 'Totals', inputs, files });
    const page = await platform.visitAsOwner('/workers/totals/code', { checksTypes: true });
    await page.getByRole('button', { name: /"totl" is not defined.*Line 3/ }).waitFor();
    await checkPage(page, 'worker-code-with-an-undefined-name');
    await replaceText(page, /Code in main\.py/, 'def run(n):\n    total = n + 1\n    return {"total": total}\n');
    await page.getByText('No problems found.').waitFor();
    await save(page, 'The right name', 2);
    await page.getByRole('navigation', { name: 'Worker' }).getByRole('link', { name: 'Runs' }).click();
    const form = page.getByRole('region', { name: 'Run', exact: true });
    await form.getByLabel('Number').fill('6');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/runs\/run_/);
    await page.getByText('Succeeded').first().waitFor();
    const runs = await platform.expectStatus(200, 'GET', '/api/runs?worker_id=totals');
    expect(runs).toMatchObject([{ status: 'completed', output: { total: 7 } }]);
  });

  test('a context is created, filled by dropping a file, edited and rolled back', async () => {
    const page = await platform.visitAsOwner('/contexts');
    await page.getByRole('button', { name: 'Create context' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('price-list');
    await page.getByRole('dialog').getByRole('button', { name: 'Create context' }).click();
    await page.getByText('No files yet').waitFor();
    const dropped = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(['sku,price\nA1,12\n'], 'prices.csv', { type: 'text/csv' }));
      return data;
    });
    await page.getByText('No files yet').dispatchEvent('drop', { dataTransfer: dropped });
    await page.getByText('1 file uploaded as version 2').waitFor();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('cell', { name: 'A1' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await replaceText(page, /Contents of prices\.csv/, 'sku,price\nA1,13\n');
    await save(page, 'Dearer', 3);
    await page.getByRole('navigation', { name: 'Context' }).getByRole('link', { name: 'Versions' }).click();
    await page.locator('.cm-changedLine', { hasText: 'A1,13' }).first().waitFor();
    await page.getByRole('button', { name: 'Roll back to version 2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('Rolled price-list back to version 2').waitFor();
    expect(await platform.expectStatus(200, 'GET', '/api/contexts/price-list/files')).toMatchObject([
      { path: 'prices.csv', content: 'sku,price\nA1,12\n' },
    ]);
  });
});
