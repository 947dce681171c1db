import { waitUntil } from '@gantry/testing';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { createChangeStream } from './test/fake-changes';
import { buildModel } from './test/fake-chat';
import { buildEvaluation, buildExample, buildResult, createEvaluationState } from './test/fake-evaluations';
import { buildWorkerRun } from './test/fake-worker-runs';
import { buildWorker, createWorkerState } from './test/fake-workers';

const ITEMS = {
  inputs: [
    { name: 'shop', label: 'Shop', type: 'text', required: true },
    { name: 'limit', label: 'Rows', type: 'integer', minimum: 1 },
  ],
  outputs: [{ name: 'total', label: 'Total', type: 'number' }],
};

describe('evaluations of a worker', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.evaluations = createEvaluationState();
    site.api.changes = createChangeStream();
    site.api.workers = createWorkerState();
    site.api.workers.list.push(buildWorker('price-sums', { name: 'Price sums', sha: 'sha-9', version: 9, ...ITEMS }));
    site.api.chat.models = [buildModel('qwen3', { is_default: true })];
    site.api.workerRuns.length = 0;
    site.api.accounts.me.role = 'owner';
  });

  const HOME = '/workers/price-sums/evaluations';
  const of = { worker_id: 'price-sums' };

  const addExamples = () => {
    const made = [
      buildExample('ex_1', { name: 'A quiet day' }),
      buildExample('ex_2', {
        name: 'The shop is closed and answers with an empty list of prices',
        checks: [{ kind: 'equal', path: '/total', value: 0, tolerance: 0.01 }],
      }),
      buildExample('ex_3', {
        name: 'Names every region',
        checks: [
          { kind: 'judge', instructions: 'The summary lists every region and no others.', threshold: 0.7 },
          { kind: 'contains', path: '/summary', value: 'Baltics', ignore_case: true },
        ],
        max_duration_seconds: 30,
      }),
      buildExample('ex_4', {
        name: 'No such shop',
        checks: [{ kind: 'fails', error_contains: 'unknown shop' }],
        enabled: false,
      }),
    ];
    site.api.evaluations.examples.push(...made);
    return made;
  };

  /** Five versions, of which the newest but one broke something. */
  function addVersionHistory() {
    const examples = addExamples();
    const { evaluations } = site.api;
    evaluations.versions = [9, 8, 7, 6, 4].map((version) => ({ sha: `sha-${version}`, version }));
    const outcomes = [
      'passed passed passed',
      'failed passed error',
      'passed passed failed',
      'passed failed failed',
      'failed failed -',
    ];
    evaluations.versions.forEach((version, at) => {
      const results = (outcomes[at] ?? '').split(' ').flatMap((status, index) => {
        const example = examples[index];
        return example && status !== '-' ? [buildResult(example, status as 'passed' | 'failed' | 'error')] : [];
      });
      evaluations.list.push(buildEvaluation(`eval_${version.version}`, version, results, of));
    });
    return examples;
  }

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser(HOME);
    await page.getByRole('heading', { name: 'No examples yet' }).waitFor();
    await checkPage(page, 'evaluations-empty');
    await page.getByRole('button', { name: 'Add example' }).click();
    await page.getByLabel('Name', { exact: true }).fill('A quiet day');
    await page.getByRole('button', { name: 'Add a check' }).click();
    await page.getByRole('combobox', { name: 'Check 2' }).selectOption('judge');
    await page.getByRole('button', { name: 'Add a check' }).click();
    await page.getByRole('combobox', { name: 'Check 3' }).selectOption('contains');
    await checkPage(page, 'example-dialog');

    const [first, second, third] = addVersionHistory();
    await page.goto(site.api.origin + HOME);
    await page.getByRole('img', { name: /Pass rate by version: version 4/ }).waitFor();
    await checkPage(page, 'evaluations');

    const { evaluations } = site.api;
    if (first && second && third) {
      const results = [
        buildResult(first, 'failed'),
        buildResult(second, 'passed'),
        buildResult(third, 'failed', {
          checks: [
            { kind: 'judge', path: null, passed: false, message: 'The Baltics are missing.', score: 0.4 },
            { kind: 'contains', path: '/summary', passed: true, message: 'it contains “Baltics”', score: null },
            { kind: 'max_duration', path: null, passed: true, message: 'took 1.2 s of 30 s', score: null },
          ],
        }),
      ];
      evaluations.list.unshift(buildEvaluation('eval_x', { sha: 'sha-9', version: 9 }, results, of));
    }
    await page.goto(`${site.api.origin}${HOME}/eval_x`);
    await page.getByText('The Baltics are missing.').waitFor();
    await checkPage(page, 'evaluation');

    const [latest] = evaluations.list;
    if (latest) Object.assign(latest, { status: 'running', totals: { passed: 5, failed: 1, error: 0, total: 12 } });
    await page.goto(site.api.origin + HOME);
    await page.getByRole('progressbar', { name: 'Evaluation of version 9' }).waitFor();
    await checkPage(page, 'evaluations-running');
  });

  test('an example is written with the inputs of the worker, and each kind of check is sent correctly', async () => {
    const page = await site.visitAsUser(HOME);
    await page.getByRole('button', { name: 'Add example' }).click();
    const dialog = page.getByRole('dialog', { name: 'New example' });
    await dialog.getByRole('button', { name: 'Add example' }).click();
    await dialog.getByText('Enter a name.').waitFor();
    await dialog.getByText('Enter a value.').first().waitFor();
    await dialog.getByLabel('Name', { exact: true }).fill('A quiet day');
    await dialog.getByLabel('Shop').fill('north');
    const check = (number: number) => dialog.getByRole('group', { name: `Check ${number}` });
    await check(1).getByLabel('Output field').fill('total');
    await check(1).getByLabel('Value').fill('12');
    await check(1).getByText('Parsed as a number').waitFor();
    await dialog.getByRole('button', { name: 'Add example' }).click();
    await check(1).getByText('Start with a slash').waitFor();
    await check(1).getByLabel('Output field').fill('/total');
    for (const [number, kind] of [
      [2, 'contains'],
      [3, 'judge'],
      [4, 'fails'],
      [5, 'schema'],
    ] as const) {
      await dialog.getByRole('button', { name: 'Add a check' }).click();
      await dialog.getByRole('combobox', { name: `Check ${number}` }).selectOption(kind);
    }
    await check(2).getByLabel('Value').fill('Baltics');
    await check(3).getByLabel('Instructions for the model').fill('Every region is named.');
    await check(3).getByLabel('Minimum score').fill('0.9');
    await check(4).getByLabel('Error contains').fill('unknown shop');
    await check(5).getByLabel('JSON Schema').fill('{"type": "object"}');
    await dialog.getByText('Limits and description').click();
    await dialog.getByLabel('Maximum duration in seconds').fill('30');
    await dialog.getByRole('button', { name: 'Add example' }).click();
    await page.getByText('A quiet day added').waitFor();
    expect(site.api.evaluations.sent[0]).toEqual({
      line: 'POST /api/workers/price-sums/examples',
      body: {
        name: 'A quiet day',
        description: '',
        inputs: { shop: 'north' },
        max_duration_seconds: 30,
        max_cost_usd: null,
        checks: [
          { kind: 'equal', path: '/total', value: 12 },
          { kind: 'contains', value: 'Baltics', ignore_case: true },
          { kind: 'judge', instructions: 'Every region is named.', threshold: 0.9 },
          { kind: 'fails', error_contains: 'unknown shop' },
          { kind: 'schema', schema: { type: 'object' } },
        ],
      },
    });
  });

  test('a server error about a check is shown beside it', async () => {
    const page = await site.visitAsUser(HOME);
    await page.getByRole('button', { name: 'Add example' }).click();
    const dialog = page.getByRole('dialog', { name: 'New example' });
    await dialog.getByLabel('Name', { exact: true }).fill('A quiet day');
    await dialog.getByLabel('Shop').fill('north');
    await dialog.getByLabel('Value').fill('12');
    site.api.evaluations.refuseNext = {
      status: 400,
      body: { detail: 'wrong', code: 'invalid', errors: [{ path: 'checks[0].path', message: 'no JSON pointer' }] },
    };
    await dialog.getByRole('button', { name: 'Add example' }).click();
    await dialog.getByRole('alert').getByText('no JSON pointer').waitFor();
  });

  test('examples are changed, turned off and deleted', async () => {
    addExamples();
    const page = await site.visitAsUser(HOME);
    await page.getByRole('button', { name: 'Edit A quiet day' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit example' });
    expect(await dialog.getByLabel('Value').inputValue()).toBe('12');
    expect(await dialog.getByLabel('Shop').inputValue()).toBe('north');
    await dialog.getByLabel('Value').fill('13');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('/total is 13').waitFor();
    await page.getByRole('switch', { name: 'Include Names every region in evaluations' }).press('Space');
    await page.getByText('Names every region · turned off').waitFor();
    await page.getByRole('button', { name: 'Delete No such shop' }).click();
    await page.getByRole('button', { name: 'Delete now' }).click();
    await page.getByText('No such shop deleted').waitFor();
  });

  test('a version is evaluated, followed live and stopped', async () => {
    const [first] = addExamples();
    site.api.evaluations.versions = [{ sha: 'sha-9', version: 9 }];
    const page = await site.visitAsUser(HOME);
    await waitUntil(() => site.api.changes.watchers.size > 0);
    await page.getByRole('button', { name: 'Evaluate version 9' }).click();
    const running = page.getByRole('region', { name: 'Evaluation of version 9' });
    await running.getByText('0 of 3').waitFor();
    const [evaluation] = site.api.evaluations.list;
    Object.assign(evaluation ?? {}, of, { totals: { passed: 1, failed: 1, error: 0, total: 3 } });
    if (evaluation && first) evaluation.results[0] = buildResult(first, 'failed');
    site.api.changes.emit('change', { noun: 'workers' });
    await running.getByText('2 of 3, 1 failed').waitFor();
    await page.getByRole('link', { name: 'A quiet day, version 9: Failed' }).waitFor();
    await running.getByRole('button', { name: 'Stop' }).click();
    await running.waitFor({ state: 'detached' });
  });

  test('the table shows which version broke which example, and a cell leads to the result', async () => {
    addVersionHistory();
    const page = await site.visitAsUser(HOME);
    const table = page.getByRole('region', { name: 'Examples by version' }).getByRole('table');
    await table.waitFor();
    expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
      'Example',
      expect.stringMatching(/^v9\s*, current version\s*3\/3\s*passed/),
      expect.stringMatching(/^v8\s*1\/3\s*passed/),
      expect.stringMatching(/^v7\s*2\/3\s*passed/),
      expect.stringMatching(/^v6\s*1\/3\s*passed/),
      expect.stringMatching(/^v4\s*0\/2\s*passed/),
    ]);
    const cell = table.getByRole('link', { name: 'A quiet day, version 8: Failed' });
    await cell.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Evaluation of version 8' }).waitFor();
    await page.getByText('/total is 11, not 12').waitFor();
    expect(await page.getByRole('link', { name: 'View run' }).first().getAttribute('href')).toBe('/runs/run_ex_1');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('A quiet day');
  });

  test('each new version is evaluated once, after evaluation on save is switched on', async () => {
    addExamples();
    const page = await site.visitAsUser(HOME);
    await page.getByRole('switch', { name: 'Evaluate each new version' }).click();
    await page.getByText('New versions will be evaluated automatically').waitFor();
    expect(site.api.workers.sent).toMatchObject([{ body: { evaluate_on_save: true } }]);
    expect(await page.getByRole('switch', { name: 'Evaluate each new version' }).isChecked()).toBe(true);
  });

  test('without a model for judging, the page says how to set one', async () => {
    addExamples();
    site.api.evaluations.refuseNext = { status: 409, body: { detail: 'no model', code: 'no_model' } };
    const page = await site.visitAsUser(HOME);
    await page.getByRole('button', { name: 'Evaluate version 9' }).click();
    await page.getByText('No language model is configured').waitFor();
    await page.getByText('MODEL_PROVIDERS', { exact: true }).waitFor();
  });

  test('viewers see results and change nothing', async () => {
    addVersionHistory();
    site.api.accounts.me.role = 'viewer';
    const page = await site.visitAsUser(HOME);
    await page.getByRole('link', { name: 'A quiet day, version 8: Failed' }).waitFor();
    expect(await page.getByRole('button', { name: /^(Evaluate|Add|Edit|Delete)/ }).count()).toBe(0);
    expect(await page.getByRole('switch').count()).toBe(0);
  });

  test('a run that went well becomes an example of its worker', async () => {
    const run = buildWorkerRun({
      worker_id: 'price-sums',
      status: 'completed',
      output: { total: 12 },
      completed_at: new Date().toISOString(),
    });
    site.api.workerRuns.push(run);
    const page = await site.visitAsUser(`/runs/${run.run.id}`);
    await page.getByRole('button', { name: 'Save as example…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save as example' });
    await dialog.getByText('the output must match this run’s output').waitFor();
    await dialog.getByLabel('Name', { exact: true }).fill('As on Monday');
    await dialog.getByRole('button', { name: 'Add example' }).click();
    await page.getByText('As on Monday added').waitFor();
    expect(site.api.evaluations.sent[0]?.body).toEqual({
      name: 'As on Monday',
      description: '',
      run_id: run.run.id,
      max_duration_seconds: null,
      max_cost_usd: null,
    });
  });
});
