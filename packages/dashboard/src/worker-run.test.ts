import { waitUntil } from '@gantry/testing';
import type { Locator, Page } from 'playwright-core';
import { testSite } from './test/browser';
import { APPEARANCES, type Appearance, checkPage, PHONE_APPEARANCE } from './test/check-page';
import { buildApproval } from './test/fake-approvals';
import { buildStep, buildWorkerRun, type FakeWorkerRun } from './test/fake-worker-runs';

describe('the page of a worker’s run', () => {
  const site = testSite();

  test('runs that nine tabs follow take turns over three connections, and each shows its log', async () => {
    const fakes = Array.from({ length: 9 }, (_, i) => add({ id: `run_tab${i}`, status: 'running' }));
    const openStreams = () => fakes.reduce((sum, { watchers }) => sum + watchers.size, 0);
    const first = await site.visitAsUser('/');
    const tabs = await Promise.all(
      fakes.map(async (fake) => {
        const page = await first.context().newPage();
        await page.goto(site.api.origin + toRunPath(fake));
        return { fake, page };
      }),
    );
    for (const round of ['one', 'two']) {
      for (const [i, { fake }] of tabs.entries()) emitLog(fake, 'info', `Line ${round} of run ${i}`);
      for (const [i, { page }] of tabs.entries()) {
        await page.bringToFront();
        await page.getByText(`Line ${round} of run ${i}`).first().waitFor();
      }
    }
    await waitUntil(() => openStreams() === 3);
  });

  function add(fields: Parameters<typeof buildWorkerRun>[0] = {}): FakeWorkerRun {
    const fake = buildWorkerRun(fields);
    site.api.workerRuns.push(fake);
    return fake;
  }
  const toRunPath = ({ run }: FakeWorkerRun) => `/runs/${run.id}`;
  const ended = { completed_at: new Date().toISOString(), duration_ms: 2_400 };
  const emitLog = (fake: FakeWorkerRun, level: string, text: string) =>
    site.api.emit(fake, 'log', { stream: 'stdout', level, text, at: new Date().toISOString() });

  const failedStep = buildStep(3, 'compare them', {
    status: 'failed',
    error: { type: 'ModuleNotFoundError', message: "No module named 'requests'" },
  });
  const addFailed = () =>
    add({
      ...ended,
      status: 'failed',
      error_code: 'exception',
      error_type: 'ModuleNotFoundError',
      error: "No module named 'requests': declare the package that has it in python_dependencies",
      error_trace: 'File "main.py", line 12, in run\n    import requests',
      steps: [
        buildStep(1, 'read the orders'),
        buildStep(2, 'fetch prices', { kind: 'call', run_id: 'run_called' }),
        failedStep,
      ],
      attempt: 2,
    });

  const addWaiting = () => {
    const approval = buildApproval('apr_w', { run_id: 'run_w', form: null, title: 'Order 40 kg of coffee?' });
    site.api.approvals.list.push(buildApproval('apr_other', { title: 'Another?' }), approval);
    const asked = { title: approval.title, message: null, requested_at: approval.requested_at };
    return add({
      status: 'pending_approval',
      steps: [
        buildStep(1, 'read the orders'),
        buildStep(2, approval.title, {
          kind: 'approve',
          status: 'pending',
          approval_id: approval.id,
          finished_at: null,
        }),
      ],
      approvals: [
        {
          id: approval.id,
          status: 'pending',
          ...asked,
          expires_at: approval.expires_at,
          decided_at: null,
          decided_by: null,
          reason: null,
          calls: null,
        },
      ],
    });
  };

  const looks: Appearance[] = [
    ...APPEARANCES,
    { ...PHONE_APPEARANCE, name: '420 px', viewport: { width: 420, height: 800 }, isPhone: false },
  ];

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const failed = addFailed();
    for (const level of ['debug', 'info', 'warning', 'error']) emitLog(failed, level, `a line of level ${level}`);
    const page = await site.visitAsUser(toRunPath(failed));
    await page.getByRole('log').getByText('a line of level error').waitFor();
    await checkPage(page, 'worker-run-failed', looks);

    const waiting = addWaiting();
    await page.goto(site.api.origin + toRunPath(waiting));
    await page.getByText('Waiting for approval').waitFor();
    await checkPage(page, 'worker-run-waiting', looks);

    const completed = add({
      ...ended,
      status: 'completed',
      output: { total: 12, rows: [{ shop: 'north', price: 3.2 }], note: 'Cheaper than last week.' },
      artifacts: [
        { id: 'af_1', name: 'prices.csv', content_type: 'text/csv', size: 1_204, sha256: '0', download_url: '/x' },
      ],
    });
    emitLog(completed, 'info', 'done in one go');
    await page.goto(site.api.origin + toRunPath(completed));
    await page.getByText('Cheaper than last week.').waitFor();
    await page.getByRole('log').getByText('done in one go').waitFor();
    await checkPage(page, 'worker-run-completed', looks);
  });

  const getTimeline = (page: Page) => page.getByRole('region', { name: 'Timeline' });
  const getEntry = (page: Page, name: string | RegExp): Locator => getTimeline(page).getByRole('button', { name });

  test('a member who follows the link of an alert signs in, and sees why, where in the code, and after which steps it failed', async () => {
    const failed = addFailed();
    emitLog(failed, 'error', 'about to fail');
    const page = await site.visitAsUser(toRunPath(failed));
    await page.getByRole('heading', { level: 1, name: 'Price watch' }).waitFor();
    await page.getByRole('paragraph').filter({ hasText: 'declare the package that has it in' }).waitFor();
    await page.getByRole('figure').getByText('import requests').waitFor();
    await page.getByRole('figure').getByText('main.py, line 12').waitFor();
    await page.getByText('Stack trace').click();
    await page.getByText('line 12, in run').waitFor();
    await page.getByRole('log').getByText('about to fail').waitFor();
    await page.getByRole('heading', { name: 'ModuleNotFoundError in “compare them”' }).waitFor();
    await getEntry(page, 'Step: compare them, Failed').click();
    await getTimeline(page).getByText("ModuleNotFoundError: No module named 'requests'").waitFor();
    expect(await page.title()).toBe('Price watch run · Gantry');
  });

  test('the timeline shows attempts, steps, approvals and files in one order, and opens a called run as a tree', async () => {
    const called = add({
      ...ended,
      id: 'run_called',
      worker_id: 'prices',
      status: 'completed',
      trigger: 'call',
      steps: [buildStep(1, 'ask the shop')],
    });
    const asked = { title: 'Order it?', message: 'It is cheap today.', requested_at: buildStep(5, '').started_at };
    const caller = add({
      ...ended,
      status: 'completed',
      output: {},
      steps: [
        buildStep(1, 'read the orders', { result: { rows: 12 } }),
        buildStep(2, 'fetch prices', { kind: 'call', run_id: called.run.id }),
        buildStep(4, 'until morning', { kind: 'sleep' }),
        buildStep(5, 'Order it?', { kind: 'approve', approval_id: 'apr_1' }),
      ],
      approvals: [
        {
          id: 'apr_1',
          status: 'approved',
          ...asked,
          expires_at: asked.requested_at,
          decided_at: buildStep(6, '').started_at,
          decided_by: 'ada@example.com',
          reason: 'Cheap.',
          calls: null,
        },
      ],
    });
    const at = (ms: number) => new Date(Date.parse(caller.run.created_at) + ms).toISOString();
    site.api.emit(caller, 'status', { status: 'running', at: at(40) });
    site.api.emit(caller, 'artifact', {
      artifact_id: 'af_9',
      name: 'p.csv',
      content_type: 'text/csv',
      size: 3,
      at: at(3_900),
    });
    site.api.emit(caller, 'status', {
      status: 'pending_approval',
      at: at(4_000),
      waiting_for: { kind: 'approve' },
    });
    site.api.emit(caller, 'status', { status: 'queued', at: at(7_400) });
    site.api.emit(caller, 'status', { status: 'running', at: at(7_500) });
    site.api.emit(caller, 'done', { status: 'completed', at: at(8_000) });

    const page = await site.visitAsUser(toRunPath(caller));
    const items = getTimeline(page).getByRole('listitem');
    await items.filter({ hasText: 'Code: Resumed, Succeeded' }).waitFor();
    expect((await items.allTextContents()).map((text) => text.replace(/, .*/, ''))).toEqual([
      ...['Queue: Queued', 'Code: Attempt 1', 'Step: read the orders', 'Call: fetch prices', 'File: p.csv'],
      ...['Sleep: until morning', 'Approval: Order it?', 'Code: Resumed'],
    ]);
    await getEntry(page, /read the orders/).click();
    await getTimeline(page).getByText('rows:').waitFor();
    await getEntry(page, /Order it/).click();
    await getTimeline(page).getByText('It is cheap today.').waitFor();
    await getTimeline(page).getByText('ada@example.com').waitFor();
    await getEntry(page, /fetch prices/).click();
    await getEntry(page, /ask the shop/).waitFor();
    await getTimeline(page).getByRole('link', { name: 'View run' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'prices' }).waitFor();
  });

  test('a run is watched line by line and step by step until its result is there, over a lost connection', async () => {
    const fake = add({ status: 'queued', started_at: null, queue_position: 3 });
    const page = await site.visitAsUser(toRunPath(fake));
    await page.getByText('Position 3 in the queue.').waitFor();
    Object.assign(fake.run, { status: 'running', started_at: fake.run.created_at, queue_position: null });
    site.api.emit(fake, 'status', { status: 'running' });
    await page.getByText('Running', { exact: true }).waitFor();
    emitLog(fake, 'info', 'reading');
    await page.getByRole('log').getByText('reading').waitFor();
    fake.run.steps.push(buildStep(1, 'read the orders'));
    site.api.emit(fake, 'step', { ordinal: 1, kind: 'step', name: 'read the orders' });
    await getEntry(page, /read the orders/).waitFor();
    for (const watcher of fake.watchers) watcher.destroy();
    await page.getByText('Connection lost').waitFor();
    emitLog(fake, 'info', 'adding up');
    await page.getByRole('log').getByText('adding up').waitFor();
    expect(await page.getByRole('log').getByText('reading').count()).toBe(1);
    Object.assign(fake.run, ended, { status: 'completed', output: { note: 'All well.' } });
    site.api.emit(fake, 'done', { status: 'completed' });
    await page.getByText('All well.').waitFor();
  });

  test('a run that waits for a person is decided on its own page', async () => {
    const page = await site.visitAsUser(toRunPath(addWaiting()));
    await page.getByRole('region', { name: 'Order 40 kg of coffee?' }).getByText('Waiting for approval.').waitFor();
    await page.getByLabel('Reason').fill('Enough left.');
    const isDecided = page.waitForResponse((response) => response.url().includes('/reject'));
    await page.getByRole('button', { name: 'Reject' }).click();
    await isDecided;
    const [decision] = site.api.approvals.decisions;
    expect(decision?.line).toBe('POST /api/approvals/apr_w/reject');
    expect(decision?.body).toEqual({ reason: 'Enough left.' });
  });

  test('by keyboard: a run is cancelled, run again, and run with other inputs and its original code', async () => {
    const fake = add();
    const page = await site.visitAsUser(toRunPath(fake));
    await page.getByRole('button', { name: 'Cancel run' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The run was stopped before it finished.').waitFor();
    await page.getByRole('button', { name: 'Run again' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Replay').first().waitFor();
    const again = site.api.workerRuns.at(-1) as FakeWorkerRun;
    expect(new URL(page.url()).pathname).toBe(toRunPath(again));
    await page.getByRole('link', { name: fake.run.id }).click();
    await page.getByRole('button', { name: 'Run with changes…' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Run with changes' });
    await dialog.getByLabel('Code').selectOption('Version 4 (used by this run)');
    await dialog.getByLabel('Shop').fill('');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByText('This field is required.').waitFor();
    await dialog.getByLabel('Shop').fill('south');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname !== toRunPath(fake));
    const changed = site.api.workerRuns.at(-1)?.run;
    expect(changed).toMatchObject({ input: { shop: 'south', limit: 20 }, worker_version: 4 });
  });

  test('a run shows who or what started it', async () => {
    const words = { usr_ada: 'You', usr_bob: 'bob@example.com', tok_1: 'API token' };
    for (const [created_by, word] of Object.entries(words)) {
      const page = await site.visitAsUser(toRunPath(add({ trigger: 'api', created_by })));
      await page.getByRole('term').filter({ hasText: 'Started by' }).waitFor();
      await page.getByRole('definition').filter({ hasText: word }).waitFor();
    }
    const page = await site.visitAsUser(toRunPath(add({ trigger: 'replay', created_by: 'usr_bob' })));
    await page.getByRole('definition').filter({ hasText: 'Replay by bob@example.com' }).waitFor();
  });

  test('a viewer can neither run nor cancel', async () => {
    const [ops] = site.api.accounts.me.workspaces;
    if (!ops) throw new Error('no sample');
    site.api.accounts.me.role = 'viewer';
    ops.role = 'viewer';
    const page = await site.visitAsUser(toRunPath(add()));
    await page.getByText('Schedule').first().waitFor();
    expect(await page.getByRole('button', { name: 'Cancel run' }).count()).toBe(0);
    await page.goto(site.api.origin + toRunPath(addFailed()));
    await page.getByText('Stack trace').waitFor();
    expect(await page.getByRole('button', { name: 'Run again' }).count()).toBe(0);
    ops.role = 'owner';
  });

  test('a run in another workspace of this person is found there; an unknown one is not', async () => {
    const page = await site.visitAsUser(toRunPath(add({ workspace_id: 'ws_lab' })));
    await page.getByRole('heading', { name: 'This run belongs to The laboratory' }).waitFor();
    await page.getByRole('button', { name: 'Switch to The laboratory' }).click();
    await page.getByRole('heading', { level: 1, name: 'Price watch' }).waitFor();
    await page.goto(`${site.api.origin}/runs/run_unknown`);
    await page.getByRole('heading', { name: 'Run not found' }).waitFor();
  });

  test('an image among its outputs is rendered, though another origin serves it behind the session', async () => {
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    site.api.artifacts.set('af_plot', { contentType: 'image/png', body: Buffer.from(dot, 'base64') });
    const fake = add({ ...ended, status: 'completed', output: { plot: 'plot.png' } });
    const artifact = { id: 'af_plot', name: 'plot.png', content_type: 'image/png', size: 70 };
    fake.run.artifacts = [{ ...artifact, sha256: '0', download_url: '/x' }];
    const page = await site.visitAsUser(toRunPath(fake));
    const picture = page.getByRole('region', { name: 'Result' }).getByRole('img', { name: 'Plot' });
    await picture.waitFor();
    expect(await picture.getAttribute('src')).toMatch(/^blob:/);
    expect(await picture.evaluate((img) => (img as HTMLImageElement).naturalWidth)).toBe(1);
  });

  test('a file that it created is saved under its name', async () => {
    site.api.artifacts.set('af_1', { contentType: 'text/csv', body: Buffer.from('a,b\n1,2') });
    const fake = add({ ...ended, status: 'completed', output: {} });
    fake.run.artifacts = [
      { id: 'af_1', name: 'prices.csv', content_type: 'text/csv', size: 3, sha256: '0', download_url: '/x' },
    ];
    const page = await site.visitAsUser(toRunPath(fake));
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download prices.csv' }).click();
    expect((await saved).suggestedFilename()).toBe('prices.csv');
    await page.getByRole('button', { name: 'Preview prices.csv' }).click();
    await page.getByRole('columnheader', { name: 'a' }).waitFor();
  });
});
