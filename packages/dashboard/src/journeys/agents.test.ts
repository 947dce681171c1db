import { setupResource, startCountingMcpServer, waitUntil } from '@gantry/testing';
import { checkPage } from '../test/check-page';
import { REACHABLE_HOST, testPlatform } from '../test/open-platform';
import { saveSettings } from '../test/save-settings';

const usage = { input: 812, output: 40 };

describe('an agent', () => {
  const platform = testPlatform();
  const ledger = setupResource(
    () => startCountingMcpServer(() => 0, REACHABLE_HOST),
    (server) => server.stop(),
  );

  test('an agent from a template is created and run in the browser, and its conversation streams in', async () => {
    const code = 'print(1240 * 39.5)';
    const checked = [{ claim: '48,980', computed: '48980.0', right: true }];
    await platform.model.says(
      { text: 'I work it out.', calls: [{ name: 'python', input: { code }, id: 'c1' }], usage },
      { text: 'It is right.', usage, hold: true },
      { text: JSON.stringify({ verdict: 'One claim, and it is right.', checked }), usage },
    );
    const page = await platform.visitAsOwner('/workers/new');
    await page.getByRole('link', { name: 'Number check' }).click();
    await page.getByRole('textbox', { name: 'Task in SKILL.md' }).waitFor();
    await page.getByRole('button', { name: 'Create worker' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/runs\/run_/);
    const talk = page.getByRole('region', { name: 'Conversation' });
    await talk.getByText('I work it out.').waitFor();
    const call = talk.locator('details').filter({ hasText: 'Python program' });
    await call.getByText('Completed').waitFor();
    await call.locator('summary').click();
    await call.getByText(/48980\.0/).waitFor();
    await platform.model.release();
    await page.getByRole('region', { name: 'Result' }).getByText('One claim, and it is right.').waitFor();
    await talk.getByText(/^3 model calls: 2,436 input tokens, 120 output tokens, \$0\.0027$/).waitFor();
    await page.getByRole('button', { name: 'Model: Model call: default model, Done' }).first().waitFor();
    await talk.getByRole('button', { name: 'Download transcript' }).waitFor();
  });

  test('a worker is created from a skill, gets tools, and updates to a newer version of the skill', async () => {
    const { skills } = platform.workspace;
    const text = '# Greet\n\nSay hello.\n';
    const made = await skills('POST', '/api/v1/skills', { title: 'Greet people', body_md: text });
    const { slug } = typeof made.body === 'string' ? JSON.parse(made.body) : made.body;
    const page = await platform.visitAsOwner(`/skills/${slug}`);
    await page.getByRole('button', { name: 'Use in a worker' }).click();
    await page.waitForURL(/\/workers\/[a-z-]+\/settings/);
    const tools = page.getByRole('region', { name: 'Tools', exact: true });
    await tools.getByLabel('Tool type').selectOption('Ask a person');
    await tools.getByRole('button', { name: 'Add tool' }).click();
    await saveSettings(page);
    await page.getByText('Tools saved').waitFor();
    await page.getByLabel('Maximum turns').fill('5');
    await page.getByRole('combobox', { name: 'Model' }).fill('smart');
    await saveSettings(page);
    await page.getByText('Model saved').waitFor();
    const id = new URL(page.url()).pathname.split('/')[2] ?? '';
    const worker = async () => (await platform.call('GET', `/api/workers/${id}`)).body;
    expect(await worker()).toMatchObject({ model: 'smart', max_turns: 5, tools: [{ tool: 'ask_person' }] });

    await skills('PATCH', `/api/v1/skills/${slug}`, { body_md: `${text}\nAnd goodbye.\n` });
    await waitUntil(async () => (await worker()).skill_update !== null);
    const { version } = await worker();
    await page.goto(platform.at(`/workers/${id}`));
    await page.getByRole('button', { name: 'View version 2' }).click();
    await page.getByRole('dialog').getByText('And goodbye.').waitFor();
    await page.getByRole('button', { name: 'Update to latest version' }).click();
    await page.getByText('Updated to skill version 2').waitFor();
    expect(await worker()).toMatchObject({ version: version + 1, skill_update: null });
  });

  test('two skills are used, and a call of an MCP server is made with the arguments that a person corrected', async () => {
    const connection = { label: 'Ledger', url: ledger.url, visibility: 'workspace' };
    expect((await platform.call('POST', '/api/connections/mcp', connection)).status).toBe(201);
    const createSkill = (name: string, text: string) => ({
      path: `skills/${name}/SKILL.md`,
      content: `---\nname: ${name}\ndescription: Before work on ${name}\n---\n\n${text}\n`,
    });
    const made = await platform.call('POST', '/api/workers', {
      id: 'bookkeeper',
      name: 'Bookkeeper',
      runner: 'agent',
      files: [
        { path: 'SKILL.md', content: 'Book the entry.\n' },
        createSkill('ledgers', 'Read the list of steps first.'),
        { path: 'skills/ledgers/references/steps.md', content: 'Step 2 follows step 1.' },
        createSkill('letters', 'Be brief.'),
      ],
      skills: ['skills/ledgers', 'skills/letters'],
      connections: ['ledger'],
      tools: [{ tool: 'ledger.book', approve: 'always' }],
    });
    expect(made).toMatchObject({ status: 201, body: { skills: [{ name: 'ledgers' }, { name: 'letters' }] } });
    await platform.model.says(
      {
        calls: [
          { name: 'use_skill', input: { name: 'ledgers' }, id: 's1' },
          { name: 'read_skill_file', input: { name: 'ledgers', path: 'references/steps.md' }, id: 's2' },
          { name: 'use_skill', input: { name: 'letters' }, id: 's3' },
        ],
        usage,
      },
      { calls: [{ name: 'ledger__book', input: { run: 7, step: 1 }, id: 'b1' }], usage },
      { text: 'Booked.', usage },
    );
    const page = await platform.visitAsOwner('/workers/bookkeeper');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/runs\/run_/);
    const runPath = new URL(page.url()).pathname;
    await page.getByRole('link', { name: /^Approvals.*1 pending/ }).click();
    await page.waitForURL(/\/approvals/);
    await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Edit arguments' }).click();
    await page.getByLabel('step').fill('2');
    await checkPage(page, 'approval-of-an-mcp-call');
    expect([...ledger.booked]).toEqual([]);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Decided: ').waitFor();

    await page.goto(platform.at(runPath));
    await page.getByRole('region', { name: 'Result' }).getByText('Booked.').waitFor();
    expect([...ledger.booked]).toEqual([['7/2', 1]]);
    const talk = page.getByRole('region', { name: 'Conversation' });
    for (const skill of ['ledgers', 'letters']) await talk.getByText(skill).first().waitFor();
    const call = talk.locator('details').filter({ hasText: 'ledger: book' });
    await call.locator('summary').click();
    await call.getByText('Changed to').waitFor();
    const [proposed, corrected] = String(await call.textContent()).split('Changed to');
    expect(proposed).toMatch(/run\s*7\s*step\s*1/);
    expect(corrected).toMatch(/run\s*7\s*step\s*2/);
    await talk.getByText(`by ${platform.owner.email}`).first().waitFor();
    await checkPage(page, 'run-of-an-agent-with-skills');
    const asked = await platform.model.asked();
    const [first, second, third] = asked.map(({ body }) => JSON.stringify(body));
    expect(first).toContain('- ledgers: Before work on ledgers\\n- letters: Before work on letters');
    expect(first).not.toContain('Be brief.');
    for (const text of ['Read the list of steps first.', 'Step 2 follows step 1.', 'Be brief.'])
      expect(second).toContain(text);
    expect(third).toContain('booked 7/2');
  });

  test('the first sentence of an empty workspace is answered in the chat', async () => {
    await platform.model.says({ text: 'Hello. Nothing runs here yet.', usage });
    const page = await platform.visitAsOwner('/');
    await page.getByRole('textbox', { name: 'Describe the task' }).fill('What runs here?');
    await page.getByRole('button', { name: 'Send to the agent' }).click();
    await page.getByText('Hello. Nothing runs here yet.').waitFor();
    await page.goto(platform.at('/settings/models'));
    await page.getByRole('region', { name: 'By model' }).getByText('local/m').waitFor();
  });
});
