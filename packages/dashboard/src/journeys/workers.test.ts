import { waitUntil } from '@gantry/testing';
import type { Page } from 'playwright-core';
import { pressUntilFocused } from '../test/browser';
import { testPlatform } from '../test/open-platform';

const PHONE = { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true };

describe('a worker', () => {
  const platform = testPlatform();

  /** @throws Error for any status but 201 */
  async function createWorker(id: string, code: string, rest: object = {}): Promise<void> {
    const files = [{ path: 'main.py', content: code }];
    const response = await platform.call('POST', '/api/workers', { id, name: id, files, ...rest });
    if (response.status !== 201) throw new Error(`${id}: ${response.status} ${JSON.stringify(response.body)}`);
  }

  const lastPathSegment = (url: string): string => new URL(url).pathname.split('/').at(-1) ?? '';
  const getRunStatus = async (runId: string): Promise<string> =>
    (await platform.call('GET', `/api/runs/${runId}`)).body.status;

  const editor = (page: Page) => page.getByRole('textbox', { name: 'Code in main.py' });

  async function rewrite(page: Page, code: string): Promise<void> {
    await editor(page).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(code);
  }

  async function save(page: Page, message: string): Promise<void> {
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByRole('dialog').getByLabel('Change message').fill(message);
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click();
    await page.getByText('Saved as version').waitFor();
  }

  test('a template with a schedule and an approval is created, run and approved in the browser alone', async () => {
    const page = await platform.visitAsOwner('/workers', { timezoneId: 'Europe/Berlin' });
    await page.getByRole('link', { name: 'Start from a template' }).click();
    await page.getByRole('link', { name: 'Nightly clean-up' }).click();
    await page.getByText('Next runs: daily at 2:30 (Berlin time)').waitFor();
    await page.getByLabel('Time', { exact: true }).fill('03:15');
    await page.getByText('daily at 3:15').waitFor();
    await page.getByRole('button', { name: 'Create worker' }).click();
    await page.getByText('Daily at 3:15, Berlin').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/runs\/run_/);
    const runId = lastPathSegment(page.url());
    await waitUntil(async () => (await getRunStatus(runId)) === 'pending_approval');
    await page.getByRole('link', { name: /Approvals/ }).click();
    await page.getByRole('heading', { name: /^Remove 2 items/, level: 2 }).waitFor();
    await pressUntilFocused(page, 'a', 'Approve');
    await page.keyboard.press('Enter');
    await waitUntil(async () => (await getRunStatus(runId)) === 'completed');

    await page.goto(platform.at('/workers'));
    await page
      .getByRole('row', { name: /Nightly clean-up/ })
      .getByText('Healthy')
      .waitFor();
    await page.getByRole('img', { name: /Last run: didn’t fail/ }).waitFor();
  });

  test('a webhook is tested on its page, with a signature once it requires one', async () => {
    const page = await platform.visitAsOwner('/workers/new?template=chat-message');
    await page.getByRole('button', { name: 'Create worker' }).click();
    await page.getByText('No runs yet').waitFor();
    await page.getByRole('link', { name: 'Triggers' }).click();
    const panel = page.getByRole('region', { name: 'Webhook' });
    await panel.getByLabel('JSON body').fill('{"title": "New order", "text": "number 17"}');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.getByText('Request accepted', { exact: true }).waitFor();
    const firstRun = await panel.getByRole('link', { name: 'View run' }).getAttribute('href');
    await panel.getByRole('button', { name: 'Require signatures' }).click();
    await panel.getByText('Requests must be signed').waitFor();
    await panel.getByLabel('JSON body').fill('{"title": "Signed", "text": "number 18"}');
    await panel.getByRole('button', { name: 'Send' }).click();
    // Until the response of the second request, the link leads to the run of the first.
    await panel.locator(`a:not([href="${firstRun}"])`, { hasText: 'View run' }).click();
    await page.waitForURL(/\/runs\/run_/);
    await page.getByText('number 18').first().waitFor();
  });

  test('a failed run shows its line; the code is fixed and the run replayed', async () => {
    await createWorker('divider', 'def run(n):\n    return {"half": n / 0}\n', {
      inputs: [{ name: 'n', type: 'integer', required: true }],
    });
    const started = await platform.call('POST', '/api/workers/divider/runs', { inputs: { n: 4 }, wait: 10 });
    const page = await platform.visitAsOwner(`/runs/${started.body.run_id}`);
    await page.getByText('Failed').first().waitFor();
    await page.getByText('division by zero').first().waitFor();
    await page.getByText('return {"half": n / 0}').first().waitFor();
    await page.goto(platform.at('/workers/divider/code'));
    await rewrite(page, 'def run(n):\n    return {"half": n / 2}\n');
    await save(page, 'Divide by two');
    await page.goto(platform.at(`/runs/${started.body.run_id}`));
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(started.body.run_id));
    await page.getByText('Succeeded').first().waitFor();
  });

  test('on a phone: from the overview to a worker, run it, and follow the run', async () => {
    await createWorker('pocket', 'def run():\n    print("in the pocket")\n    return {"done": True}\n');
    const page = await platform.visitAsOwner('/', PHONE);
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await page.getByRole('link', { name: 'Workers' }).click();
    await page.getByRole('link', { name: 'pocket' }).first().click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/runs\/run_/);
    await page.getByText('in the pocket').waitFor();
    await page.getByText('Succeeded').first().waitFor();
    const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
    expect(await page.evaluate(overflow)).toBe(0);
  });
});
