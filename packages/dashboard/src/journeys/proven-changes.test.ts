import { waitUntil } from '@gantry/testing';
import { testPlatform } from '../test/open-platform';

const ADDS = 'def run(n):\n    return {"square": n + n}\n';
const SQUARES = 'def run(n):\n    return {"square": n ** 2}\n';
const usage = { input: 812, output: 40 };

describe('a change that is proven before it counts', () => {
  const platform = testPlatform();

  const createWorker = (id: string, name: string, content: string) => {
    const inputs = [{ name: 'n', label: 'Number', type: 'number', required: true }];
    return platform.expectStatus(201, 'POST', '/api/workers', {
      id,
      name,
      inputs,
      files: [{ path: 'main.py', content }],
    });
  };

  /** @returns the id of a run that has ended */
  async function createEndedRun(id: string, n: number): Promise<string> {
    const { run_id: runId } = await platform.expectStatus(201, 'POST', `/api/workers/${id}/runs`, { inputs: { n } });
    await waitUntil(async () => (await platform.expectStatus(200, 'GET', `/api/runs/${runId}`)).completed_at);
    return runId;
  }

  test('a draft is rehearsed on past runs, shows what it changes, and is promoted', async () => {
    await createWorker('doubles', 'Doubles', ADDS);
    await createEndedRun('doubles', 2);
    await createEndedRun('doubles', 3);
    const page = await platform.visitAsOwner('/workers/doubles/code');
    await page.getByRole('textbox', { name: /Code in main\.py/ }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(SQUARES);
    await page.getByRole('button', { name: 'Dry run…' }).click();
    await page.getByLabel('Change message').fill('Square instead of doubling');
    await page.getByRole('button', { name: 'Start dry run', exact: true }).click();
    await page.getByRole('heading', { name: 'Changes the result of 1 of 2 runs' }).waitFor();
    const evidence = page.getByRole('table', { name: 'Evidence' });
    await evidence.getByText('/square').waitFor();
    await evidence.getByRole('link', { name: 'Candidate rehearsal' }).first().click();
    await page.getByText(/^Rehearsal of run_.*: no external effects$/).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Promote' }).click();
    await page.getByText('Candidate promoted to the current version of Doubles').waitFor();
    expect(await platform.expectStatus(200, 'GET', '/api/workers/doubles')).toMatchObject({ version: 2 });
    await page.goto(platform.at('/workers/doubles/code'));
    await page.getByText('No changes.').waitFor();
  });

  test('a run becomes an example, and the table says which version broke it', async () => {
    await createWorker('squares', 'Squares', SQUARES);
    const runId = await createEndedRun('squares', 3);
    const page = await platform.visitAsOwner(`/runs/${runId}`);
    await page.getByRole('button', { name: 'Save as example…' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Three');
    await page.getByRole('button', { name: 'Add example' }).click();
    await page.getByText('Three added').waitFor();
    await page.goto(platform.at('/workers/squares/evaluations'));
    await page.getByRole('switch', { name: 'Evaluate each new version' }).press('Space');
    await page.getByText('New versions will be evaluated automatically').waitFor();
    await page.getByRole('button', { name: 'Evaluate version 1' }).click();
    await page.getByRole('link', { name: 'Three, version 1: Passed' }).waitFor();
    const files = [{ path: 'main.py', content: ADDS }];
    await platform.expectStatus(200, 'PATCH', '/api/workers/squares', { files });
    await page.getByRole('link', { name: 'Three, version 2: Failed' }).click();
    await page.getByRole('heading', { level: 1, name: 'Evaluation of version 2' }).waitFor();
    await page.getByRole('list', { name: 'Checks' }).getByText('Failed').waitFor({ state: 'attached' });
  });

  test('a failed run is repaired by a model, proven by rehearsals, and approved by a person', async () => {
    await createWorker('roots', 'Roots', 'def run(n):\n    return {"root": n / (n - 4)}\n');
    await createEndedRun('roots', 2);
    const failed = await createEndedRun('roots', 4);
    const content = 'def run(n):\n    return {"root": n / (n - 4) if n != 4 else None}\n';
    const proposal = { explanation: 'Four divides by **zero**.', files: [{ path: 'main.py', content }] };
    await platform.model.says(
      { text: '', calls: [{ name: 'read_file', input: { path: 'main.py' }, id: 'c1' }], usage },
      { text: '', calls: [{ name: 'propose_change', input: proposal, id: 'c2' }], usage },
      { text: 'It is mended.', usage },
    );
    const page = await platform.visitAsOwner(`/runs/${failed}`);
    await page.getByRole('button', { name: 'Repair…' }).click();
    await page.getByRole('button', { name: 'Repair', exact: true }).click();
    const panel = page.getByRole('region', { name: 'Repair', exact: true });
    await panel.getByText('Awaiting decision', { exact: true }).waitFor();
    await panel.getByRole('heading', { name: 'Fixes the failed run and doesn’t change the other run' }).waitFor();
    await panel.getByText('Four divides by zero.').waitFor();
    await panel.getByRole('button', { name: 'Approve' }).click();
    await panel.getByText(/^Approved by/).waitFor();
    expect(await platform.expectStatus(200, 'GET', '/api/workers/roots')).toMatchObject({ version: 2 });
  });
});
