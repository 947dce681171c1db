import { waitUntil } from '@gantry/testing';
import type { Page } from 'playwright-core';
import { unzipFiles } from './automations/package-files';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildWorker } from './test/fake-workers';

const inputs = [
  { name: 'shop', label: 'Shop', type: 'text', required: true },
  { name: 'limit', label: 'Rows', type: 'integer', minimum: 1, default: 50 },
];
const outputs = [{ name: 'total', label: 'Total', type: 'number' }];
const CODE = 'from lib.total import add\n\n\ndef run(shop, limit):\n    return {"total": add(limit, 1)}\n';
const LIB = 'def add(a, b):\n    return a + b\n';

describe('a worker published as a page', () => {
  const site = testSite();
  beforeEach(() => {
    const { api } = site;
    for (const one of api.accounts.me.workspaces) one.role = 'owner';
    api.workers.list.push(
      buildWorker('price-watch', {
        name: 'Price watch',
        description: 'Compares the prices of three shops.',
        entrypoint: 'src/main.py',
        inputs,
        outputs,
        python_dependencies: ['requests==2.32.5'],
      }),
      buildWorker('refunds', {
        name: 'Refunds',
        visibility: 'private',
        secrets: ['CRM_TOKEN', 'SHOP_KEY'],
        connections: ['github'],
        contexts: ['price-list'],
        expose: ['SHOP_KEY', 'github'],
        in_body: ['CRM_TOKEN'],
        network: { allow: ['api.example.com'] },
        triggers: [
          { type: 'cron', cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', misfire: 'fire_once' },
          { type: 'webhook', webhook_url: 'https://gantry.example.com/api/webhooks/refunds', signed: false },
          { type: 'event', on: ['run.failed'], source_id: null },
        ],
        approvals: { required: true },
        retry: { max_attempts: 3 },
        limits: { timeout_seconds: 60, memory_mb: 1024, concurrency: 2, budget_usd_per_month: 8 },
        on_failure: 'propose_repair',
      }),
      buildWorker('triage', { name: 'Triage', runner: 'agent', entrypoint: 'SKILL.md' }),
      buildWorker('written', {
        name: 'Written by an agent',
        version_approval: { status: 'waiting', approved_by: null, approved_by_label: null, approved_at: null },
      }),
    );
    api.workers.files.set('price-watch', { 'src/main.py': CODE, 'src/lib/total.py': LIB });
    api.workers.files.set('refunds', {
      'main.py': 'def run(context):\n    context.approve("Pay?")\n    return context.model("Sum it up").text\n',
      'lib/prices.py': 'PRICES = open("contexts/price-list/prices.csv")\n',
      'lib/clean.py': 'def tidy(context):\n    context.log("fine")\n',
      'manifest.json': '{}',
    });
  });

  const row = (page: Page, feature: string | RegExp) => page.getByRole('listitem').filter({ hasText: feature });

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/workers/refunds/publish');
    await page.getByText('context.approve and context.model in main.py').waitFor();
    await checkPage(page, 'worker-publish');
    await page.goto(`${site.api.origin}/workers/price-watch/publish`);
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByRole('textbox', { name: 'Code in src/main.py' }).waitFor();
    await checkPage(page, 'worker-publish-files');
  });

  test('its files, entrypoint, inputs and packages become the automation', async () => {
    const page = await site.visitAsUser('/workers/price-watch');
    await page.getByRole('link', { name: 'Publish as a page' }).click();
    await page.getByRole('region', { name: 'Copied' }).getByText('Shop').waitFor();
    await row(page, 'History').waitFor();
    expect(await page.getByRole('region', { name: 'Differences from the worker' }).getByRole('listitem').count()).toBe(
      1,
    );
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByText('Deploys “Price watch” as version 1').waitFor();
    expect(await page.getByLabel('Entrypoint').inputValue()).toBe('src/main.py');
    await page.getByLabel('Who can run it').selectOption('Anyone with the link');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL('**/a/aut_new');
    expect(site.api.pages.get('aut_new')).toMatchObject({ name: 'Price watch', visibility: 'public' });
    const [artifact] = site.api.packages.artifacts;
    expect(artifact).toMatchObject({
      entrypoint: 'src/main.py',
      manifest: {
        name: 'Price watch',
        description: 'Compares the prices of three shops.',
        inputs,
        outputs,
        secrets_needed: [],
        python_dependencies: ['requests==2.32.5'],
        timeout_seconds: 300,
      },
    });
    expect(unzipFiles(new Uint8Array(artifact?.zip ?? []))).toEqual(
      new Map([
        ['src/main.py', { text: CODE }],
        ['src/lib/total.py', { text: LIB }],
      ]),
    );
  });

  test('each feature that an automation lacks is named before the person continues', async () => {
    const page = await site.visitAsUser('/workers/refunds/publish');
    await row(page, 'Secrets CRM_TOKEN and SHOP_KEY').getByText('not the values').waitFor();
    const set = row(page, 'Secrets CRM_TOKEN').getByRole('link', { name: 'Set SHOP_KEY' });
    expect(await set.getAttribute('href')).toBe('/secrets?set=SHOP_KEY');
    const features = await page
      .getByRole('region', { name: 'Differences from the worker' })
      .getByRole('listitem')
      .locator('p:first-child')
      .allTextContents();
    expect(features).toEqual([
      'Private worker',
      'Secrets CRM_TOKEN and SHOP_KEY',
      'Values exposed to code: SHOP_KEY',
      'Placeholders in request bodies: CRM_TOKEN',
      'Connection github',
      'Context price-list',
      'Network: api.example.com',
      'context.approve and context.model in main.py',
      'contexts/ in lib/prices.py',
      'Schedule: weekdays at 9:00, Berlin',
      'Webhook',
      'Event: when a run fails',
      'Approval before each run',
      'Up to 3 attempts',
      'Repairs',
      'Run limits: 2 at a time and $8.00 a month',
      'Memory: 1024 MB',
      'Undeclared inputs',
      'manifest.json file',
      'History',
    ]);
  });

  test('a newer version of the worker does not silently replace changed files', async () => {
    const page = await site.visitAsUser('/automations/new?worker=price-watch');
    const editor = page.getByRole('textbox', { name: 'Code in src/main.py' });
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('# mine\n');
    await page.getByRole('button', { name: 'Start over and discard these files' }).waitFor();
    await waitUntil(() => site.api.changes.watchers.size > 0);
    Object.assign(site.api.workers.list[0] ?? {}, { sha: 'newer', version: 4 });
    site.api.workers.files.set('price-watch', { 'src/main.py': `${CODE}# theirs\n` });
    site.api.changes.emit('change', { noun: 'workers' });
    await page.getByRole('region', { name: 'Version conflict' }).waitFor();
    await editor.getByText('# mine').waitFor();
  });

  test('an agent, and code that a person has not approved yet, are not published', async () => {
    const page = await site.visitAsUser('/workers/triage');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect(await page.getByRole('link', { name: 'Publish as a page' }).count()).toBe(0);
    await page.goto(`${site.api.origin}/automations/new?worker=triage`);
    await page.waitForURL('**/workers/triage/publish');
    await page.getByText('This worker is an agent').waitFor();
    expect(await page.getByRole('link', { name: 'Continue' }).count()).toBe(0);
    await page.goto(`${site.api.origin}/automations/new?worker=written`);
    await page.waitForURL('**/workers/written/publish');
    await page.getByText('was written by an agent and must be approved first').waitFor();
    await page.getByRole('button', { name: 'Review code' }).waitFor();
  });

  test('a viewer is offered no page', async () => {
    site.api.accounts.me.role = 'viewer';
    for (const one of site.api.accounts.me.workspaces) one.role = 'viewer';
    const page = await site.visitAsUser('/workers/price-watch/publish');
    await page.getByText('Viewers can’t deploy automations').waitFor();
    await page.goto(`${site.api.origin}/workers/price-watch`);
    await page.getByText('No runs yet').waitFor();
    expect(await page.getByRole('link', { name: 'Publish as a page' }).count()).toBe(0);
  });
});
