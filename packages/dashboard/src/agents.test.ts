import type { Page } from 'playwright-core';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildModel } from './test/fake-chat';
import { CODE_WORKER } from './test/fake-code';
import { buildConnection, buildTool } from './test/fake-connections';
import { createContext } from './test/fake-contexts';
import { addSkill } from './test/fake-skills';
import { buildWorker } from './test/fake-workers';
import { fillFields } from './test/fill-fields';
import { saveSettings } from './test/save-settings';

const OLD = '0'.repeat(64);
const NEW = 'f'.repeat(64);
const UPDATE = { slug: 'release-notes', hash: NEW, version: 4, published_at: new Date().toISOString() };

describe('agents', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.chat.models = [buildModel('qwen3', { aliases: ['smart'], is_default: true }), buildModel('tiny')];
    site.api.connections.list.push(
      buildConnection('con_1'),
      buildConnection('con_2', { kind: 'mcp', app: 'linear', label: 'Linear', url: 'https://mcp.example.com/mcp' }),
    );
    site.api.connections.tools = {
      con_2: [buildTool('create_issue', { description: 'Creates an issue\u202e' }), buildTool('list_issues')],
    };
    site.api.contexts.splice(0, Number.POSITIVE_INFINITY, createContext('handbook', {}));
    site.api.workers.list.push(
      buildWorker('sorter', {
        name: 'Sort the mail',
        runner: 'agent',
        entrypoint: 'SKILL.md',
        connections: ['linear'],
        model: 'smart',
        max_turns: 12,
        budget_usd: 0.5,
        tools: [
          { tool: 'python', approve: 'destructive' },
          { tool: 'linear.create_issue', approve: 'always' },
          { tool: 'ask_person', approve: 'destructive' },
        ],
        output: { type: 'object', properties: { sorted: { type: 'integer' } }, required: ['sorted'] },
        skills: [
          {
            path: 'skills/tone/SKILL.md',
            skill: null,
            version: null,
            name: 'tone',
            hash: '1'.repeat(64),
            description: 'How we write to customers\u202e',
          },
          {
            path: 'skills/release-notes/SKILL.md',
            skill: `release-notes@${OLD}`,
            version: 3,
            hash: OLD,
            name: 'release-notes',
            description: 'Writes the notes of a release from its changes',
          },
        ],
      }),
      buildWorker('report', { name: 'Report' }),
    );
  });

  const getLastRequest = () => site.api.workers.sent.at(-1);
  const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const SETTINGS = '/workers/sorter/settings';
  const openTools = async (page: Page) => {
    await panel(page, 'Tools').getByRole('button', { name: 'Add tool' }).waitFor();
    return panel(page, 'Tools');
  };

  /** Refuses the next change because of one field. */
  function refuseField(path: string, message: string) {
    const body = { detail: 'no', code: 'bad_worker', details: [{ path, message }] };
    site.api.workers.refuseNext = { status: 400, body };
  }

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser(SETTINGS);
    await openTools(page);
    await checkPage(page, 'agent-settings');
    await page.goto(`${site.api.origin}/workers/new?template=issue-triage`);
    await page.getByRole('textbox', { name: 'Task in SKILL.md' }).waitFor();
    await page.getByText('github: list issues').waitFor();
    await checkPage(page, 'agent-template');
    addSkill(site.api.skills, { slug: 'release-notes', title: 'Release notes' });
    await page.goto(`${site.api.origin}/workers/new?template=skill`);
    await page.getByRole('combobox', { name: 'Skill' }).click();
    await page.getByRole('option', { name: /Release notes/ }).click();
    await checkPage(page, 'agent-from-skill');
  });

  test('axe finds nothing in its task and in a newer text of its skill', async () => {
    const [latest] = site.api.code.versions;
    if (!latest) throw new Error('no sample');
    const { sorter = buildWorker('x') } = Object.fromEntries(site.api.workers.list.map((one) => [one.id, one]));
    const { tools, connections, model, max_turns, budget_usd, output, skills } = sorter;
    const agent = { tools, connections, model, max_turns, budget_usd, output, skills };
    site.api.code.save(
      { 'SKILL.md': '# Sort the mail\n\nRead each mail, and say **how urgent** it is.\n' },
      {
        author: 'ada@example.com',
        message: null,
        definition: {
          ...latest.definition,
          ...agent,
          runner: 'agent',
          entrypoint: 'SKILL.md',
          skill: `release-notes@${OLD}`,
          secrets: [],
        },
      },
    );
    addSkill(site.api.skills, {
      slug: 'release-notes',
      title: 'Release notes',
      content_hash: NEW,
      version: 4,
      body_md: '# Sort the mail\n\nRead each mail twice, and say **how urgent** it is.\n\nNever guess.\n',
    });
    site.api.code.skillUpdate = UPDATE;
    const page = await site.visitAsUser(`/workers/${CODE_WORKER}/code`);
    await page.getByText('Newer skill version available').waitFor();
    await page.getByRole('textbox', { name: 'Code in SKILL.md' }).waitFor();
    await panel(page, 'Agent').getByText('linear: create issue').waitFor();
    await panel(page, 'Agent').getByText('How we write to customers‹U+202E›').waitFor();
    const published = panel(page, 'Agent').getByRole('listitem').filter({ hasText: 'Version 3, 000000000000' });
    expect(await published.getByRole('link').getAttribute('href')).toBe('/skills/release-notes');
    expect(await page.getByText(/problems found|Checking for problems/).count()).toBe(0);
    expect(site.api.requests.some(({ line }) => line === 'POST /api/workers/inspect')).toBe(false);
    await checkPage(page, 'agent-code');
    await page.getByRole('button', { name: 'View version 4' }).click();
    await page.getByRole('dialog').getByText('Never guess.').waitFor();
    await checkPage(page, 'agent-newer-skill');
  });

  test('its model, turns, budget and result are saved, and a model that is not offered is reported', async () => {
    const page = await site.visitAsUser(SETTINGS);
    const model = panel(page, 'Model');
    await model.getByRole('combobox', { name: 'Model' }).fill('smarter');
    await model.getByText('This model isn’t available, so runs will fail').waitFor();
    site.api.workers.refuseNext = {
      status: 400,
      body: { detail: 'no', code: 'bad_worker', details: [{ path: 'model', message: 'there is no model "smarter"' }] },
    };
    await saveSettings(page);
    await model.getByText('there is no model "smarter"').waitFor();
    await model.getByRole('combobox', { name: 'Model' }).fill('');
    await fillFields(model, { 'Maximum turns': '30', 'Budget per run': '', Temperature: '0.2' });
    await model.getByLabel('Reasoning effort').selectOption('Low');
    await model.getByLabel('Tool choice').fill('python');
    await saveSettings(page);
    await page.getByText('Model saved').waitFor();
    expect(getLastRequest()).toEqual({
      line: 'PATCH /api/workers/sorter',
      body: { model: null, max_turns: 30, budget_usd: null, temperature: 0.2, reasoning: 'low', tool_choice: 'python' },
    });
    const result = panel(page, 'Result');
    const schema = result.getByRole('textbox', { name: 'Result JSON Schema' });
    await schema.fill('{"type": "object"');
    await result.getByText(/Invalid JSON/).waitFor();
    await schema.fill('');
    await result.getByRole('button', { name: 'Insert example' }).click();
    await saveSettings(page);
    await page.getByText('Result saved').waitFor();
    expect(getLastRequest()?.body).toMatchObject({ output: { type: 'object', required: ['summary'] } });
  });

  test('a missing model and a missing worker that it refers to are shown before its first run', async () => {
    const [sorter] = site.api.workers.list;
    if (!sorter) throw new Error('no sample');
    const problem = 'there is no model "smart"; there are local/qwen3';
    Object.assign(sorter, { model_problem: problem, missing_workers: ['report-of-may'] });
    const page = await site.visitAsUser('/workers/sorter');
    await page.getByRole('alert').filter({ hasText: problem }).waitFor();
    await page.getByText('The worker report-of-may is unavailable as a tool').waitFor();
    await checkPage(page, 'agent-problems');
    await page.getByRole('link', { name: 'Change model and tools' }).first().click();
    await page.waitForURL('**/workers/sorter/settings#agent');
  });

  test('by keyboard: tools are added by their kind, with a rule for each, and declare what they need', async () => {
    const page = await site.visitAsUser(SETTINGS);
    const tools = await openTools(page);
    const add = tools.getByRole('group', { name: 'Add a tool' });
    await add.getByLabel('Connection').selectOption('linear');
    await add.getByLabel('Tool', { exact: true }).selectOption('create_issue');
    await add.getByText('Creates an issue‹U+202E›').waitFor();
    expect(await add.getByRole('button', { name: 'Already added' }).isDisabled()).toBe(true);
    await add.getByLabel('Connection').selectOption('github');
    await add.getByLabel('Tool', { exact: true }).selectOption('list_issues');
    await add.getByRole('button', { name: 'Add tool' }).focus();
    await page.keyboard.press('Enter');
    await tools.getByLabel('Require approval: github: list issues').selectOption('Never');
    for (const [kind, field, name] of [
      ['Context files', 'Context', 'handbook'],
      ['Another worker', 'Worker', 'report'],
    ] as const) {
      await add.getByLabel('Tool type').selectOption(kind);
      await add.getByLabel(field, { exact: true }).selectOption(name);
      await add.getByRole('button', { name: 'Add tool' }).click();
    }
    await tools.getByRole('button', { name: 'Remove Python' }).focus();
    await page.keyboard.press('Enter');
    await saveSettings(page);
    await page.getByText('Tools saved').waitFor();
    expect(getLastRequest()?.body).toEqual({
      tools: [
        { tool: 'linear.create_issue', approve: 'always' },
        { tool: 'ask_person', approve: 'destructive' },
        { tool: 'github.list_issues', approve: 'never' },
        { tool: 'context:handbook', approve: 'destructive' },
        { tool: 'worker:report', approve: 'destructive' },
      ],
      connections: ['linear', 'github'],
      contexts: ['handbook'],
    });
  });

  test('a tool that is refused says why beside it', async () => {
    const page = await site.visitAsUser(SETTINGS);
    const tools = await openTools(page);
    refuseField('tools.1', 'must be one of python, http');
    await tools.getByLabel(/^Require approval: .*create issue$/).selectOption('Never');
    await saveSettings(page);
    await tools.getByRole('listitem').filter({ hasText: 'linear.create_issue' }).getByText('must be one of').waitFor();
  });

  test('by keyboard: skills are found, added and removed, and one that is refused says why beside it', async () => {
    addSkill(site.api.skills, { slug: 'release-notes', title: 'Release notes' });
    addSkill(site.api.skills, { slug: 'review', title: 'Review a change', content_hash: NEW });
    const page = await site.visitAsUser(SETTINGS);
    const skills = panel(page, 'Skills');
    await skills.getByRole('combobox', { name: 'Add skill' }).fill('re');
    await skills.getByRole('option', { name: /review/ }).waitFor();
    expect(await skills.getByRole('option').count()).toBe(1);
    await page.keyboard.press('Enter');
    await skills.getByRole('listitem').filter({ hasText: 'Version 1, ffffffffffff' }).waitFor();
    await skills.getByRole('button', { name: 'Remove release-notes' }).focus();
    await page.keyboard.press('Enter');
    refuseField('skills.1', 'there is no skill "review"');
    await saveSettings(page);
    await skills.getByRole('listitem').filter({ hasText: 'review' }).getByText('there is no skill').waitFor();
    await saveSettings(page);
    await page.getByText('Skills saved').waitFor();
    expect(getLastRequest()?.body).toEqual({ skills: [expect.objectContaining({ name: 'tone' }), `review@${NEW}`] });
  });

  test('without a model the page says where agents are created, and how to set a model up', async () => {
    site.api.chat.models = [];
    const page = await site.visitAsUser(SETTINGS);
    const way = page.getByRole('link', { name: 'How to configure a model' });
    await way.waitFor();
    await page.goto(`${site.api.origin}/workers/new?template=number-check`);
    await way.waitFor();
    expect(await way.getAttribute('href')).toBe('/settings/models');
  });

  test('an agent is created from a template with its tools, and the missing connection is named', async () => {
    site.api.connections.list.length = 0;
    const page = await site.visitAsUser('/workers/new?template=issue-triage');
    await page.getByText('github is not connected yet').waitFor();
    await page.getByRole('button', { name: 'Create worker' }).click();
    await page.waitForURL('**/workers/issue-triage');
    expect(getLastRequest()?.body).toMatchObject({
      runner: 'agent',
      connections: ['github'],
      tools: ['github.list_issues', 'ask_person'],
      files: [{ path: 'SKILL.md', content: expect.stringContaining('# Issue triage') }],
    });
  });

  test('a skill becomes a worker at the version that is shown, from its page and from the list of templates', async () => {
    addSkill(site.api.skills, { slug: 'release-notes', title: 'Release notes', content_hash: NEW });
    const page = await site.visitAsUser('/skills/release-notes');
    await page.getByRole('button', { name: 'Use in a worker' }).click();
    await page.waitForURL('**/workers/release-notes/settings');
    const made = { line: 'POST /api/workers', body: { name: '', runner: 'agent', skill: `release-notes@${NEW}` } };
    expect(getLastRequest()).toEqual(made);
    await page.getByText('Now choose tools for the agent').waitFor();
    await page.goto(`${site.api.origin}/workers/new`);
    await page.getByRole('link', { name: 'From a skill' }).click();
    await page.getByRole('combobox', { name: 'Skill' }).fill('rel');
    await page.getByRole('option', { name: /Release notes/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Create worker' }).click();
    await page.waitForURL('**/settings');
    expect(getLastRequest()).toEqual(made);
  });

  test('a newer text of its skill is adopted only by a click, exactly as it was shown', async () => {
    const [sorter] = site.api.workers.list;
    if (!sorter) throw new Error('no sample');
    Object.assign(sorter, { skill: `release-notes@${OLD}`, skill_update: UPDATE });
    addSkill(site.api.skills, {
      slug: 'release-notes',
      title: 'Release notes',
      content_hash: NEW,
      version: 4,
      body_md: 'Read the tests twice.',
    });
    const page = await site.visitAsUser('/workers/sorter');
    await page.getByRole('button', { name: 'View version 4' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Read the tests twice.').waitFor();
    await dialog.getByText('Read the tests first.').waitFor();
    expect(site.api.workers.sent).toEqual([]);
    await dialog.getByRole('button', { name: 'Update to latest version' }).click();
    await page.getByText('Updated to skill version 4').waitFor();
    expect(getLastRequest()?.body).toEqual({ skill: `release-notes@${NEW}`, base_sha: '3f0c5b3e' });
    await page.getByText('Newer skill version available').waitFor({ state: 'detached' });
  });

  test('a viewer sees the newer text and cannot adopt it', async () => {
    site.api.accounts.me.role = 'viewer';
    const [sorter] = site.api.workers.list;
    if (!sorter) throw new Error('no sample');
    Object.assign(sorter, { skill: `release-notes@${OLD}`, skill_update: UPDATE });
    addSkill(site.api.skills, { slug: 'release-notes', content_hash: NEW, body_md: 'Another.' });
    const page = await site.visitAsUser('/workers/sorter');
    await page.getByRole('button', { name: 'View version 4' }).click();
    await page.getByRole('button', { name: 'Keep current version' }).waitFor();
    expect(await page.getByRole('button', { name: 'Update to latest version' }).count()).toBe(0);
  });
});
