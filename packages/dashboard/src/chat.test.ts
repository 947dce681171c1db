import type { Page } from 'playwright-core';
import { testSite } from './test/browser';
import { checkPage, PHONE, PHONE_APPEARANCE } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import {
  buildCall,
  buildConversation,
  buildModel,
  completeCall,
  dropStreams,
  endTurn,
  type FakeConversation,
  requestCalls,
  startTurn,
  streamText,
  waitForDecision,
} from './test/fake-chat';

const CODE = 'def run(text):\n    return {"words": len(text.split())}\n';

const createWorker = () =>
  buildCall({
    name: 'create_worker',
    title: 'Create worker',
    status: 'pending',
    result: null,
    arguments: { name: 'Word count', schedule: '0 9 * * *', files: [{ path: 'main.py', content: CODE }] },
  });

describe('the chat', () => {
  const site = testSite();

  const addConversation = (...args: Parameters<typeof buildConversation>): FakeConversation => {
    const conversation = buildConversation(...args);
    site.api.chat.list.unshift(conversation);
    return conversation;
  };
  const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
  const getNewest = () => site.api.chat.list[0] as FakeConversation;
  const open = (conversation: FakeConversation, options = {}) => site.visitAsUser(`/chat/${conversation.id}`, options);
  /** Writes into a new conversation, and returns once its page is there. */
  async function startConversation(page: Page, text: string): Promise<FakeConversation> {
    await field(page).fill(text);
    await field(page).press('Enter');
    await page.waitForURL(/\/chat\/cnv_/);
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    return getNewest();
  }

  test('axe finds nothing and nothing is wider than the screen', async () => {
    site.api.chat.suggestions = [
      'Why is Daily report failing, and how can it be repaired?',
      'What do the 2 approvals that wait ask for, and what happens when I approve them?',
      'Which workers lack a secret?',
      'What ran today, what failed, and what did it cost?',
    ];
    const page = await site.visitAsUser('/chat');
    await page.getByText('Why is Daily report failing').waitFor();
    await checkPage(page, 'chat-new');

    addConversation('Which runs failed in the last day, and what do they have in common?');
    addConversation('Move the invoices to the new archive').status = 'waiting';
    const report = addConversation('Why did the daily report fail?', [
      {
        message: 'Why did the daily report fail, and how often?',
        parts: [
          { type: 'text', text: 'I look at its last runs.', partial: false },
          buildCall({
            name: 'list_runs',
            title: 'List runs',
            arguments: { worker_id: 'daily-report', status: 'failed' },
          }),
          buildCall({
            name: 'get_run',
            title: 'Get a run',
            arguments: { run_id: 'run_7QmKpZ2' },
            links: ['http://localhost:8081/runs/run_7QmKpZ2', 'http://localhost:8081/workers/daily-report'],
          }),
          buildCall({ title: 'Read logs', name: 'get_run_logs', status: 'failed', result: '404 no such run' }),
          {
            type: 'text',
            partial: false,
            text: '## The cause\n\nThe shop’s API has **renamed a field**: `total` is `total_price` since Monday.\n\n```python\nrow["total"]  # KeyError\n```\n\n| Day | Failed |\n|---|---|\n| Monday | 3 |\n| Tuesday | 1 |\n\n1. Change the name in `main.py`\n2. Run it again',
          },
        ],
      },
      {
        message: 'Mend it',
        status: 'failed',
        error: { code: 'model_rate_limited', detail: 'local/qwen3: takes no more' },
      },
    ]);
    await page.goto(`${site.api.origin}/chat/${report.id}`);
    await page.getByRole('columnheader', { name: 'Failed' }).waitFor();
    await page.getByText('List runs').click();
    await page.getByText('Arguments').waitFor();
    await checkPage(page, 'chat-thread');

    const worker = addConversation('Count words');
    startTurn(worker, 'Create a worker that counts the words in a piece of text and runs daily at 9:00.');
    streamText(worker, 'This is the worker that I would make.');
    requestCalls(worker, createWorker());
    waitForDecision(worker);
    await page.goto(`${site.api.origin}/chat/${worker.id}`);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await checkPage(page, 'chat-approval');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Running').waitFor();
    await checkPage(page, 'chat-running');
    endTurn(worker);

    site.api.chat.models = [];
    await page.goto(`${site.api.origin}/chat`);
    await page.getByRole('heading', { name: 'No language model is configured' }).waitFor();
    await checkPage(page, 'chat-no-model');
    const pageOnPhone = await site.visitAsUser('/chat', PHONE);
    await pageOnPhone.getByRole('button', { name: 'All conversations' }).click();
    await pageOnPhone.getByRole('link', { name: /Move the invoices/ }).waitFor();
    await checkPage(pageOnPhone, 'chat-list', [PHONE_APPEARANCE]);
    site.api.accounts.me.role = 'viewer';
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await checkPage(page, 'chat-viewer');
  });

  test('a message is sent with Enter, and the answer streams in, with links to created resources', async () => {
    const page = await site.visitAsUser('/chat');
    await page.getByRole('button', { name: /counts the words/ }).click();
    expect(await field(page).inputValue()).toMatch(/counts the words/);
    await field(page).press('Shift+Enter');
    await page.keyboard.type('In English.');
    await field(page).press('Enter');
    await page.waitForURL(/\/chat\/cnv_/);
    const conversation = getNewest();
    expect(site.api.chat.sent[0]?.body).toEqual({
      message: 'Create a worker that counts the words in a piece of text and runs daily at 9:00.\nIn English.',
    });
    await page.getByText('Working', { exact: true }).waitFor();
    expect(await field(page).inputValue()).toBe('');
    expect(await field(page).evaluate((element) => element === document.activeElement)).toBe(true);
    // While it works nothing else is sent; what is typed stays.
    await page.keyboard.type('and then?');
    await page.keyboard.press('Enter');
    streamText(conversation, 'I **look');
    await page.getByText('I **look').waitFor();
    streamText(conversation, '** around.');
    await page.locator('strong').getByText('look').waitFor();
    const call = buildCall({ status: 'ready', result: null });
    requestCalls(conversation, call);
    await page.getByText('Running').waitFor();
    const links = [`${site.api.origin}/workers/word-count`, 'https://evil.example/elsewhere'];
    completeCall(conversation, call, { result: '{"id":"word-count"}', links });
    streamText(conversation, 'It is there.');
    endTurn(conversation);
    await page.getByText('It is there.').waitFor();
    await page.getByText('$0.0008').waitFor();
    const made = page.getByRole('list', { name: 'Related pages' }).getByRole('link');
    expect(await made.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual([
      '/workers/word-count',
    ]);
    await page.getByText('List workers').click();
    await page.getByText('"word-count"').waitFor();
    expect(site.api.chat.sent).toHaveLength(1);
    expect(await field(page).inputValue()).toBe('and then?');
    await page.getByRole('navigation', { name: 'Conversations' }).getByText('Create a worker').waitFor();
  });

  test('nothing that the agent or a tool writes becomes markup of the page', async () => {
    const text =
      '<img src=x onerror=alert(1)> ![p](https://evil.example/p.png) [x](javascript:alert(1)) [y](https://y.example)';
    const call = buildCall({
      title: '<b>title</b>',
      arguments: { note: 'a\u202Eb', html: '<script>alert(1)</script>' },
      result: '<script>alert(1)</script>',
    });
    const page = await open(
      addConversation('<i>T</i>', [
        { message: '<u>m</u> **n**', parts: [call, { type: 'text', text, partial: false }] },
      ]),
    );
    await page.getByText('<img src=x').waitFor();
    await page.getByText('<b>title</b>').click();
    await page.getByText('a\\u{202e}b').waitFor();
    await page.getByText('<u>m</u> **n**').waitFor();
    const foreign = 'main :is(img, script, i, u, iframe, a[href^="javascript"])';
    expect(await page.locator(foreign).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'y', exact: true }).getAttribute('rel')).toContain('noopener');
  });

  test('an approval shows the exact call; approved or rejected, the agent continues', async () => {
    const page = await site.visitAsUser('/chat');
    const conversation = await startConversation(page, 'Count words');
    const [first, second] = [
      createWorker(),
      buildCall({ ...createWorker(), call_id: 'call_b', title: 'Delete worker' }),
    ];
    requestCalls(conversation, first, second);
    waitForDecision(conversation);
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.first().waitFor();
    await page.getByText('def run(text):').first().waitFor();
    await page.getByText('0 9 * * *').first().waitFor();
    await page.getByText('Respond to the request above or stop the agent').waitFor();
    // By keyboard: to the button, and only Enter decides.
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.getByText('Approved', { exact: true }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SUMMARY');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Rejected', { exact: true }).waitFor();
    expect(site.api.chat.sent.slice(1)).toEqual([
      { line: `POST /api/conversations/${conversation.id}/approvals/${first.call_id}`, body: { approve: true } },
      { line: `POST /api/conversations/${conversation.id}/approvals/call_b`, body: { approve: false } },
    ]);
    completeCall(conversation, first);
    streamText(conversation, 'One of the two is done.');
    endTurn(conversation);
    await page.getByText('One of the two is done.').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
  });

  test('a decision made in another tab is shown', async () => {
    const conversation = addConversation('Count words');
    startTurn(conversation, 'Count words');
    const call = createWorker();
    requestCalls(conversation, call);
    waitForDecision(conversation);
    const page = await open(conversation);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    Object.assign(call, { status: 'declined' });
    endTurn(conversation);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Rejected', { exact: true }).waitFor();
  });

  test('the agent can be stopped, while it works and while it waits', async () => {
    const page = await site.visitAsUser('/chat');
    const conversation = await startConversation(page, 'Count words');
    streamText(conversation, 'I begin');
    await page.getByText('I begin').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('You stopped the agent here.').waitFor();
    await field(page).fill('Again');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Working', { exact: true }).waitFor();
    requestCalls(conversation, createWorker());
    waitForDecision(conversation);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Not called').waitFor();
    expect(await page.getByText('You stopped the agent here.').count()).toBe(2);
  });

  test('after a lost connection and after a reload the answer continues where it was, without repeats', async () => {
    const page = await site.visitAsUser('/chat');
    const conversation = await startConversation(page, 'Tell me a story');
    streamText(conversation, 'Once ');
    await page.getByText('Once').waitFor();
    dropStreams(conversation);
    streamText(conversation, 'upon ');
    await page.getByText('Once upon').waitFor();
    expect(site.api.chat.followed).toEqual(['1', '2']);
    await page.reload();
    await page.getByText('Once upon').waitFor();
    streamText(conversation, 'a time.');
    await page.getByText('Once upon a time.').waitFor();
    // Away and back: nothing was missed and nothing is repeated.
    await page.getByRole('link', { name: 'Workers', exact: true }).click();
    await page.waitForURL(/\/workers$/);
    streamText(conversation, ' The end.');
    await page.goBack();
    await page.getByText('Once upon a time. The end.').waitFor();
    endTurn(conversation);
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await page.getByText('Once upon a time. The end.').count()).toBe(1);
  });

  test('two tabs: a message to a busy conversation is kept, and the other message is shown', async () => {
    const conversation = addConversation('Shared', [
      { message: 'First', parts: [{ type: 'text', text: 'Yes.', partial: false }] },
    ]);
    const page = await open(conversation);
    await page.getByText('Yes.').waitFor();
    startTurn(conversation, 'From the other tab');
    await field(page).fill('Mine');
    await field(page).press('Enter');
    await page.getByText('continued elsewhere, possibly in another tab').waitFor();
    await page.getByText('From the other tab').waitFor();
    streamText(conversation, 'An answer to the other.');
    endTurn(conversation);
    await page.getByText('An answer to the other.').waitFor();
    await field(page).press('Enter');
    await page.getByText('Working', { exact: true }).waitFor();
    expect(site.api.chat.sent.map(({ body }) => body)).toEqual([
      { message: 'Mine', conversation_id: conversation.id },
      { message: 'Mine', conversation_id: conversation.id },
    ]);
    endTurn(conversation);
    await page.getByText('continued elsewhere').waitFor({ state: 'detached' });
  });

  test('without a model the page says how to set one, before and after a message', async () => {
    site.api.chat.refuseNext = { status: 409, body: { detail: 'no model is configured', code: 'no_model' } };
    const page = await site.visitAsUser('/chat');
    await field(page).fill('Hello');
    await field(page).press('Enter');
    await page.getByRole('alert').getByText('MODEL_PROVIDERS_FILE').waitFor();
    expect(await field(page).inputValue()).toBe('Hello');
    site.api.chat.models = [];
    await page.reload();
    await page.getByText('MODEL_PROVIDERS_FILE').waitFor();
    expect(await field(page).count()).toBe(0);
  });

  test('a missing response is explained with a remedy, and it is sent again', async () => {
    const page = await site.visitAsUser('/chat');
    const conversation = await startConversation(page, 'Hello');
    endTurn(conversation, 'failed', { code: 'budget_exceeded', detail: 'no room for a call' });
    await page.getByText('Budget exhausted').waitFor();
    expect(await page.getByRole('link', { name: 'Models' }).getAttribute('href')).toBe('/settings/models');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Working', { exact: true }).waitFor();
    endTurn(conversation, 'interrupted');
    // The same message goes on: nothing is sent for it.
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Working', { exact: true }).waitFor();
    expect(await page.getByText('The agent was interrupted').count()).toBe(0);
    expect(site.api.chat.sent.map(({ line, body }) => (body as { message?: string }).message ?? line)).toEqual([
      ...['Hello', 'Hello'],
      `POST /api/conversations/${conversation.id}/resume`,
    ]);
    endTurn(conversation);
    await page.getByText('Working', { exact: true }).waitFor({ state: 'detached' });
    await page.route('**/api/chat', (route) => route.abort());
    await field(page).fill('Lost');
    await field(page).press('Enter');
    await page.getByText('Gantry can’t be reached').waitFor();
    expect(await field(page).inputValue()).toBe('Lost');
  });

  test('conversations are paged, renamed and deleted, and found by keyboard', async () => {
    for (let index = 1; index <= 35; index++)
      addConversation(`Conversation ${index}`, [{ message: `Message ${index}` }]);
    const page = await site.visitAsUser('/chat');
    const list = page.getByRole('navigation', { name: 'Conversations' });
    await list.getByText('Conversation 35').waitFor();
    expect(await list.getByRole('listitem').count()).toBe(30);
    await list.getByRole('button', { name: 'Show older' }).click();
    await list.getByText('Conversation 1', { exact: true }).waitFor();
    expect(await list.getByRole('listitem').count()).toBe(35);
    await list.getByRole('link', { name: 'New' }).focus();
    await page.keyboard.press('j');
    await page.getByRole('heading', { level: 1, name: 'Conversation 35' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { level: 1, name: 'Conversation 34' }).waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Conversation name' }).fill('About words');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'About words' }).waitFor();
    await list.getByText('About words').waitFor();
    expect(await page.title()).toBe('About words · Gantry');
    await clickButtons(page, 'Delete conversation', 'Delete permanently');
    await page.getByText('Conversation deleted').waitFor();
    await list.getByText('About words').waitFor({ state: 'detached' });
    await page.goto(`${site.api.origin}/chat/cnv_gone`);
    await page.getByRole('heading', { name: 'Conversation not found' }).waitFor();
  });

  test('earlier messages of a long conversation are loaded on demand', async () => {
    const turns = Array.from({ length: 45 }, (_, index) => ({ message: `Message number ${index + 1}.` }));
    const page = await open(addConversation('Long', turns));
    await page.getByText('Message number 26.').waitFor();
    expect(await page.getByText('Message number 25.').count()).toBe(0);
    await page.getByText('Message number 45.').waitFor();
    await page.getByRole('button', { name: 'Show earlier messages' }).click();
    await page.getByText('Message number 6.').waitFor();
    await page.getByRole('button', { name: 'Show earlier messages' }).click();
    await page.getByText('Message number 1.').waitFor();
    expect(await page.getByText(/^Message number/).count()).toBe(45);
  });

  test('the model can be chosen, and the chat is linked in the navigation, the palette and the empty overview', async () => {
    site.api.chat.models = [buildModel('qwen3', { is_default: true }), buildModel('big', { aliases: ['smart'] })];
    const page = await site.visitAsUser('/');
    await page.getByRole('button', { name: 'Send this example' }).click();
    await page.getByText('Working', { exact: true }).waitFor();
    endTurn(getNewest());
    await page.getByLabel('Model').selectOption('smart');
    await field(page).fill('Run it hourly instead.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Working', { exact: true }).waitFor();
    expect(site.api.chat.sent.map(({ body }) => body)).toMatchObject([
      { message: expect.stringMatching(/^Create a worker/) },
      { message: 'Run it hourly instead.', model: 'smart' },
    ]);
    endTurn(getNewest());
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or go to' }).fill('ask the');
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Conversations' }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Chat' }).click();
    await field(page).waitFor();
    expect(await field(page).inputValue()).toBe('');
  });
});
