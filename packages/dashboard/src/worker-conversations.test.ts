import type { Page } from 'playwright-core';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { buildWorkerConversation, buildWorkerTurn, finishTurn } from './test/fake-conversations';
import { buildWorkerRun, type FakeWorkerRun } from './test/fake-worker-runs';
import { buildWorker } from './test/fake-workers';

const LIST = '/workers/bookkeeper/conversations';

describe('conversations with an agent worker', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.workers.list.push(
      buildWorker('bookkeeper', { name: 'Bookkeeper', runner: 'agent', entrypoint: 'SKILL.md' }),
      buildWorker('report', { name: 'Report' }),
    );
  });

  const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
  const newestRun = () => site.api.workerRuns.at(-1) as FakeWorkerRun;
  const finish = (answer: string) => finishTurn(site.api.conversations, site.api.workerRuns, answer);
  const emitPart = (event: string, name: string | null, text: string, more: object = {}) =>
    site.api.emit(newestRun(), event, { name, text, at: new Date().toISOString(), ...more });

  function addLong() {
    const conversation = buildWorkerConversation('Which invoices of March are unpaid?', {
      inputs: { region: 'north' },
      turns: [
        buildWorkerTurn(1, {
          message: 'Which invoices of March are unpaid?',
          answer: 'Two:\n\n- **1041**\n- **1057**',
        }),
        buildWorkerTurn(2, {
          message: 'And those of April?',
          status: 'failed',
          answer: null,
          error: 'the model does not answer',
        }),
        buildWorkerTurn(3, {
          message: 'Once more, please',
          answer: '{"unpaid":["1060"]}',
          created_by: 'usr_bob',
          left_out: 1,
        }),
        buildWorkerTurn(4, { message: 'Thank you', answer: 'You are welcome.' }),
      ],
    });
    const last = { id: conversation.turns[3]?.run_id ?? '', status: 'completed' as const };
    site.api.workerRuns.push(buildWorkerRun({ ...last, completed_at: new Date().toISOString() }));
    site.api.conversations.list.push(
      conversation,
      buildWorkerConversation('What was paid twice?', { created_by: null }),
    );
    return conversation;
  }

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const long = addLong();
    const page = await site.visitAsUser(LIST);
    await page.getByRole('link', { name: 'What was paid twice?' }).waitFor();
    await checkPage(page, 'worker-conversations');

    await page.goto(`${site.api.origin}${LIST}/${long.id}`);
    await page.getByText('Once more, please').waitFor();
    await field(page).fill('What about May?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Working', { exact: true }).waitFor();
    emitPart('text', null, 'I look at the **ledger**.');
    emitPart('tool_call', 'ledger__list_invoices', '{"month":"May"}', { call_id: 'c1' });
    await page.getByText('ledger: list invoices').waitFor();
    await checkPage(page, 'worker-conversation');
  });

  test('a message begins a conversation, and its answer streams in', async () => {
    const page = await site.visitAsUser('/workers/bookkeeper');
    await page.getByRole('link', { name: 'Conversation', exact: true }).click();
    await page.getByText('No conversations yet').waitFor();
    await field(page).fill('Which invoices are unpaid?');
    await field(page).press('Enter');
    await page.getByRole('heading', { name: 'Which invoices are unpaid?' }).waitFor();
    expect(site.api.conversations.sent).toEqual([
      { line: `POST /api${LIST}`, body: { message: 'Which invoices are unpaid?', inputs: {} } },
    ]);
    emitPart('text', null, 'I look', { step: 1, offset: 0 });
    await page.getByText('I look').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    emitPart('text', null, ' it up.', { step: 1, offset: 6 });
    await page.getByText('I look it up.').waitFor();
    finish('I look it up.');
    await page.getByText('The agent answered.').waitFor({ state: 'attached' });

    await field(page).fill('And of April?');
    await field(page).press('Enter');
    await page.getByRole('listitem').filter({ hasText: 'And of April?' }).waitFor();
    emitPart('text', null, 'None.', { step: 1, offset: 0 });
    finish('None.');
    await page.getByText('None.', { exact: true }).waitFor();
    const open = page.getByRole('link', { name: 'View run' });
    expect(await open.last().getAttribute('href')).toBe(`/runs/${newestRun().run.id}`);
    await open.last().click();
    await page.getByRole('link', { name: 'View conversation' }).click();
    await page.getByRole('heading', { name: 'Which invoices are unpaid?' }).waitFor();
  });

  test('earlier answers are shown at once, and the agent’s steps on demand', async () => {
    const long = addLong();
    const page = await site.visitAsUser(`${LIST}/${long.id}`);
    await page.getByText('1057').waitFor();
    await page.getByText('You are welcome.').waitFor();
    await page.getByText('the model does not answer').waitFor();
    await page.getByText('1 earlier message left out').waitFor();
    expect(site.api.requests.filter(({ line }) => line === `GET /api/runs/${long.turns[0]?.run_id}`)).toEqual([]);
    await page.getByRole('button', { name: 'Show steps' }).first().click();
    await page.waitForRequest(`**/api/runs/${long.turns[0]?.run_id}`).catch(() => undefined);
    expect(site.api.requests.some(({ line }) => line === `GET /api/runs/${long.turns[0]?.run_id}`)).toBe(true);
  });

  test('a message that is refused stays in its field, with the reason', async () => {
    const long = addLong();
    site.api.conversations.refuseNext = {
      status: 409,
      body: { detail: 'the message before is being answered by run_1', code: 'turn_under_way' },
    };
    const page = await site.visitAsUser(`${LIST}/${long.id}`);
    await field(page).fill('Are you there?');
    await field(page).press('Enter');
    await page.getByText('the message before is being answered by run_1').waitFor();
    expect(await field(page).inputValue()).toBe('Are you there?');
  });

  test('other inputs are entered once, and their problems are shown beside them', async () => {
    const [bookkeeper] = site.api.workers.list;
    if (bookkeeper) {
      bookkeeper.inputs = [
        { name: 'message', type: 'textarea', required: true },
        { name: 'region', label: 'Region', type: 'text', required: true },
      ];
    }
    const page = await site.visitAsUser(LIST);
    await field(page).fill('Hello');
    await field(page).press('Enter');
    await page.getByText('This field is required.').waitFor();
    expect(site.api.conversations.sent).toEqual([]);
    await page.getByRole('textbox', { name: 'Region' }).fill('north');
    await field(page).press('Enter');
    await page.getByText('Working', { exact: true }).waitFor();
    expect(site.api.conversations.sent.at(-1)?.body).toEqual({ message: 'Hello', inputs: { region: 'north' } });
  });

  test('an agent without a message input, a paused agent, and viewers see why they cannot write', async () => {
    const [bookkeeper] = site.api.workers.list;
    if (!bookkeeper) throw new Error('no worker');
    bookkeeper.inputs = [{ name: 'region', type: 'text' }];
    const page = await site.visitAsUser(LIST);
    await page.getByText('This agent doesn’t accept messages').waitFor();
    expect(await field(page).count()).toBe(0);
    bookkeeper.inputs = [];
    bookkeeper.status = 'paused';
    await page.reload();
    await page.getByText('To send messages, resume the agent first.').waitFor();
    bookkeeper.status = 'active';
    site.api.accounts.me.role = 'viewer';
    await page.reload();
    await page.getByText('Viewers can read conversations').waitFor();
    await page.goto(`${site.api.origin}/workers/report`);
    await page.getByRole('link', { name: 'Settings' }).first().waitFor();
    expect(await page.getByRole('link', { name: 'Conversation', exact: true }).count()).toBe(0);
  });

  test('a conversation is deleted, and the list is shown', async () => {
    const long = addLong();
    const page = await site.visitAsUser(`${LIST}/${long.id}`);
    await clickButtons(page, 'Delete conversation', 'Delete conversation, keep runs');
    await page.waitForURL(`**${LIST}`);
    await page.getByRole('link', { name: 'What was paid twice?' }).waitFor();
    expect(await page.getByRole('link', { name: long.title }).count()).toBe(0);
  });
});
