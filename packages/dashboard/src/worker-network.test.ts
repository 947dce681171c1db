import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildWorker } from './test/fake-workers';
import { getSaveBar, saveSettings } from './test/save-settings';

describe('the network rule of a worker', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.workers.list.push(
      buildWorker('report', { name: 'Report' }),
      buildWorker('watch', { name: 'Watch', network: { allow: ['api.github.com', '*.example.com:8443'] } }),
    );
  });
  const lastSent = () => site.api.workers.sent.at(-1)?.body;
  const host = (page: Awaited<ReturnType<typeof site.visitAsUser>>, at: number) =>
    page.getByRole('textbox', { name: `Host ${at}`, exact: true });

  test('axe finds nothing', async () => {
    const page = await site.visitAsUser('/workers/watch/settings');
    const panel = page.getByRole('region', { name: 'Network' });
    await panel.getByRole('button', { name: 'Add host' }).click();
    await host(page, 3).fill('https://files.example.com/');
    const errors = [{ path: 'network.allow.2', message: 'must be a host, such as api.example.com' }];
    site.api.workers.refuseNext = { status: 400, body: { detail: 'network is not valid', errors } };
    await saveSettings(page);
    await getSaveBar(page).getByText('Fix the invalid field above, then save again.').waitFor();
    await checkPage(page, 'worker-network');
  });

  test('hosts are entered in rows; a problem of one is shown beside it until it is edited', async () => {
    const page = await site.visitAsUser('/workers/report/settings');
    const panel = page.getByRole('region', { name: 'Network' });
    await panel.getByLabel('Allowed destinations').selectOption('Only these hosts');
    await host(page, 1).fill('api.github.com');
    await panel.getByRole('button', { name: 'Add host' }).click();
    await page.keyboard.type('*.com');
    await panel.getByRole('button', { name: 'Add host' }).click();
    // An empty row is left out, so what is refused is the second that was sent, and the third of the rows.
    await panel.getByRole('button', { name: 'Add host' }).click();
    await page.keyboard.type('db.example.com:8443');
    const errors = [{ path: 'network.allow.1', message: 'matches every host in a top-level domain' }];
    site.api.workers.refuseNext = { status: 400, body: { detail: 'network.allow.1: means every host', errors } };
    await page.keyboard.press('Enter');
    await getSaveBar(page).getByText('Fix the invalid field above, then save again.').waitFor();
    await expect(host(page, 2).evaluate((field) => field === document.activeElement)).resolves.toBe(true);
    await panel.getByText('matches every host in a top-level domain').waitFor();
    await page.keyboard.type('x');
    await panel.getByText('matches every host in a top-level domain').waitFor({ state: 'detached' });
    await host(page, 2).fill('*.example.com');
    await panel.getByRole('button', { name: 'Remove host 3' }).click();
    await saveSettings(page);
    await page.getByText('Network saved').waitFor();
    expect(lastSent()).toEqual({ network: { allow: ['api.github.com', '*.example.com', 'db.example.com:8443'] } });
    await page.getByText('Network access limited to 3 hosts').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Network access limited to 3 hosts').waitFor({ state: 'detached' });
    expect(lastSent()).toEqual({ network: 'public' });
  });

  test('a pasted list becomes rows, and no network is a rule of its own', async () => {
    const page = await site.visitAsUser('/workers/report/settings');
    const panel = page.getByRole('region', { name: 'Network' });
    await panel.getByLabel('Allowed destinations').selectOption('Only these hosts');
    await host(page, 1).evaluate((field) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', 'a.example.com\nb.example.com, c.example.com\n');
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    });
    await expect(host(page, 3).inputValue()).resolves.toBe('c.example.com');
    await panel.getByLabel('Allowed destinations').selectOption('No network access');
    await panel.getByText('All requests from code are blocked').waitFor();
    await saveSettings(page);
    await page.getByText('Network saved').waitFor();
    expect(lastSent()).toEqual({ network: 'none' });
    await page.locator('main').getByText('No network access', { exact: true }).first().waitFor();
  });

  test('a viewer reads the hosts', async () => {
    site.api.accounts.me.role = 'viewer';
    for (const one of site.api.accounts.me.workspaces) one.role = 'viewer';
    const page = await site.visitAsUser('/workers/watch/settings');
    await expect(host(page, 2).inputValue()).resolves.toBe('*.example.com:8443');
    await expect(host(page, 2).isDisabled()).resolves.toBe(true);
    await expect(page.getByRole('region', { name: 'Network' }).getByRole('button').count()).resolves.toBe(0);
    await page.getByText('Network access limited to 2 hosts').waitFor();
  });
});
