import type { WorkerSchemas } from '@gantry/sdk';
import { waitUntil } from '@gantry/testing';
import type { Page } from 'playwright-core';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { CODE_WORKER } from './test/fake-code';

const CODE = `/workers/${CODE_WORKER}/code`;
const VERSIONS = `/workers/${CODE_WORKER}/versions`;
/** Completion starts a type checker first; asking again too soon would begin anew. */
const COMPLETION_MS_MAX = 10_000;

describe('the code of a worker', () => {
  const site = testSite();
  beforeEach(() => {
    setRole('owner');
  });

  function setRole(role: 'owner' | 'viewer') {
    const [ops] = site.api.accounts.me.workspaces;
    if (!ops) throw new Error('no sample');
    ops.role = role;
    site.api.accounts.me.role = role;
  }
  const editor = (page: Page, path = 'main.py') => page.getByRole('textbox', { name: `Code in ${path}` });
  /** At the end of the file. */
  async function type(page: Page, text: string, path = 'main.py') {
    await editor(page, path).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText(text);
  }
  /** Asks again where completion was not loaded yet. */
  async function requestCompletion(page: Page, expected: string) {
    const option = page.getByRole('option', { name: expected });
    await waitUntil(async () => {
      await page.keyboard.press('Control+Space');
      return option.waitFor({ timeout: COMPLETION_MS_MAX }).then(
        () => true,
        () => false,
      );
    });
  }
  const files = () => site.api.code.versions[0]?.files ?? {};
  const undeclared: WorkerSchemas['DraftProblem'] = {
    file: 'main.py',
    line: 5,
    column: 8,
    severity: 'warning',
    code: 'undeclared_import',
    message: 'the code imports requests',
    hint: 'declare requests in python_dependencies',
  };
  const wrong: WorkerSchemas['DraftProblem'] = {
    file: 'main.py',
    line: 11,
    column: 9,
    severity: 'error',
    code: 'syntax_error',
    hint: null,
    message: 'invalid syntax',
  };

  test('axe finds nothing and nothing is wider than the screen', async () => {
    site.api.code.problems.set('import requests', undeclared);
    site.api.code.problems.set('def run(shop):', wrong);
    const page = await site.visitAsUser(CODE);
    await page.getByText('invalid syntax').first().waitFor();
    await type(page, 'x = 1\n');
    await page.getByLabel('Shop').fill('north');
    await page.getByRole('button', { name: 'Test this draft' }).click();
    await page.getByRole('region', { name: 'Test result' }).getByText('Running').waitFor();
    const run = site.api.workerRuns.at(-1);
    if (!run) throw new Error('nothing was tested');
    for (const text of ['12 rows read', 'adding up']) {
      site.api.emit(run, 'log', { stream: 'stdout', level: 'info', text, at: new Date().toISOString() });
    }
    Object.assign(run.run, { status: 'completed', output: { total: 118.4 }, duration_ms: 1_240 });
    run.run.completed_at = new Date().toISOString();
    site.api.emit(run, 'done', { status: 'completed' });
    await page.getByText('118.4').waitFor();
    await checkPage(page, 'worker-code');
    await page.getByRole('button', { name: 'Show changes' }).click();
    await page.getByText('x = 1').first().waitFor();
    await checkPage(page, 'worker-code-changes');
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByRole('dialog').getByLabel('Change message').fill('Try one');
    await checkPage(page, 'worker-code-save');
    await page.goto(`${site.api.origin}${VERSIONS}?from=1&to=3`);
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await page.getByText('SHOP_TOKEN').first().waitFor();
    await page.getByRole('row', { name: 'Network shop.example.com, *.example.net Any public address' }).waitFor();
    await page.getByText('prices read').first().waitFor();
    await checkPage(page, 'worker-versions');
  });

  test('the packages of a version are shown while they are installed, when they are, and when they cannot be', async () => {
    const { dependencies } = site.api.code;
    const nothing = { platform: null, packages: [], finished_at: null };
    const progress = { phase: 'installing' as const, done: 2, total: 5 };
    site.api.code.dependencies = { ...dependencies, ...nothing, status: 'installing', progress };
    const page = await site.visitAsUser(CODE);
    await page.getByText('Unpacking and compiling: 2 of 5 packages').waitFor();
    await checkPage(page, 'worker-code-installing');
    site.api.code.dependencies = dependencies;
    site.api.changes.emit('change', { noun: 'workers', id: null });
    await page.getByText('Unpacking and compiling').waitFor({ state: 'detached' });
    await page.goto(site.api.origin + VERSIONS);
    const packages = page.getByRole('region', { name: 'Packages', exact: true });
    await packages.getByText('5 packages for cp311-linux-x64').waitFor();
    await packages.getByRole('row', { name: 'urllib3 2.4.1' }).waitFor();
    await checkPage(page, 'worker-versions-packages');
    const error = 'There is no package called requets. Check its spelling.';
    site.api.code.dependencies = { ...dependencies, ...nothing, status: 'failed', error };
    site.api.changes.emit('change', { noun: 'workers', id: null });
    await packages.getByText(error).waitFor();
    await page.goto(site.api.origin + CODE);
    await page.getByRole('alert').getByText(error).waitFor();
    await checkPage(page, 'worker-code-failed-packages');
  });

  test('a change is saved as a version with a message, and no draft is left in the browser', async () => {
    const page = await site.visitAsUser(CODE);
    await type(page, '\nDONE = True\n');
    await page.getByText('1 unsaved file.').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('dialog').getByLabel('Change message').fill('Say that it is done');
    await page.keyboard.press('Enter');
    await page.getByText('Saved as version 4').waitFor();
    await page.getByText('No changes.').waitFor();
    expect(site.api.code.versions[0]).toMatchObject({ message: 'Say that it is done' });
    expect(files()['main.py']).toMatch(/DONE = True\n$/);
    const isKept = () => page.evaluate(() => Object.keys(localStorage).some((key) => key.includes('draft')));
    // The browser is told a moment after the page.
    await waitUntil(async () => !(await isKept()));
  });

  test('files are added, renamed and deleted; a deletion can be undone', async () => {
    const page = await site.visitAsUser(CODE);
    await page.getByRole('button', { name: 'New file' }).click();
    await page.getByLabel('New file path').fill('README.md');
    await page.keyboard.press('Enter');
    await page.getByText('README.md already exists.').waitFor();
    await page.getByLabel('New file path').fill('lib/more.py');
    await page.keyboard.press('Enter');
    await type(page, 'MORE = 1\n', 'lib/more.py');
    await clickButtons(page, 'prices.py', 'Rename lib/prices.py');
    await page.getByLabel('New path for lib/prices.py').fill('lib/rounding.py');
    await page.keyboard.press('Enter');
    await clickButtons(page, 'README.md', 'Delete README.md', 'Undo', 'Save version');
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click();
    await page.getByText('Saved as version 4').waitFor();
    expect(Object.keys(files()).sort()).toEqual(['README.md', 'lib/more.py', 'lib/rounding.py', 'main.py']);
  });

  test('a draft survives leaving and reloading', async () => {
    const page = await site.visitAsUser(CODE);
    await type(page, '\nKEPT = True\n');
    await page.getByRole('navigation', { name: 'Worker' }).getByRole('link', { name: 'Versions' }).click();
    await page.getByText(/^Your unsaved changes to .+ are kept in this browser\.$/).waitFor();
    page.on('dialog', (dialog) => dialog.accept());
    await page.goto(site.api.origin + CODE);
    await page.getByText('1 unsaved file.').waitFor();
    await page.getByText('KEPT = True').waitFor();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByText('No changes.').waitFor();
    expect(await page.getByText('KEPT = True').count()).toBe(0);
  });

  test('problems are shown in their lines while typing, and link to them', async () => {
    site.api.code.problems.set('# later', { ...wrong, line: 18, message: 'nothing comes later' });
    const page = await site.visitAsUser(CODE);
    await page.getByText('No problems found.').waitFor();
    await type(page, '# later');
    const problem = page.getByRole('button', { name: /nothing comes later/i });
    await problem.waitFor();
    await page.locator('.cm-lintRange-error').waitFor();
    await problem.click();
    expect(await page.locator('.cm-activeLine').textContent()).toBe('# later');
  });

  test('types are checked with those of gantry, of other files and of the declared inputs', async () => {
    const page = await site.visitAsUser(CODE, { checksTypes: true });
    await page.getByText('No problems found.').waitFor();
    const problem = (words: RegExp) => page.getByRole('button', { name: words });
    await editor(page).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(`from gantry import context
from lib.prices import rounded

def run(shop: int):
    context.sleep(until='tomorrow')
    context.artefact('a.txt', b'')
    rounded()
    return totl
`);
    await problem(/"totl" is not defined.*Line 8/).waitFor();
    await problem(/Cannot access attribute "artefact" for class "Context".*Line 6/).waitFor();
    await problem(/cannot be assigned to parameter "until".*Line 5/).waitFor();
    await problem(/Argument missing for parameter.*Line 7/).waitFor();
    await problem(/The input shop is text, but run\(\) declares it as int.*Line 4/).click();
    expect(await page.locator('.cm-activeLine').textContent()).toBe('def run(shop: int):');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText('def run(shop: str) -> int:\n    return len(shop)\n');
    await page.getByText('No problems found.').waitFor();
  });

  test('completion knows the members of context and the declared secrets', async () => {
    const page = await site.visitAsUser(CODE, { checksTypes: true });
    await type(page, '\ncontext.art');
    await requestCompletion(page, 'artifact');
    await page.getByText('Stores a file beyond the run').waitFor();
    // Enter at the moment in which the list opens still begins a line: a fast typist did not mean the list.
    await page.waitForTimeout(200);
    await page.keyboard.press('Enter');
    await page.locator('.cm-line', { hasText: 'context.artifact(' }).waitFor();
  });

  test('the panel beside the editor is hidden, also after a reload, and keeps its input', async () => {
    const page = await site.visitAsUser(CODE, { viewport: { width: 1440, height: 900 } });
    const pane = page.getByRole('region', { name: 'main.py' });
    const widthOfEditor = async () => (await pane.boundingBox())?.width ?? 0;
    await page.getByLabel('Shop').fill('north');
    const before = await widthOfEditor();
    await page.getByRole('button', { name: 'Hide panel' }).click();
    await page.getByRole('button', { name: 'Test this draft' }).waitFor({ state: 'hidden' });
    expect(await widthOfEditor()).toBeGreaterThan(before + 100);
    await page.getByRole('button', { name: 'Show panel' }).click();
    expect(await page.getByLabel('Shop').inputValue()).toBe('north');
    await page.getByRole('button', { name: 'Hide panel' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Show panel' }).waitFor();
    await page.getByRole('button', { name: 'Test this draft' }).waitFor({ state: 'hidden' });
  });

  test('by keyboard: Escape, then Tab leaves the editor', async () => {
    const page = await site.visitAsUser(CODE);
    await editor(page).focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await editor(page).evaluate((element) => (element.getRootNode() as ShadowRoot).activeElement)).toBe(null);
  });

  test('a test runs what is in the editor, beside it, and shows the line where it failed', async () => {
    const page = await site.visitAsUser(CODE);
    await type(page, 'x = 1\n');
    await page.keyboard.press('Control+Enter');
    await page.getByText('This field is required.').waitFor();
    await page.getByRole('button', { name: 'Insert sample' }).click();
    await page.waitForFunction(() => [...document.querySelectorAll('input')].some(({ value }) => value === 'north'));
    await page.keyboard.press('Control+Enter');
    const result = page.getByRole('region', { name: 'Test result' });
    await result.getByText('Running').waitFor();
    expect(site.api.code.tests).toMatchObject([
      {
        inputs: { shop: 'north' },
        draft: { files: [{ path: 'main.py', content: expect.stringMatching(/x = 1\n$/) }] },
      },
    ]);
    const fake = site.api.workerRuns.at(-1);
    if (!fake) throw new Error('nothing was tested');
    Object.assign(fake.run, {
      status: 'failed',
      error: 'no row has a price',
      error_code: 'exception',
      error_type: 'ValueError',
      error_trace: 'File "main.py", line 12, in run\n',
      completed_at: new Date().toISOString(),
    });
    site.api.emit(fake, 'done', { status: 'failed' });
    await page.getByRole('button', { name: /The test failed here: ValueError: no row has a price/ }).waitFor();
    expect(await result.getByRole('link', { name: 'View run' }).getAttribute('href')).toBe(`/runs/${fake.run.id}`);
    expect(site.api.code.versions).toHaveLength(3);
  });

  test('a member who saves after another one sees both versions, and saves theirs on top', async () => {
    const page = await site.visitAsUser(CODE);
    await type(page, 'MINE = 1\n');
    const theirs = { ...files(), 'lib/prices.py': 'def rounded(price):\n    return int(price)\n' };
    site.api.code.save(theirs, { author: 'bob@example.com', message: 'Whole prices' });
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click();
    await page.getByText('A newer version was saved').waitFor();
    await page.keyboard.press('Escape');
    const conflict = page.getByRole('region', { name: 'Version conflict' });
    await conflict.getByText('bob@example.com saved version 4 while you were editing').waitFor();
    await conflict.getByRole('button', { name: 'Compare' }).click();
    await conflict.getByText('You and the other author changed different files').waitFor();
    await conflict.getByRole('button', { name: 'Reapply my changes' }).click();
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click();
    await page.getByText('Saved as version 5').waitFor();
    expect(files()).toMatchObject({ ...theirs, 'main.py': expect.stringMatching(/MINE = 1\n$/) });
  });

  test('a viewer reads the code and its history, and sees no other actions', async () => {
    setRole('viewer');
    const page = await site.visitAsUser(CODE);
    await page.getByText('You have read-only access to these files.').waitFor();
    for (const name of ['Save version', 'New file', 'Test this draft']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    await page.goto(site.api.origin + VERSIONS);
    await page.getByText('Round what is shown').waitFor();
    expect(await page.getByRole('button', { name: /Roll back/ }).count()).toBe(0);
  });

  test('any two versions are compared, and an earlier one is restored, with undo', async () => {
    const page = await site.visitAsUser(VERSIONS);
    await page.getByText('Log how many prices there are').waitFor();
    await page.getByLabel('From').selectOption('1');
    await page.getByText('Timeout (s)').waitFor();
    expect(new URL(page.url()).search).toBe('?from=1&to=3');
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('Too chatty');
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('Rolled Price report back to version 1').waitFor();
    await page.getByText('Too chatty').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Version 5', { exact: true }).waitFor();
    expect(files()).toEqual(site.api.code.versions[2]?.files);
  });
});
