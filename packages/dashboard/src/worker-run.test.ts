import { chromiumPath, testSite } from './test/browser';
import { checkPage, LOOKS } from './test/check-page';
import { newApproval, newApprovals } from './test/fake-approvals';
import { type FakeWorkerRun, newStep, newWorkerRun } from './test/fake-worker-runs';

const withBrowser = chromiumPath ? describe : describe.skip;

withBrowser('the page of a worker’s run', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.workerRuns.length = 0;
    site.api.approvals = newApprovals();
    site.api.accounts.me.role = 'owner';
  });

  function add(fields: Parameters<typeof newWorkerRun>[0] = {}): FakeWorkerRun {
    const fake = newWorkerRun(fields);
    site.api.workerRuns.push(fake);
    return fake;
  }
  const pageOf = ({ run }: FakeWorkerRun) => `/runs/${run.id}`;
  const ended = { completed_at: new Date().toISOString(), duration_ms: 2_400 };
  const say = (fake: FakeWorkerRun, level: string, text: string) =>
    site.api.emit(fake, 'log', { stream: 'stdout', level, text, at: new Date().toISOString() });

  const failedStep = newStep(3, 'compare them', {
    status: 'failed',
    error: { type: 'ModuleNotFoundError', message: "No module named 'requests'" },
  });
  const addFailed = () =>
    add({
      ...ended,
      ...{ status: 'failed', error_code: 'exception', error_type: 'ModuleNotFoundError' },
      error: "No module named 'requests': declare the package that has it in python_dependencies",
      error_trace: 'File "main.py", line 12, in run\n    import requests',
      steps: [
        newStep(1, 'read the orders'),
        newStep(2, 'fetch prices', { kind: 'call', run_id: 'run_called' }),
        failedStep,
      ],
      attempt: 2,
    });

  const addWaiting = () => {
    const approval = newApproval('apr_w', { run_id: 'run_w', form: null, title: 'Order 40 kg of coffee?' });
    site.api.approvals.list.push(newApproval('apr_other', { title: 'Another?' }), approval);
    const asked = { title: approval.title, message: null, requested_at: approval.requested_at };
    return add({
      status: 'pending_approval',
      steps: [
        newStep(1, 'read the orders'),
        newStep(2, approval.title, {
          ...{ kind: 'approve', status: 'pending', approval_id: approval.id, finished_at: null },
        }),
      ],
      approvals: [
        {
          ...{ id: approval.id, status: 'pending', ...asked, expires_at: approval.expires_at },
          ...{ decided_at: null, decided_by: null, reason: null },
        },
      ],
    });
  };

  test.each([...LOOKS, ['420 px', { viewport: { width: 420, height: 800 } }] as (typeof LOOKS)[number]])(
    'axe finds nothing and nothing is wider than the screen: %s',
    async (look, options) => {
      const failed = addFailed();
      for (const level of ['debug', 'info', 'warning', 'error']) say(failed, level, `a line of level ${level}`);
      const page = await site.signedIn(pageOf(failed), options);
      await page.getByRole('log').getByText('a line of level error').waitFor();
      await checkPage(page, 'worker-run-failed', look);

      const waiting = addWaiting();
      await page.goto(site.api.origin + pageOf(waiting));
      await page.getByText('It waits for a person').waitFor();
      await checkPage(page, 'worker-run-waiting', look);

      const completed = add({
        ...ended,
        status: 'completed',
        output: { total: 12, rows: [{ shop: 'north', price: 3.2 }], note: 'Cheaper than last week.' },
        artifacts: [
          { id: 'af_1', name: 'prices.csv', content_type: 'text/csv', size: 1_204, sha256: '0', download_url: '/x' },
        ],
      });
      say(completed, 'info', 'done in one go');
      await page.goto(site.api.origin + pageOf(completed));
      await page.getByText('Cheaper than last week.').waitFor();
      await page.getByRole('log').getByText('done in one go').waitFor();
      await checkPage(page, 'worker-run-completed', look);
    },
    60_000,
  );

  test('whoever follows the link of an alert signs in, and sees why and after which steps it failed', async () => {
    const failed = addFailed();
    say(failed, 'error', 'about to fail');
    const page = await site.signedIn(pageOf(failed));
    await page.getByRole('heading', { level: 1, name: 'Price watch' }).waitFor();
    await page.getByRole('paragraph').filter({ hasText: 'declare the package that has it in' }).waitFor();
    await page.getByText('Where in the code').click();
    await page.getByText('line 12, in run').waitFor();
    await page.getByRole('log').getByText('about to fail').waitFor();
    const steps = page.getByRole('region', { name: 'Steps' });
    await steps.getByText('Step · 900 ms').waitFor();
    await page.getByRole('heading', { name: 'ModuleNotFoundError in “compare them”' }).waitFor();
    await steps.getByRole('listitem').filter({ hasText: 'compare them' }).getByText('Failed').waitFor();
    await steps.getByText("ModuleNotFoundError: No module named 'requests'").waitFor();
    expect(await steps.getByRole('link', { name: 'fetch prices' }).getAttribute('href')).toBe('/runs/run_called');
    expect(await page.title()).toBe('Run of Price watch · Gantry');
  });

  test('a run is watched line by line and step by step until its result is there, over a lost connection', async () => {
    const fake = add({ status: 'queued', started_at: null, queue_position: 3 });
    const page = await site.signedIn(pageOf(fake));
    await page.getByText('Number 3 in the queue.').waitFor();
    Object.assign(fake.run, { status: 'running', started_at: fake.run.created_at, queue_position: null });
    site.api.emit(fake, 'status', { status: 'running' });
    await page.getByText('Running', { exact: true }).waitFor();
    say(fake, 'info', 'reading');
    await page.getByRole('log').getByText('reading').waitFor();
    fake.run.steps.push(newStep(1, 'read the orders'));
    site.api.emit(fake, 'step', { ordinal: 1, kind: 'step', name: 'read the orders' });
    await page.getByRole('region', { name: 'Steps' }).getByText('read the orders').waitFor();
    for (const watcher of fake.watchers) watcher.destroy();
    await page.getByText('Connection lost').waitFor();
    say(fake, 'info', 'adding up');
    await page.getByRole('log').getByText('adding up').waitFor();
    expect(await page.getByRole('log').getByText('reading').count()).toBe(1);
    Object.assign(fake.run, ended, { status: 'completed', output: { note: 'All well.' } });
    site.api.emit(fake, 'done', { status: 'completed' });
    await page.getByText('All well.').waitFor();
  });

  test('a run that waits for a person leads to that very decision', async () => {
    const page = await site.signedIn(pageOf(addWaiting()));
    await page.getByRole('link', { name: 'Decide' }).click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved: Order 40 kg of coffee?').waitFor();
    expect(site.api.approvals.decisions.map(({ line }) => line)).toEqual(['POST /api/approvals/apr_w/approve']);
  });

  test('by keyboard: a run is cancelled, and run again with the same inputs', async () => {
    const fake = add();
    const page = await site.signedIn(pageOf(fake));
    await page.getByRole('button', { name: 'Cancel this run' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The run was stopped before it ended.').waitFor();
    await page.getByRole('button', { name: 'Run again with these inputs' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('A replay').waitFor();
    const again = site.api.workerRuns.at(-1) as FakeWorkerRun;
    expect(new URL(page.url()).pathname).toBe(pageOf(again));
    await page.getByRole('link', { name: fake.run.id }).click();
    await page.getByText('The run was stopped before it ended.').waitFor();
  });

  test('whoever may only read is offered neither', async () => {
    const [ops] = site.api.accounts.me.workspaces;
    if (!ops) throw new Error('no sample');
    site.api.accounts.me.role = 'viewer';
    ops.role = 'viewer';
    const page = await site.signedIn(pageOf(add()));
    await page.getByText('Its schedule').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel this run' }).count()).toBe(0);
    await page.goto(site.api.origin + pageOf(addFailed()));
    await page.getByText('Where in the code').waitFor();
    expect(await page.getByRole('button', { name: 'Run again' }).count()).toBe(0);
    ops.role = 'owner';
  });

  test('a run of another workspace of this person is found there; an unknown one is not', async () => {
    const page = await site.signedIn(pageOf(add({ workspace_id: 'ws_lab' })));
    await page.getByRole('heading', { name: 'This run belongs to The laboratory' }).waitFor();
    await page.getByRole('button', { name: 'Switch to The laboratory' }).click();
    await page.getByRole('heading', { level: 1, name: 'Price watch' }).waitFor();
    await page.goto(`${site.api.origin}/runs/run_unknown`);
    await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
  });

  test('a file that it has made is saved under its name', async () => {
    site.api.artifacts.set('af_1', { contentType: 'text/csv', body: Buffer.from('a,b') });
    const fake = add({ ...ended, status: 'completed', output: {} });
    fake.run.artifacts = [
      { id: 'af_1', name: 'prices.csv', content_type: 'text/csv', size: 3, sha256: '0', download_url: '/x' },
    ];
    const page = await site.signedIn(pageOf(fake));
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download prices.csv' }).click();
    expect((await saved).suggestedFilename()).toBe('prices.csv');
  });
});
