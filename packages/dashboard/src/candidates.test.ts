import type { Page } from 'playwright-core';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildApproval, createApprovalState } from './test/fake-approvals';
import { buildCandidate, buildCase, createCandidateState } from './test/fake-candidates';
import { CODE_WORKER, createCodeState } from './test/fake-code';

describe('candidates', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.approvals = createApprovalState();
    site.api.candidates = createCandidateState();
    site.api.code = createCodeState();
    site.api.accounts.me.role = 'owner';
  });

  const toWorkerPath = (tab: string) => `/workers/${CODE_WORKER}/${tab}`;
  const toCandidatePath = (id: string) => toWorkerPath(`candidates/${id}`);

  function add(
    id: string,
    cases: Parameters<typeof buildCandidate>[1],
    over: Parameters<typeof buildCandidate>[2] = {},
  ) {
    const [current] = site.api.code.versions;
    const files = { ...current?.files };
    files['lib/prices.py'] = 'def rounded(price):\n    return round(price, 1)\n';
    const made = buildCandidate(id, cases, { base_sha: current?.sha ?? '', ...over });
    site.api.candidates.list.push(made);
    site.api.candidates.files.set(id, files);
    return made;
  }

  const DIFFERENT = buildCase('run_8sWnQ1', 'different', {
    base_rehearsal_run_id: 'run_8sWnQb',
    differences: [{ path: '/total', change: 'changed', was: '1412.47', now: '1412.5' }],
  });

  test('axe finds nothing and nothing is wider than the screen', async () => {
    add(
      'cnd_1',
      [buildCase('run_8sWnQ0', 'same'), DIFFERENT, buildCase('run_8sWnQ2', 'broken'), buildCase('run_8sWnQ3', null)],
      {
        status: 'rehearsing',
      },
    );
    add('cnd_2', [buildCase('run_8sWnQ0', 'same'), buildCase('run_8sWnQ1', 'same')], { message: 'Log less' });
    add('cnd_3', [buildCase('run_8sWnQ0', 'fixed')], { message: 'Read the renamed column', origin: 'repair' });
    const page = await site.visitAsUser(toCandidatePath('cnd_1'));
    await page.getByText('round(price, 1)').first().waitFor();
    await checkPage(page, 'candidate');
    await page.goto(site.api.origin + toCandidatePath('cnd_2'));
    await page.getByRole('heading', { name: 'Doesn’t change any of the 2 runs' }).waitFor();
    await page.getByText('round(price, 1)').first().waitFor();
    await checkPage(page, 'candidate-same');
    await page.goto(site.api.origin + toWorkerPath('versions'));
    await page.getByRole('link', { name: 'Log less' }).waitFor();
    await page.getByText('Log how many prices there are').waitFor();
    await checkPage(page, 'worker-versions-with-candidates');
  });

  test('one that changes nothing is promoted, and the history shows it', async () => {
    add('cnd_1', [buildCase('run_8sWnQ0', 'same')]);
    const page = await site.visitAsUser(toWorkerPath('versions'));
    await page.getByRole('link', { name: 'Round the total' }).click();
    await page.getByRole('heading', { name: 'Doesn’t change the recorded run' }).waitFor();
    await page.getByRole('button', { name: 'Promote' }).click();
    await page.getByText('Candidate promoted to the current version of Price report').waitFor();
    expect(site.api.candidates.sent).toEqual([
      { line: `POST /api/workers/${CODE_WORKER}/candidates/cnd_1/promote`, body: { force: false } },
    ]);
    await page.getByText('No pending candidates').waitFor();
    await page.getByRole('button', { name: 'Show all (1)' }).click();
    await page.getByText('Promoted', { exact: true }).waitFor();
  });

  const refuse = (code: string) => {
    site.api.candidates.refuseNext = { status: 409, body: { detail: code, code } };
  };
  const promote = (page: Page) => page.getByRole('button', { name: 'Promote', exact: true }).click();

  test('the page explains why it can’t be promoted; without its rehearsals it still can be', async () => {
    add('cnd_1', [buildCase('run_8sWnQ0', 'same'), buildCase('run_8sWnQ1', null)], { status: 'rehearsing' });
    const page = await site.visitAsUser(toCandidatePath('cnd_1'));
    await page.getByRole('heading', { name: 'Rehearsed 1 of 2 runs so far' }).waitFor();
    refuse('worker_changed');
    await promote(page);
    await page.getByText('Not promoted: the worker has changed').waitFor();
    refuse('rehearsing');
    await promote(page);
    await page.getByText('1 rehearsal is still running').waitFor();
    await page.getByRole('button', { name: 'Promote anyway' }).click();
    await page.getByText('Candidate promoted to the current version of Price report').waitFor();
    expect(site.api.candidates.sent.at(-1)?.body).toEqual({ force: true });
  });

  test('one that breaks a run asks for a second confirmation, and is dropped by keyboard alone', async () => {
    add('cnd_1', [buildCase('run_8sWnQ0', 'broken')]);
    const page = await site.visitAsUser(toCandidatePath('cnd_1'));
    await page.getByRole('button', { name: 'Promote candidate' }).click();
    await page.getByRole('button', { name: 'Promote anyway (breaks 1 run)' }).waitFor();
    await page.getByRole('button', { name: 'Go back' }).click();
    await page.getByRole('button', { name: 'Drop candidate' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('Dropped by ada@example.com').waitFor();
    expect(await page.getByRole('button', { name: /Promote|Drop/ }).count()).toBe(0);
  });

  test('the candidate of a repair is decided by its approval, on the same page', async () => {
    add('cnd_1', [buildCase('run_failed1', 'fixed')], {
      origin: 'repair',
      permissions: { promote: false, drop: false, approve: false },
    });
    site.api.approvals.list.push(
      buildApproval('apr_1', { kind: 'candidate', candidate_id: 'cnd_1', run_id: 'run_failed1', form: null }),
    );
    const page = await site.visitAsUser(toCandidatePath('cnd_1'));
    await page.getByRole('link', { name: 'View failed run' }).waitFor();
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Candidate rejected. The worker is unchanged.').waitFor();
    expect(site.api.approvals.decisions).toMatchObject([{ line: 'POST /api/approvals/apr_1/reject' }]);
  });

  test('a draft is rehearsed before it is saved', async () => {
    const page = await site.visitAsUser(toWorkerPath('code'));
    const editor = page.getByRole('textbox', { name: 'Code in main.py' });
    await editor.click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('# rounded\n');
    await page.getByRole('button', { name: 'Dry run…' }).click();
    await page.getByLabel('Past runs to use').selectOption('3');
    await page.getByLabel('Change message').fill('Say that it is rounded');
    await page.getByRole('button', { name: 'Start dry run', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Say that it is rounded' }).waitFor();
    await page.getByRole('heading', { name: 'Rehearsed 0 of 2 runs so far' }).waitFor();
    expect(site.api.candidates.sent[0]).toMatchObject({
      line: `POST /api/workers/${CODE_WORKER}/candidates`,
      body: { last_successful: 3, message: 'Say that it is rounded', files: [{ path: 'main.py' }] },
    });
  });
});
