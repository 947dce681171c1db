import { waitUntil } from '@gantry/testing';
import type { Page } from 'playwright-core';
import { checkPage } from '../test/check-page';
import { submitFields } from '../test/fill-fields';
import { testPlatform } from '../test/open-platform';
import { rewriteFile } from '../test/rewrite-file';

describe('an automation', () => {
  const platform = testPlatform();
  const tab = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Automation' }).getByRole('link', { name }).click();
  /** Uses the regions of the automation's page: the tab Code, shown until that page has loaded, has the same fields. */
  async function runAutomation(page: Page, price: string, expectedText: string) {
    const form = page.getByRole('region', { name: 'Inputs', exact: true });
    await form.getByLabel('Price').fill(price);
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Result', exact: true }).getByText(expectedText).first().waitFor();
  }

  test('an empty page becomes a published form, and then its next version', async () => {
    const page = await platform.visitAsOwner('/automations');
    await page.getByRole('link', { name: 'New automation' }).first().click();
    const inputs = [{ name: 'price', label: 'Price', type: 'number', required: true }];
    const manifest = { name: 'Gross price', inputs, outputs: [{ name: 'gross', label: 'Gross', type: 'number' }] };
    await rewriteFile(page, 'manifest.json', JSON.stringify(manifest, null, 2));
    await rewriteFile(page, 'main.py', 'def run(price):\n    return {"gross": price * rate}\n');
    await page.getByLabel('Price').fill('100');
    const result = page.getByRole('region', { name: 'Test result' });
    await page.getByRole('button', { name: 'Test this draft' }).click();
    await result.getByText("name 'rate' is not defined").first().waitFor();
    await rewriteFile(page, 'main.py', 'def run(price):\n    return {"gross": price * 1.19}\n');
    await page.getByRole('button', { name: 'Test this draft' }).click();
    await result.getByText('119').first().waitFor();

    await checkPage(page, 'automation-from-an-empty-page');
    await page.getByLabel('Who can run it').selectOption('Anyone with the link');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL(/\/a\/aut_/);
    await runAutomation(page, '200', '238');
    const visitor = await platform.visit();
    await visitor.goto(page.url().split('?')[0] ?? '');
    await runAutomation(visitor, '10', '11.9');
    await checkPage(visitor, 'published-form');

    await tab(page, 'Code');
    await page.getByText('No changes yet').waitFor();
    await rewriteFile(page, 'main.py', 'def run(price):\n    return {"gross": price * 2}\n');
    await submitFields(page, { 'Change message': 'Another rate' }, 'Deploy new version', 'Version 2 deployed');
    await checkPage(page, 'automation-after-its-next-version');
    await tab(page, 'Run');
    await runAutomation(page, '21', '42');
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Roll back/ })
      .click();
    await page.getByText('Rolled back to version 1').waitFor();
    await runAutomation(page, '100', '119');
  });

  async function createWorker(id: string, fields: object): Promise<void> {
    const { status, body } = await platform.call('POST', '/api/workers', { id, ...fields });
    if (status !== 201) throw new Error(`${id}: ${status} ${JSON.stringify(body)}`);
  }
  async function getWorkerOutput(id: string, inputs: object): Promise<unknown> {
    const { body } = await platform.call('POST', `/api/workers/${id}/runs`, { inputs });
    const load = async () => (await platform.call('GET', `/api/runs/${body.run_id}`)).body;
    await waitUntil(async () => (await load()).status === 'completed');
    return (await load()).output;
  }

  test('a worker is published as a page, whose form gives the result of the worker', async () => {
    await createWorker('gross', {
      name: 'Gross price',
      description: 'Adds the tax.',
      entrypoint: 'src/gross.py',
      inputs: [
        { name: 'price', label: 'Price', type: 'number', required: true },
        { name: 'country', label: 'Country', type: 'select', options: ['de', 'at'], default: 'at' },
      ],
      outputs: [{ name: 'gross', label: 'Gross', type: 'number' }],
      files: [
        {
          path: 'src/gross.py',
          content:
            'from rates import RATES\n\ndef run(price, country):\n    return {"gross": price * RATES[country]}\n',
        },
        { path: 'src/rates.py', content: 'RATES = {"de": 1.19, "at": 1.2}\n' },
      ],
    });
    expect(await getWorkerOutput('gross', { price: 200, country: 'de' })).toEqual({ gross: 238 });
    const page = await platform.visitAsOwner('/workers/gross');
    await page.getByRole('link', { name: 'Publish as a page' }).click();
    await page.getByRole('region', { name: 'Copied' }).getByText('src/rates.py').waitFor();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByLabel('Price').fill('100');
    await page.getByRole('button', { name: 'Test this draft' }).click();
    await page.getByRole('region', { name: 'Test result' }).getByText('120').first().waitFor();
    await page.getByLabel('Who can run it').selectOption('Anyone with the link');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL(/\/a\/aut_/);
    const visitor = await platform.visit();
    await visitor.goto(page.url().split('?')[0] ?? '');
    await visitor.getByText('Adds the tax.').waitFor();
    await visitor.getByLabel('Country').selectOption('de');
    await runAutomation(visitor, '200', '238');
  });

  test('the secret of a published worker is named, and its value stays with the worker', async () => {
    await platform.call('PUT', '/api/secrets/CRM_TOKEN', { value: 'value-of-the-worker' });
    await createWorker('report', {
      name: 'Report',
      secrets: ['CRM_TOKEN'],
      triggers: [{ type: 'webhook' }],
      files: [
        { path: 'main.py', content: 'def run(context):\n    return {"size": len(context.secrets["CRM_TOKEN"])}\n' },
      ],
    });
    const page = await platform.visitAsOwner('/workers/report');
    await page.getByRole('link', { name: 'Publish as a page' }).click();
    const differences = page.getByRole('region', { name: 'Differences from the worker' });
    await differences.getByText('Secret CRM_TOKEN').waitFor();
    await differences.getByText('Webhook', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL(/\/a\/aut_/);
    await page
      .getByText(/CRM_TOKEN/)
      .first()
      .waitFor();
    const { body } = await platform.workspace.automations('GET', '/api/secrets');
    expect(body.secrets).toEqual([]);
  });
});
