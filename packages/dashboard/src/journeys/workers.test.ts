import { until } from '@gantry/testing';
import { chromiumPath } from '../test/browser';
import { testPlatform } from '../test/open-platform';

const withBrowser = chromiumPath ? describe : describe.skip;

withBrowser('a first worker', () => {
  const platform = testPlatform();

  const idIn = (url: string): string => new URL(url).pathname.split('/').at(-1) ?? '';
  const statusOf = async (runId: string): Promise<string> =>
    (await platform.call('GET', `/api/runs/${runId}`)).body.status;

  test('a template with a schedule and an approval is made, run and approved in the browser alone', async () => {
    const page = await platform.signedIn('/workers', { timezoneId: 'Europe/Berlin' });
    await page.getByRole('link', { name: 'Begin with a template' }).click();
    await page.getByRole('link', { name: 'Nightly clean-up' }).click();
    await page.getByText('Next times, daily at 2:30, by the clock of Berlin').waitFor();
    await page.getByLabel('At', { exact: true }).fill('03:15');
    await page.getByText('daily at 3:15').waitFor();
    await page.getByRole('button', { name: 'Make the worker' }).click();
    await page.getByText('Daily at 3:15, Berlin').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/runs\/run_/);
    const runId = idIn(page.url());
    await until(async () => (await statusOf(runId)) === 'pending_approval', { deadlineMs: 20_000 });
    await page.getByRole('link', { name: /Approvals/ }).click();
    await page.getByRole('heading', { name: /^Remove 2 items/, level: 2 }).waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await until(async () => (await statusOf(runId)) === 'completed', { deadlineMs: 20_000 });

    await page.goto(platform.at('/workers'));
    await page
      .getByRole('row', { name: /Nightly clean-up/ })
      .getByText('Healthy')
      .waitFor();
    await page.getByRole('img', { name: /The last 1 runs: none failed/ }).waitFor();
  }, 60_000);

  test('a webhook is tried where it is made, with a signature once it needs one', async () => {
    const page = await platform.signedIn('/workers/new?template=chat-message');
    await page.getByRole('button', { name: 'Make the worker' }).click();
    await page.getByText('It has not run yet').waitFor();
    await page.getByRole('link', { name: 'Triggers' }).click();
    const panel = page.getByRole('region', { name: 'Webhook' });
    await panel.getByLabel('JSON to send').fill('{"title": "New order", "text": "number 17"}');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.getByText('Accepted').waitFor();
    await panel.getByRole('button', { name: 'Require signatures' }).click();
    await panel.getByText('Requests must be signed').waitFor();
    await panel.getByLabel('JSON to send').fill('{"title": "Signed", "text": "number 18"}');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.getByRole('link', { name: 'Open the run' }).click();
    await page.waitForURL(/\/runs\/run_/);
    await page.getByText('number 18').first().waitFor();
  }, 60_000);
});
