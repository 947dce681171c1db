import { randomUUID } from 'node:crypto';
import { deployAutomation, waitUntil } from '@gantry/testing';
import type { Page } from 'playwright-core';
import { pressUntilFocused } from '../test/browser';
import { fillFields, submitFields } from '../test/fill-fields';
import { testPlatform } from '../test/open-platform';

describe('a workspace', () => {
  const platform = testPlatform();
  /** Accounts outlive the workspace of a test. */
  const createEmail = () => `${randomUUID()}@example.test`;

  /** Invites a viewer on the owner's page of members. @returns a page of the new member */
  async function join(email: string, owner: Page): Promise<Page> {
    await owner.getByLabel('Email').fill(email);
    await owner.getByLabel('Role', { exact: true }).selectOption('viewer');
    await owner.getByRole('button', { name: 'Invite' }).click();
    const link = await owner.getByText(/\/invite#/).textContent();

    const page = await platform.visit();
    await page.goto(String(link).trim());
    await page.getByLabel('Choose a password').fill('a long enough password');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
    return page;
  }

  /** @returns the response's body. @throws Error for any other status */
  async function expectStatus(status: number, ...request: Parameters<typeof platform.call>) {
    const response = await platform.call(...request);
    if (response.status !== status)
      throw new Error(`${request[1]}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  }

  const createWorker = (id: string, code: string, rest: object = {}) =>
    expectStatus(201, 'POST', '/api/workers', { id, name: id, files: [{ path: 'main.py', content: code }], ...rest });

  const getRun = (id: string) => expectStatus(200, 'GET', `/api/runs/${id}`);

  const replaceText = async (page: Page, label: string, text: string) => {
    await page.getByRole('textbox', { name: label }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  };

  test('an invited viewer joins in a browser of their own and sees no action that the role forbids', async () => {
    const email = createEmail();
    const owner = await platform.visitAsOwner('/settings/members');
    const memberPage = await join(email, owner);
    await memberPage.goto(platform.at('/settings/members'));
    await memberPage.getByText(platform.owner.email).first().waitFor();
    expect(await memberPage.getByRole('button', { name: 'Invite' }).count()).toBe(0);

    await owner.reload();
    const saved = owner.waitForResponse((answer) => answer.url().endsWith('/role') && answer.ok());
    await owner.getByLabel(`Role for ${email}`).selectOption('admin');
    await saved;
    await memberPage.reload();
    await memberPage.getByRole('button', { name: 'Invite' }).waitFor();
  });

  test('a run that waits for approval is approved by keyboard alone and continues', async () => {
    const code = 'def run(context):\n    return {"by": context.approve("Send the letters?")["approved_by"]}\n';
    await createWorker('letters', code);
    const { run_id: runId } = await expectStatus(201, 'POST', '/api/workers/letters/runs', {});
    const page = await platform.visitAsOwner('/');
    await page.getByRole('link', { name: /Approvals.*1 pending/ }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByRole('heading', { name: 'Send the letters?', level: 2 }).waitFor();
    await pressUntilFocused(page, 'a', 'Approve');
    await page.keyboard.press('Enter');
    await page.getByText('Approved: Send the letters?').waitFor();
    await waitUntil(async () => (await getRun(runId)).status === 'completed');
  });

  test('a secret is set once for both surfaces, and both give it to their code', async () => {
    const code = 'import os\n\ndef run():\n    return {"letters": len(os.environ["SHOP_KEY"])}\n';
    await createWorker('shop', code, { secrets: ['SHOP_KEY'] });
    const page = await platform.visitAsOwner('/secrets');
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByLabel('Name', { exact: true }).fill('SHOP_KEY');
    await page.getByLabel('Value', { exact: true }).fill('nine char');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByText('SHOP_KEY set for').waitFor();

    const { run_id: runId } = await expectStatus(201, 'POST', '/api/workers/shop/runs', { wait: 10 });
    const run = await waitUntil(async () => {
      const read = await getRun(runId);
      return read.status !== 'running' && read.status !== 'queued' && read;
    });
    expect(run.output).toEqual({ letters: 9 });
    const manifest = { name: 'Shop', outputs: ['letters'], secrets_needed: ['SHOP_KEY'] };
    const { id } = await deployAutomation(platform.workspace.automations, { 'main.py': code }, manifest);
    const { body } = await platform.workspace.automations('POST', `/api/automations/${id}/run`, { inputs: {} });
    expect(body.result.outputs).toEqual({ letters: 9 });
  });

  test('an alert is created and tested; the audit log lists changes, and usage adds up', async () => {
    await createWorker('counted', 'def run():\n    return sum(range(1_000_000))\n');
    const { run_id: runId } = await expectStatus(201, 'POST', '/api/workers/counted/runs', {});
    await waitUntil(async () => (await getRun(runId)).status === 'completed');

    const page = await platform.visitAsOwner('/alerts/new?worker=counted');
    await submitFields(page, { 'Webhook URL': 'https://hooks.example.invalid/gantry' }, 'Create alert', 'whsec_');
    await page.getByRole('link', { name: 'View alert' }).click();
    // A page that is still loading may move the button under the pointer.
    await page.getByText(/^No deliveries yet/).waitFor();
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Test not delivered to every channel').waitFor();

    await page.goto(platform.at('/settings/audit'));
    await page.getByText(/created an alert$/).waitFor();
    await page.getByLabel('Resource', { exact: true }).selectOption('worker');
    await page.getByText(/created the worker counted$/).waitFor();

    await page.goto(platform.at('/settings/usage'));
    const row = page.getByRole('row').filter({ hasText: 'counted' });
    await row.waitFor();
    expect(await row.textContent()).toMatch(/counted(< )?\$0.*Set budget for counted1\d* m?s/);
  });

  test('a skill is published, read by a visitor, saved and shared', async () => {
    const page = await platform.visitAsOwner('/skills/new');
    await fillFields(page, { Title: 'Answer a complaint', Description: 'Before a complaint is answered' });
    await replaceText(page, 'Skill text', '## Steps\n\n1. Read it twice.\n');
    await page.getByRole('region', { name: 'Preview' }).getByText('Read it twice.').waitFor();
    await page.getByLabel('Visibility').selectOption('public');
    await page.getByRole('button', { name: 'Publish skill' }).click();
    await page.getByRole('heading', { name: 'Answer a complaint', level: 1 }).waitFor();
    const address = await page.getByRole('link', { name: 'Open page' }).getAttribute('href');

    const visitor = await platform.visit();
    await visitor.goto(String(address));
    await visitor.getByText('Read it twice.').waitFor();

    const memberPage = await join(createEmail(), await platform.visitAsOwner('/settings/members'));
    await memberPage.goto(page.url());
    // The text moves the buttons while it loads: a click could miss one.
    await memberPage.getByText('Read it twice.').waitFor();
    await memberPage.getByRole('button', { name: 'Save', exact: true }).click();
    await memberPage.getByRole('button', { name: 'Saved' }).waitFor();
    await memberPage.goto(platform.at('/skills/saved'));
    await memberPage.getByText('Answer a complaint').waitFor();

    await page.getByLabel('Share with').fill('friend@example.test');
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByText('friend@example.test', { exact: true }).waitFor();
  });
});
