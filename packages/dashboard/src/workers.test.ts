import { waitUntil } from '@gantry/testing';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { buildRunItem, buildWorker, createWorkerState } from './test/fake-workers';
import { fillFields } from './test/fill-fields';
import { getSaveBar, saveSettings } from './test/save-settings';

const schedule = {
  type: 'cron' as const,
  cron: '0 9 * * MON-FRI',
  timezone: 'Europe/Berlin',
  misfire: 'fire_once' as const,
  inputs: { shop: 'north' },
  next_run_at: new Date(Date.now() + 40_000_000).toISOString(),
  last_scheduled_at: new Date(Date.now() - 40_000_000).toISOString(),
  missed_fires: 2,
};
const webhook = {
  type: 'webhook' as const,
  webhook_url: 'https://gantry.example.com/api/webhooks/orders',
  signed: false,
};
const event = { type: 'event' as const, on: ['run.failed' as const], source_id: null };
const inputs = [
  { name: 'shop', label: 'Shop', type: 'text', required: true },
  { name: 'limit', label: 'Rows', type: 'integer', minimum: 1, default: 50 },
];

describe('workers', () => {
  const site = testSite();
  beforeEach(() => {
    for (const one of site.api.accounts.me.workspaces) if (one.id === 'ws_ops') one.role = 'owner';
    const workers = createWorkerState();
    site.api.workers = workers;
    const next = { next_run_at: schedule.next_run_at };
    workers.list.push(
      buildWorker('price-watch', {
        name: 'Price watch',
        description: 'Compares the prices of three shops.',
        tags: ['prices', 'sales'],
        triggers: [schedule, webhook, event],
        trigger_type: 'cron',
        inputs,
        health: 'needs_attention',
        ...next,
        last_sandbox: { mode: 'fresh', reason: 'its import reads the secret SHOP_KEY' },
      }),
      buildWorker('orders', { name: 'Orders to the warehouse', triggers: [webhook], tags: ['sales'] }),
      buildWorker('clean-up', {
        name: 'Nightly clean-up',
        triggers: [{ ...schedule, cron: '30 2 * * *' }],
        ...next,
        health: 'missing_secret',
        missing_secrets: ['CRM_TOKEN'],
        secrets: ['CRM_TOKEN'],
        owner_id: 'usr_bob',
        inputs,
        python_dependencies: ['requests==2.32.5'],
        connections: ['github'],
        expose: ['CRM_TOKEN'],
      }),
      buildWorker('on-failure', { name: 'Tell the team', triggers: [event], status: 'paused' }),
      buildWorker('report', { name: 'Quarterly report', health: 'ready', owner_id: 'tok_1' }),
      buildWorker('old', { name: 'Old import', status: 'archived' }),
    );
    for (const worker of ['price-watch', 'orders', 'clean-up']) {
      for (let at = 0; at < 24; at++) workers.runs.push(buildRunItem(worker, at));
    }
  });
  type Visitor = Awaited<ReturnType<typeof site.visitAsUser>>;
  const listNames = (page: Visitor) =>
    page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.querySelector('a')?.textContent));
  const lastSent = () => site.api.workers.sent.at(-1);

  const openPage = async (page: Visitor, path: string, text: string) => {
    await page.goto(site.api.origin + path);
    await page.getByText(text).first().waitFor();
  };

  test('axe finds nothing in the list and the templates', async () => {
    const page = await site.visitAsUser('/workers');
    await page.getByRole('link', { name: 'Price watch' }).waitFor();
    await page.getByRole('checkbox', { name: 'Select Price watch' }).check();
    await checkPage(page, 'workers');
    await openPage(page, '/workers/new', 'A worker runs on a schedule');
    await checkPage(page, 'worker-templates');
    await openPage(page, '/workers/new?template=nightly-clean-up', 'Require approval before removal');
    await page.getByRole('textbox', { name: 'Code in main.py' }).waitFor();
    await checkPage(page, 'worker-template');
    site.api.workers.list.splice(0, Number.POSITIVE_INFINITY, buildWorker('x', { status: 'archived' }));
    await openPage(page, '/workers', 'Create your first worker');
    await checkPage(page, 'workers-none');
  });

  test('axe finds nothing in the first tab of a worker and its alerts', async () => {
    const page = await site.visitAsUser('/workers/price-watch');
    await page.getByText('Last run failed').waitFor();
    await page.getByRole('img', { name: /^Duration/ }).waitFor();
    await page.getByText('for this run (its import reads the secret SHOP_KEY)').waitFor();
    await checkPage(page, 'worker');
    await openPage(page, '/workers/report', 'No runs yet');
    await checkPage(page, 'worker-new');
    await openPage(page, '/workers/price-watch/alerts', 'No alerts for this worker yet');
    await checkPage(page, 'worker-alerts');
  });

  test('axe finds nothing in triggers and settings', async () => {
    const page = await site.visitAsUser('/workers/price-watch/triggers');
    await page.getByText('No accepted requests yet. Rejected requests').waitFor();
    await page.getByText('(Berlin time)').waitFor();
    await checkPage(page, 'worker-triggers');
    await page.getByRole('button', { name: 'Edit schedule', exact: true }).click();
    await page.getByRole('button', { name: 'Add event' }).click();
    await page.getByText('Inputs for scheduled runs').waitFor();
    await checkPage(page, 'worker-triggers-edited');
    await openPage(page, '/workers/clean-up/settings', 'Delete worker');
    await checkPage(page, 'worker-settings');
    await page.getByRole('button', { name: 'Delete worker' }).click();
    await checkPage(page, 'worker-delete');
  });

  test('the list is filtered and sorted at once, and a link leads to the same view', async () => {
    const page = await site.visitAsUser('/workers');
    await page.getByRole('link', { name: 'Price watch' }).waitFor();
    await expect(listNames(page)).resolves.toEqual([
      ...['Nightly clean-up', 'Orders to the warehouse', 'Price watch', 'Quarterly report', 'Tell the team'],
    ]);
    await page.getByText('Weekdays at 9:00, Berlin').waitFor();
    const shows = (...names: string[]) => waitUntil(async () => String(await listNames(page)) === String(names));
    await page.getByLabel('Status', { exact: true }).selectOption('Needs attention');
    await shows('Nightly clean-up', 'Price watch');
    await page.getByRole('button', { name: 'Health' }).click();
    await shows('Price watch', 'Nightly clean-up');
    expect(new URL(page.url()).search).toBe('?status=attention&sort=health');
    await page.reload();
    await shows('Price watch', 'Nightly clean-up');
    await page.keyboard.press('/');
    await page.keyboard.type('zzz');
    await page.getByText('No matching workers').waitFor();
    await clickButtons(page, 'Show all workers', 'Show only workers tagged prices');
    await shows('Price watch');
    await page.goto(`${site.api.origin}/workers?status=archived`);
    await page.getByRole('link', { name: 'Old import' }).waitFor();
  });

  test('several are paused together, and resumed by undo', async () => {
    const page = await site.visitAsUser('/workers');
    await page.getByRole('link', { name: 'Price watch' }).waitFor();
    // The third row.
    await page.keyboard.type('jjjx');
    await expect(page.getByRole('checkbox', { name: 'Select Price watch' }).isChecked()).resolves.toBe(true);
    await page.getByRole('checkbox', { name: 'Select Orders to the warehouse' }).check();
    await page.getByRole('toolbar').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('2 workers paused').waitFor();
    const listPausedIds = () => site.api.workers.list.filter(({ status }) => status === 'paused').map(({ id }) => id);
    expect(listPausedIds()).toEqual(['price-watch', 'orders', 'on-failure']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('2 workers resumed').waitFor();
    expect(listPausedIds()).toEqual(['on-failure']);
  });

  test('the checkbox in the head selects the rows that are shown, and Shift selects a range', async () => {
    const [worker] = site.api.workers.list;
    if (!worker) throw new Error('the sample has no worker');
    site.api.workers.list = Array.from({ length: 60 }, (_, index) => ({
      ...worker,
      id: `w-${index}`,
      name: `Worker ${index}`,
    }));
    const page = await site.visitAsUser('/workers');
    const select = (name: string) => page.getByRole('checkbox', { name, exact: true });
    await select('Select all').check();
    await page.getByRole('toolbar').getByText('50 selected').waitFor();
    await select('Select all').uncheck();
    await select('Select Worker 2').check();
    await select('Select Worker 9').click({ modifiers: ['Shift'] });
    await page.getByRole('toolbar').getByText('8 selected').waitFor();
    await page.getByRole('button', { name: 'Show 10 more of 60' }).click();
    await select('Select Worker 59').check();
    await page.getByRole('toolbar').getByText('9 selected').waitFor();
  });

  test('a run is started from the list, with the form of its inputs', async () => {
    const page = await site.visitAsUser('/workers');
    await page.getByRole('button', { name: 'Run Price watch' }).click();
    const dialog = page.getByRole('dialog', { name: 'Run Price watch' });
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByText('This field is required.').waitFor();
    await dialog.getByRole('button', { name: 'Insert sample' }).click();
    await dialog.getByText('7').or(dialog.locator('input[value="7"]')).first().waitFor();
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL('**/runs/run_started');
    expect(lastSent()?.body).toEqual({ inputs: { shop: 'south', limit: 7 } });
  });

  test('the inputs of an earlier run are used again, and a day of a chart leads to its runs', async () => {
    const page = await site.visitAsUser('/workers/price-watch');
    await page.getByRole('button', { name: 'Use these inputs' }).nth(2).click();
    await expect(page.getByLabel('Shop').inputValue()).resolves.toBe('north');
    await expect(page.getByLabel('Rows').inputValue()).resolves.toBe('22');
    await page
      .getByRole('img', { name: /^Runs,/ })
      .locator('.u-over')
      .click();
    await page.waitForURL(/\/runs\?worker=price-watch&from=\d{4}-\d\d-\d\d&to=/);
  });

  test('a worker is paused in its header, and a viewer sees no button that the server would refuse', async () => {
    const page = await site.visitAsUser('/workers/orders');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByText('This worker is paused').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();

    site.api.accounts.me.role = 'viewer';
    for (const path of ['', '/triggers', '/settings']) {
      await page.goto(`${site.api.origin}/workers/orders${path}`);
      await page.getByRole('heading', { level: 2 }).first().waitFor();
      await expect(page.locator('main').getByRole('button').allTextContents()).resolves.toEqual(
        path === '/triggers' ? ['Copy'] : [],
      );
    }
  });

  test('code written by an agent is read and approved on the page of its worker', async () => {
    const waiting = { status: 'waiting' as const, approved_by: null, approved_by_label: null, approved_at: null };
    const made = { name: 'Made by the chat', secrets: ['CRM_TOKEN'], version_approval: waiting };
    site.api.workers.list.push(buildWorker('made', made));
    const page = await site.visitAsUser('/workers/made');
    await page.getByText('Version 3 is waiting for your approval').waitFor();
    await page.getByRole('button', { name: 'Review code' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('CRM_TOKEN').waitFor();
    await dialog.getByText('Read the tests first.').waitFor();
    await dialog.getByRole('button', { name: 'Approve version 3' }).click();
    await page.getByText('Version 3 of Made by the chat approved').waitFor();
    expect(lastSent()?.line).toBe('POST /api/workers/made/versions/3f0c5b3e/approve');
    await page.getByText('is waiting for your approval').waitFor({ state: 'detached' });
  });

  test('for a deleted skill the page says that its copy keeps running', async () => {
    site.api.workers.list.push(buildWorker('copy', { name: 'Copy', runner: 'agent', skill_deleted: true }));
    const page = await site.visitAsUser('/workers/copy');
    await page.getByText('Skill deleted').waitFor();
  });

  test('a schedule is created without cron, shows its next times, and is removed again', async () => {
    const page = await site.visitAsUser('/workers/report/triggers');
    await page.getByRole('button', { name: 'Add schedule' }).click();
    await page.getByLabel('Frequency').selectOption('Every week');
    await page.getByLabel('Day of week', { exact: true }).selectOption('Wednesday');
    await page.getByLabel('Time', { exact: true }).fill('06:30');
    await page.getByLabel('Time zone').fill('Europe/Lisbon');
    await page.getByText('Wednesdays at 6:30 (Lisbon time)').waitFor();
    await page.getByLabel('Frequency').selectOption('Cron expression');
    await page.getByLabel('Cron expression').fill('0 9');
    await page.getByText('cron: needs five fields; this has 2').waitFor();
    await page.getByLabel('Cron expression').fill('30 6 * * WED');
    await page.getByRole('button', { name: 'Save schedule' }).click();
    await page.getByText('Wednesdays at 6:30, Lisbon').first().waitFor();
    const cron = { type: 'cron', cron: '30 6 * * WED', timezone: 'Europe/Lisbon', misfire: 'fire_once', inputs: {} };
    expect(lastSent()?.body).toEqual({ triggers: [cron] });
    await clickButtons(page, 'Remove schedule', 'Remove now');
    await page.getByText('No schedule. Add one to run this worker at set times').waitFor();
    expect(lastSent()?.body).toEqual({ triggers: [] });
  });

  test('a webhook is created and tested in place; its token is shown once', async () => {
    const page = await site.visitAsUser('/workers/price-watch/triggers');
    const panel = page.getByRole('region', { name: 'Webhook' });
    await panel.getByRole('button', { name: 'Create new token' }).click();
    await panel.getByRole('button', { name: 'Create token and revoke the old one' }).click();
    await panel.getByText('?token=whk_shown_once').waitFor();
    await panel.getByLabel('JSON body').fill('{"order": 17}');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.getByRole('link', { name: 'View run' }).waitFor();
    expect(lastSent()).toEqual({ line: 'POST /api/webhooks/price-watch', body: { order: 17 } });
    await panel.getByLabel('Token', { exact: true }).fill('wrong');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.getByText('the token is not right').waitFor();
    await page.reload();
    await panel.getByText('?token=…').waitFor();
  });

  test('events are added and removed without touching the other triggers', async () => {
    const page = await site.visitAsUser('/workers/orders/triggers');
    await page.getByRole('button', { name: 'Add event' }).click();
    await page.getByLabel('A run times out').check();
    await page.getByLabel('Source', { exact: true }).selectOption('Price watch');
    await page.getByRole('button', { name: 'Add event' }).click();
    await page.getByText('When a run fails or a run times out', { exact: true }).waitFor();
    await page.getByText('From Price watch').waitFor();
    expect(lastSent()?.body).toEqual({
      triggers: [
        { type: 'webhook', signed: false },
        { type: 'event', on: ['run.failed', 'run.timed_out'], source_id: 'price-watch' },
      ],
    });
  });

  test('a link leads to a part of the settings', async () => {
    const page = await site.visitAsUser('/workers/price-watch/settings#limits');
    const parts = page.getByRole('navigation', { name: 'Settings sections' });
    const isInView = (part: string) =>
      page.waitForFunction((id) => {
        const { top = 0 } = document.getElementById(id)?.getBoundingClientRect() ?? {};
        return top > 0 && top < 200;
      }, part);
    await isInView('limits');
    await parts.getByRole('link', { name: 'Access' }).click();
    await isInView('access');
    expect(await parts.locator('[aria-current]').allTextContents()).toEqual(['Access']);
  });

  test('changes of several parts are saved as one, and can be discarded', async () => {
    const page = await site.visitAsUser('/workers/price-watch/settings');
    expect(await getSaveBar(page).count()).toBe(0);
    await page.getByRole('textbox', { name: 'Packages' }).fill('pandas');
    await page.getByRole('region', { name: 'Limits' }).getByLabel('Concurrent runs').fill('3');
    await getSaveBar(page).getByText('Packages, Limits').waitFor();
    await checkPage(page, 'worker-settings-changed');
    await saveSettings(page);
    await page.getByText('Settings saved').waitFor();
    expect(lastSent()?.body).toMatchObject({ python_dependencies: ['pandas'], limits: { concurrency: 3 } });
    await getSaveBar(page).waitFor({ state: 'detached' });

    const attempts = page.getByLabel('Maximum attempts');
    const before = await attempts.inputValue();
    await attempts.fill('9');
    await getSaveBar(page).getByText('Retries').waitFor();
    await attempts.fill(before);
    await getSaveBar(page).waitFor({ state: 'detached' });
    await attempts.fill('99');
    await saveSettings(page);
    expect(await attempts.evaluate((field) => field.matches(':invalid:focus'))).toBe(true);
    await getSaveBar(page).getByRole('button', { name: 'Discard' }).click();
    await getSaveBar(page).waitFor({ state: 'detached' });
    expect(await attempts.inputValue()).toBe(before);
    expect(lastSent()?.body).toMatchObject({ limits: { concurrency: 3 } });
  });

  test('refused settings stay as entered, and undo restores the saved ones', async () => {
    const page = await site.visitAsUser('/workers/price-watch/settings');
    const limits = page.getByRole('region', { name: 'Limits' });
    await limits.getByLabel('Concurrent runs').fill('2');
    await limits.getByLabel('Concurrency scope').selectOption('Per shop');
    site.api.workers.refuseNext = { status: 400, body: { detail: 'limits.concurrency_key: not now' } };
    await saveSettings(page);
    await getSaveBar(page).getByText('not now').waitFor();
    await saveSettings(page);
    await page.getByText('Limits saved').waitFor();
    expect(lastSent()?.body).toMatchObject({ limits: { concurrency: 2, concurrency_key: 'shop', memory_mb: 512 } });
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitUntil(async () => site.api.workers.list[0]?.limits.concurrency_key === null);
    expect(lastSent()?.body).toMatchObject({ limits: { concurrency: null, concurrency_key: null } });
  });

  test('inputs, outputs and packages are edited in rows; other properties of an input stay', async () => {
    const page = await site.visitAsUser('/workers/price-watch/settings');
    const before = site.api.workers.list[0]?.inputs ?? [];
    const inputs = page.getByRole('region', { name: 'Inputs' });
    await inputs.getByRole('button', { name: 'Add input' }).click();
    const added = inputs.getByRole('listitem').last();
    await fillFields(added, { Name: 'currency', Label: 'Currency' });
    await added.getByLabel('Type').selectOption('Choice');
    await added.getByLabel('Choices').fill('EUR, USD');
    await added.getByLabel('Required').check();
    await saveSettings(page);
    await page.getByText('Inputs saved').waitFor();
    const options = ['EUR', 'USD'].map((value) => ({ value, label: value }));
    expect(lastSent()?.body).toEqual({
      inputs: [
        ...before.map((item) => ({ ...item, required: item.required ?? false })),
        { name: 'currency', label: 'Currency', type: 'select', required: true, options },
      ],
    });
    await page.getByRole('textbox', { name: 'Packages' }).fill('requests==2.32.5\n\n pandas');
    await saveSettings(page);
    await page.getByText('Packages saved').waitFor();
    expect(lastSent()?.body).toEqual({ python_dependencies: ['requests==2.32.5', 'pandas'] });
  });

  test('values exposed to code are chosen by name, and removed with their declaration', async () => {
    Object.assign(site.api.workers.list[0] ?? {}, { secrets: ['CRM_TOKEN', 'KEY'], connections: ['github'] });
    const page = await site.visitAsUser('/workers/price-watch/settings');
    const values = page.getByRole('region', { name: 'Exposed values' });
    await values.getByLabel('KEY').check();
    await values.getByLabel('github').check();
    await saveSettings(page);
    await page.getByText('Exposed values saved').waitFor();
    expect(lastSent()?.body).toEqual({ expose: ['KEY', 'github'] });
    const needs = page.getByRole('region', { name: 'Secrets and contexts' });
    await needs.getByLabel('KEY', { exact: true }).uncheck();
    await saveSettings(page);
    await page.getByText('Connections, secrets and contexts saved').waitFor();
    expect(lastSent()?.body).toEqual({
      connections: ['github'],
      secrets: ['CRM_TOKEN'],
      contexts: [],
      expose: ['github'],
    });
    const bodies = page.getByRole('region', { name: 'Placeholders in request bodies' });
    await bodies.getByLabel('github').check();
    await saveSettings(page);
    await page.getByText('Placeholders in request bodies saved').waitFor();
    expect(lastSent()?.body).toEqual({ in_body: ['github'] });
  });

  test('where the workspace forbids it, exposed values can only be removed', async () => {
    Object.assign(site.api.workers.list[0] ?? {}, { secrets: ['CRM_TOKEN', 'KEY'], expose: ['KEY'] });
    for (const workspace of site.api.accounts.me.workspaces) workspace.allow_exposed_credentials = false;
    const page = await site.visitAsUser('/workers/price-watch/settings');
    const values = page.getByRole('region', { name: 'Exposed values' });
    await values.getByText('Runs will fail').waitFor();
    expect(await values.getByLabel('CRM_TOKEN').isDisabled()).toBe(true);
    await values.getByLabel('KEY').uncheck();
    await saveSettings(page);
    await page.getByText('Exposed values saved').waitFor();
    expect(lastSent()?.body).toEqual({ expose: [] });
  });

  test('a worker is deleted after its id is typed', async () => {
    const page = await site.visitAsUser('/workers/report/settings');
    await page.getByRole('button', { name: 'Delete worker' }).click();
    const remove = page.getByRole('button', { name: 'Delete permanently' });
    await expect(remove.isDisabled()).resolves.toBe(true);
    await page.getByLabel('Type report to confirm').fill('report');
    await remove.click();
    await page.getByText('Quarterly report deleted').waitFor();
    await page.waitForURL('**/workers');
    expect(site.api.workers.list.some(({ id }) => id === 'report')).toBe(false);
  });

  test('a worker is created from a template, and its webhook’s token is under Triggers', async () => {
    const page = await site.visitAsUser('/workers/new');
    const templates = page.getByRole('main').getByRole('listitem').getByRole('link');
    await page.getByRole('button', { name: 'Agents' }).click();
    await page.getByText('Needs a model and the github connection').waitFor();
    expect(await templates.getByText('Webhook to chat').count()).toBe(0);
    await page.getByRole('button', { name: 'Messages' }).click();
    await page.getByLabel('Search templates').fill('slack carrots');
    await page.getByRole('button', { name: 'Show all templates' }).click();
    await page.getByLabel('Search templates').fill('slack webhook');
    await templates.getByText('Webhook to chat').waitFor();
    expect(await templates.count()).toBe(1);
    await page.getByRole('link', { name: 'Webhook to chat' }).click();
    await page.getByLabel('Name').fill('Orders in chat');
    await page.getByRole('button', { name: 'Create worker' }).click();
    await page.waitForURL('**/workers/orders-in-chat');
    await page.getByText('No runs yet').waitFor();
    expect(lastSent()?.body).toMatchObject({
      name: 'Orders in chat',
      triggers: [{ type: 'webhook' }],
      tags: ['chat'],
      files: [{ path: 'main.py', content: expect.stringContaining('def run(') }],
    });
    await page.getByRole('link', { name: 'Triggers' }).click();
    await page.getByText('?token=whk_shown_once').waitFor();
  });

  test('a refused name stays in its field, and a schedule uses the reader’s time zone', async () => {
    const page = await site.visitAsUser('/workers/new?template=on-duty', { timezoneId: 'America/New_York' });
    await page.getByText('Mondays at 9:00 (New York time)').waitFor();
    await page.getByLabel('Name').fill('Duty');
    site.api.workers.refuseNext = { status: 400, body: { detail: 'name: is taken' } };
    await page.getByRole('button', { name: 'Create worker' }).click();
    await page.getByText('name: is taken').waitFor();
    await page.getByRole('button', { name: 'Create worker' }).click();
    await page.waitForURL('**/workers/duty');
    expect(lastSent()?.body).toMatchObject({
      triggers: [{ type: 'cron', cron: '0 9 * * MON', timezone: 'America/New_York' }],
    });
  });
});
