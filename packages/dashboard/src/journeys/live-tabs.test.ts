import type { Page } from 'playwright-core';
import { checkPage } from '../test/check-page';
import { testPlatform } from '../test/open-platform';

const PATHS = [
  '/',
  '/workers',
  '/runs',
  '/approvals',
  '/automations',
  '/contexts',
  '/connections',
  '/secrets',
  '/alerts',
];
const NAVIGATIONS = 20;

describe('nine tabs', () => {
  const platform = testPlatform({ hasBackForwardCache: true });

  /** Starts a run that waits for an approval. @returns the id of the run */
  async function startWaitingRun(): Promise<string> {
    const { status, body } = await platform.call('POST', '/api/workers/letters/runs', {});
    expect(status).toBe(201);
    return body.run_id;
  }
  const approve = async (runId: string) => {
    const { body } = await platform.call('GET', `/api/runs/${runId}`);
    const { status } = await platform.call('POST', `/api/approvals/${body.approvals[0].id}/approve`, {});
    expect(status).toBe(200);
  };
  const waitForCount = async (tabs: Page[], count: number) => {
    const name = count ? new RegExp(`^Approvals.*${count} pending`) : /^Approvals$/;
    for (const tab of tabs) await tab.getByRole('link', { name }).first().waitFor();
  };

  test('each shows the changes of others, also after twenty navigations back and forth', async () => {
    const code = 'def run(context):\n    return context.approve("Send the letters?")\n';
    const files = [{ path: 'main.py', content: code }];
    await platform.call('POST', '/api/workers', { id: 'letters', name: 'Letters', files });
    const tabs: Page[] = [];
    for (const path of PATHS) tabs.push(await platform.visitAsOwner(path));
    await waitForCount(tabs, 0);
    const runId = await startWaitingRun();
    await waitForCount(tabs, 1);

    const [moving] = tabs as [Page];
    for (const path of ['/runs', '/workers']) {
      await moving.goto(platform.at(path));
      await moving.getByRole('heading', { level: 1 }).waitFor();
    }
    // Chromium restores each page from its cache; its headless shell has none, and loads them anew.
    for (let at = 0; at < NAVIGATIONS; at++) {
      await (at % 2 ? moving.goForward({ waitUntil: 'commit' }) : moving.goBack({ waitUntil: 'commit' }));
      await moving.getByRole('heading', { name: at % 2 ? 'Workers' : 'Runs', level: 1 }).waitFor();
    }
    await approve(runId);
    await waitForCount(tabs, 0);
    await startWaitingRun();
    await waitForCount(tabs, 1);
    for (const [index, tab] of tabs.entries()) await checkPage(tab, `tab-${index + 1}`);
  });
});
