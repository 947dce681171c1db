import { waitUntil } from '@gantry/testing';
import type { Page } from 'playwright-core';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildApproval, createApprovalState } from './test/fake-approvals';
import { buildCandidate, buildCase, buildRepair, createCandidateState } from './test/fake-candidates';
import { createChangeStream } from './test/fake-changes';
import { buildModel } from './test/fake-chat';
import { CODE_WORKER, createCodeState } from './test/fake-code';
import { buildWorkerRun } from './test/fake-worker-runs';

const ERROR = "KeyError: 'total': the answer of north.example.com has no such column";
const DIFFERENCES = [
  { path: '/total', change: 'changed' as const, was: '1412.47', now: '1412.5' },
  { path: '/rows/3/price', change: 'removed' as const, was: '"12.40"', now: null },
];
const EXPLANATION =
  'The supplier renamed the column `total` to `sum` on **Monday**.\n\n- The code now reads either.\n- What it returns stays as it was.';

describe('the repair of a failed run', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.workerRuns.length = 0;
    site.api.approvals = createApprovalState();
    site.api.candidates = createCandidateState();
    site.api.changes = createChangeStream();
    site.api.code = createCodeState();
    site.api.chat.models = [buildModel('qwen3', { is_default: true })];
    site.api.accounts.me.role = 'owner';
  });

  function addFailed() {
    const fake = buildWorkerRun({
      id: 'run_failed1',
      worker_id: CODE_WORKER,
      status: 'failed',
      error: ERROR,
      error_code: 'exception',
      error_type: 'KeyError',
      completed_at: new Date().toISOString(),
      duration_ms: 2_400,
    });
    site.api.workerRuns.push(fake);
    return fake.run;
  }

  /** A candidate that mends the run, with an approval that waits. */
  function propose(others = ['same', 'same', 'same', 'same', 'same'] as Parameters<typeof buildCase>[1][]) {
    const { code, candidates, approvals } = site.api;
    const [current] = code.versions;
    const failed = buildCase('run_failed1', 'fixed', {
      recorded: { status: 'failed', error: ERROR, error_code: 'exception', output: null },
    });
    const cases = [
      failed,
      ...others.map((outcome, at) =>
        buildCase(`run_8sWnQ${at}`, outcome, outcome === 'different' ? { differences: DIFFERENCES } : {}),
      ),
    ];
    const proposed = buildCandidate('cnd_1', cases, {
      origin: 'repair',
      repair_id: 'rpr_1',
      base_sha: current?.sha ?? '',
      message: 'Read the renamed column',
      permissions: { promote: false, drop: false, approve: false },
    });
    const files = { ...current?.files };
    files['main.py'] = (files['main.py'] ?? '').replace('row["price"]', 'row.get("price", row.get("sum"))');
    candidates.list.push(proposed);
    candidates.files.set('cnd_1', files);
    const approval = buildApproval('apr_1', {
      kind: 'candidate',
      candidate_id: 'cnd_1',
      run_id: 'run_failed1',
      worker_id: CODE_WORKER,
      worker_name: 'Price report',
      title: 'Repair of Price report: read the renamed column',
      form: null,
      message: EXPLANATION,
      data: { summary: proposed.summary },
    });
    approvals.list.push(approval);
    const steps = ['Read the run and its log', 'Read main.py', 'Proposed a change of main.py', 'Rehearsed 6 runs'];
    candidates.repairs.set(
      'run_failed1',
      buildRepair('run_failed1', {
        status: 'waiting',
        proven: true,
        candidate_id: 'cnd_1',
        approval_id: 'apr_1',
        steps,
        explanation: EXPLANATION,
      }),
    );
    return { proposed, approval };
  }

  const open = async (page: Page) => {
    await page.getByRole('button', { name: 'Repair…' }).click();
    await page.getByRole('dialog', { name: 'Repair this run' }).waitFor();
  };
  const getPanel = (page: Page) => page.getByRole('region', { name: 'Repair', exact: true });
  const emitChange = (id = 'run_failed1') => site.api.changes.emit('change', { noun: 'runs', id });

  test('axe finds nothing and nothing is wider than the screen', async () => {
    addFailed();
    const page = await site.visitAsUser('/runs/run_failed1');
    await open(page);
    await checkPage(page, 'repair-dialog');
    await page.keyboard.press('Escape');

    site.api.candidates.repairs.set('run_failed1', buildRepair('run_failed1'));
    await page.reload();
    await getPanel(page).getByText('Read main.py').waitFor();
    await checkPage(page, 'repair-working');

    propose(['same', 'different', 'same', 'inconclusive', 'same']);
    await page.reload();
    await getPanel(page).getByText('row.get("price", row.get("sum"))').first().waitFor();
    await checkPage(page, 'repair-waiting');

    await page.goto(`${site.api.origin}/approvals`);
    await page.getByRole('table', { name: 'Evidence' }).waitFor();
    await page.getByText('What it returns stays as it was.').waitFor();
    await checkPage(page, 'approval-of-candidate');

    site.api.chat.models = [];
    site.api.candidates.repairs.clear();
    await page.goto(`${site.api.origin}/runs/run_failed1`);
    await page.getByRole('button', { name: 'Repair…' }).click();
    await page.getByText('MODEL_PROVIDERS', { exact: true }).waitFor();
    await checkPage(page, 'repair-no-model');
  });

  test('it is requested with instructions, followed live, and approved on the same page', async () => {
    addFailed();
    const page = await site.visitAsUser('/runs/run_failed1');
    await waitUntil(() => site.api.changes.watchers.size > 0);
    await open(page);
    await page.getByLabel('Instructions for the model').fill('The supplier renamed a column');
    await page.getByRole('combobox', { name: 'Model' }).selectOption('local/qwen3');
    await page.getByRole('button', { name: 'Repair', exact: true }).click();
    const panel = getPanel(page);
    await panel.getByText('Reading the run and the code…').waitFor();
    expect(site.api.candidates.sent).toEqual([
      {
        line: 'POST /api/runs/run_failed1/repair',
        body: { instructions: 'The supplier renamed a column', model: 'local/qwen3' },
      },
    ]);
    expect(await page.getByRole('button', { name: 'Repair…' }).count()).toBe(0);

    Object.assign(site.api.candidates.repairs.get('run_failed1') ?? {}, { steps: ['Read the log of the run'] });
    emitChange();
    await panel.getByText('Read the log of the run').waitFor();

    propose();
    emitChange();
    await panel
      .getByRole('heading', { name: 'Fixes the failed run and doesn’t change any of the 5 other runs' })
      .waitFor();
    await panel.getByText('The code now reads either.').waitFor();
    await panel.getByText('$0.0123').waitFor();
    await panel.getByLabel('Reason').fill('Seen and understood');
    await panel.getByRole('button', { name: 'Approve' }).click();
    await panel.getByText('Approved by ada@example.com').waitFor();
    expect(site.api.approvals.decisions).toMatchObject([
      { line: 'POST /api/approvals/apr_1/approve', body: { reason: 'Seen and understood' } },
    ]);
  });

  test('a repair at work can be stopped, and then started again', async () => {
    addFailed();
    site.api.candidates.repairs.set('run_failed1', buildRepair('run_failed1', { created_by: null }));
    const page = await site.visitAsUser('/runs/run_failed1');
    const panel = getPanel(page);
    await panel.getByText('Started automatically').waitFor();
    await panel.getByRole('button', { name: 'Stop' }).click();
    await panel.getByText('Stopped', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Repair again…' }).waitFor();
  });

  test('the evidence shows the differences, and links to both runs', async () => {
    addFailed();
    propose(['different', 'broken', 'inconclusive']);
    const page = await site.visitAsUser('/runs/run_failed1');
    const panel = getPanel(page);
    await panel
      .getByRole('heading', {
        name: 'Fixes the failed run, breaks 1 of 2 other runs, changes the result of 1 more and has inconclusive results for 1 run',
      })
      .waitFor();
    const evidence = panel.getByRole('table', { name: 'Evidence' });
    expect(await evidence.getByText('1412.47').isVisible()).toBe(true);
    await evidence.getByText('None', { exact: true }).waitFor();
    const details = evidence.getByRole('button', { name: 'Details for run 2' });
    await details.focus();
    await page.keyboard.press('Enter');
    expect(await details.getAttribute('aria-expanded')).toBe('false');
    await evidence.getByRole('button', { name: 'Details for Failed run' }).click();
    const link = evidence.getByRole('link', { name: 'Candidate rehearsal' }).first();
    expect(await link.getAttribute('href')).toBe('/runs/run_failed1_r');
  });

  test('another open repair is explained, and viewers cannot start one', async () => {
    addFailed();
    site.api.candidates.refuseNext = { status: 409, body: { detail: 'open', code: 'repair_open' } };
    const page = await site.visitAsUser('/runs/run_failed1');
    await open(page);
    await page.getByRole('button', { name: 'Repair', exact: true }).click();
    await page.getByText('Another repair is open for this worker').waitFor();
    site.api.accounts.me.role = 'viewer';
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Price report' }).waitFor();
    await page.getByText('In the record', { exact: false }).count();
    expect(await page.getByRole('button', { name: 'Repair…' }).count()).toBe(0);
  });

  test('a rehearsal is labelled as such, and offers neither a repair nor another run', async () => {
    const fake = buildWorkerRun({
      id: 'run_failed2',
      worker_id: CODE_WORKER,
      status: 'failed',
      error: ERROR,
      error_code: 'exception',
      trigger: 'rehearsal',
      parent_run_id: 'run_failed1',
      worker_version: null,
    });
    site.api.workerRuns.push(fake);
    const page = await site.visitAsUser('/runs/run_failed2');
    await page.getByText('Rehearsal of run_failed1: no external effects').waitFor();
    expect(await page.getByRole('button', { name: /Repair|Run again/ }).count()).toBe(0);
  });
});
