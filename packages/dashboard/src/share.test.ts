import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { buildStep, buildWorkerRun, type FakeWorkerRun } from './test/fake-worker-runs';

describe('share links', () => {
  const site = testSite();

  function add(fields: Parameters<typeof buildWorkerRun>[0] = {}): FakeWorkerRun {
    const fake = buildWorkerRun({ steps: [buildStep(1, 'read the orders')], ...fields });
    site.api.workerRuns.push(fake);
    return fake;
  }
  const ended = { completed_at: new Date().toISOString(), duration_ms: 2_400 };
  function share({ run }: FakeWorkerRun): string {
    const at = new Date().toISOString();
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    site.api.shares.links.push({
      id: 'shl_1',
      run_id: run.id,
      created_by: 'Ada',
      created_at: at,
      expires_at,
      token: 'shr_good',
    });
    return `${site.api.origin}/shared/shr_good`;
  }

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const fake = add({ ...ended, status: 'completed', output: { note: 'All well.' } });
    site.api.emit(fake, 'log', { level: 'info', text: '12 rows read', at: new Date().toISOString() });
    const page = await site.visit();
    await page.goto(share(fake));
    await page.getByText('All well.').waitFor();
    await page.getByRole('log').getByText('12 rows read').waitFor();
    await checkPage(page, 'shared-run');
    const own = await site.visitAsUser(`/runs/${fake.run.id}`);
    await clickButtons(own, 'Share…', 'Create link');
    await own.getByText('/shared/shr_').waitFor();
    await checkPage(own, 'share-dialog');
  });

  test('a link is created by keyboard, opened by a visitor who follows the run live, and revoked', async () => {
    const fake = add();
    const page = await site.visitAsUser(`/runs/${fake.run.id}`);
    await page.getByRole('button', { name: 'Share…' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Share this run' });
    await dialog.getByLabel('Link expires after').selectOption('1 day');
    await dialog.getByRole('button', { name: 'Create link' }).focus();
    await page.keyboard.press('Enter');
    const url = await dialog.getByText('/shared/shr_').textContent();
    const [link] = site.api.shares.links;
    expect(Date.parse(link?.expires_at ?? '') - Date.parse(link?.created_at ?? '')).toBe(86_400_000);

    const stranger = await site.visit();
    await stranger.goto(url ?? '');
    await stranger.getByRole('heading', { level: 1, name: 'Price watch' }).waitFor();
    expect(await stranger.locator('meta[name="robots"]').getAttribute('content')).toBe('noindex, nofollow');
    site.api.emit(fake, 'log', { level: 'info', text: 'adding up' });
    await stranger.getByRole('log').getByText('adding up').waitFor();
    Object.assign(fake.run, ended, { status: 'completed', output: { note: 'Done.' } });
    site.api.emit(fake, 'done', { status: 'completed' });
    await stranger.getByText('Done.').waitFor();
    expect(await stranger.getByText('north').count()).toBe(0);
    expect(site.api.requests.filter(({ line }) => line.includes('/api/runs/')).length).toBeGreaterThan(0);

    await clickButtons(dialog, 'Revoke link created by Ada', 'Revoke now');
    await dialog.getByText('Active links').waitFor({ state: 'detached' });
    await stranger.reload();
    await stranger.getByRole('heading', { name: 'This link isn’t valid' }).waitFor();
  });

  test('a viewer cannot share', async () => {
    const [ops] = site.api.accounts.me.workspaces;
    if (!ops) throw new Error('no sample');
    ops.role = 'viewer';
    const page = await site.visitAsUser(`/runs/${add().run.id}`);
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    expect(await page.getByRole('button', { name: 'Share…' }).count()).toBe(0);
    ops.role = 'owner';
  });
});
