import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildApproval, createApprovalState } from './test/fake-approvals';
import { submitFields } from './test/fill-fields';

describe('approvals', () => {
  const site = testSite();

  const at = (pathname: string) => site.api.origin + pathname;
  const addApproval = (over = {}) => {
    const approval = buildApproval(`apr_${site.api.approvals.list.length}`, over);
    site.api.approvals.list.push(approval);
    site.api.approvals.links.set('good', approval);
    return approval;
  };

  test('axe finds nothing and nothing is wider than the screen', async () => {
    addApproval();
    const visitor = await site.visit();
    await visitor.goto(at('/review/good'));
    await visitor.getByRole('heading', { name: 'What we know' }).waitFor();
    await checkPage(visitor, 'review');
    await visitor.getByRole('button', { name: 'Approve' }).click();
    await visitor.getByText('This field is required.').waitFor();
    await checkPage(visitor, 'review-with-a-problem');
    await visitor.getByLabel('Amount to pay back').fill('100');
    await visitor.getByLabel('speed').selectOption('at once');
    await submitFields(
      visitor,
      { 'Your name': 'Grace', Reason: 'They are right,\nand have waited long enough.' },
      'Approve',
      'Grace (via review link)',
    );
    await checkPage(visitor, 'review-decided');
    await visitor.goto(at('/review/unknown'));
    await visitor.getByRole('heading', { name: 'This link isn’t valid' }).waitFor();
    await checkPage(visitor, 'review-no-link');

    addApproval({
      title: 'Send the newsletter to 4,120 people?',
      message: null,
      form: null,
      data: [
        { list: 'Customers', people: 3_980, last: '2026-10-01' },
        { list: 'Press', people: 140, last: '2026-11-02' },
      ],
    });
    await visitor.goto(at('/review/good'));
    await visitor.getByRole('columnheader', { name: 'people' }).waitFor();
    await checkPage(visitor, 'review-table');

    const page = await site.visitAsUser('/approvals');
    await page.getByRole('link', { name: 'Send the newsletter' }).click();
    await page.getByRole('button', { name: 'Reject' }).waitFor();
    await checkPage(page, 'approvals');
    await page.getByRole('link', { name: 'Decided' }).click();
    await page.getByText('Approved by Grace (via review link)').first().waitFor();
    await checkPage(page, 'approvals-decided');
    site.api.approvals = createApprovalState();
    await page.getByRole('link', { name: 'Pending', exact: true }).click();
    await page.reload();
    await page.getByRole('heading', { name: 'No pending approvals' }).waitFor();
    await checkPage(page, 'approvals-empty');
  });

  test('a reviewer without an account decides with the link, by keyboard alone, and sends no credential', async () => {
    addApproval();
    const page = await site.visit();
    await page.goto(at('/review/good'));
    await page.getByLabel('Amount to pay back').focus();
    await page.keyboard.type('99.5');
    // Enter in a field must not let a run go on.
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('at');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Grace');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(site.api.approvals.decisions).toEqual([]);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Approve');
    await page.keyboard.press('Enter');
    await page.getByText('The run is continuing.').waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('status');
    expect(site.api.approvals.decisions).toEqual([
      {
        line: 'POST /api/reviews/good/approve',
        body: { data: { amount: 99.5, speed: 'at once' }, name: 'Grace' },
        signedIn: false,
        workspaceId: undefined,
      },
    ]);
  });

  test('a signed-in member who sees the worker decides in their own name, in the workspace of the approval', async () => {
    addApproval({ form: null });
    const page = await site.visitAsUser('/review/good');
    await page.getByText('Deciding as ada@example.com.').waitFor();
    expect(await page.getByLabel('Your name').count()).toBe(0);
    await submitFields(page, { Reason: 'not this year' }, 'Reject', 'The run has ended.');
    expect(site.api.approvals.decisions).toEqual([
      {
        line: 'POST /api/approvals/apr_0/reject',
        body: { reason: 'not this year' },
        signedIn: true,
        workspaceId: 'ws_lab',
      },
    ]);
  });

  test('the member who started the run is told that they can’t decide', async () => {
    addApproval({ permissions: { decide: false } });
    const page = await site.visitAsUser('/review/good');
    await page.getByText('You can’t approve or reject this request').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  });

  test('a member who is signed in to another workspace can still use the link', async () => {
    addApproval({ form: null });
    site.api.approvals.list.length = 0;
    const page = await site.visitAsUser('/review/good');
    await submitFields(page, { 'Your name': 'Ada' }, 'Approve', 'Ada (via review link)');
  });

  test('when another approver is faster, the page shows the decision', async () => {
    const approval = addApproval({ form: null });
    const page = await site.visit();
    await page.goto(at('/review/good'));
    await page.getByRole('button', { name: 'Reject' }).waitFor();
    Object.assign(approval, {
      status: 'approved',
      decided_by: 'bob@example.com',
      decided_at: new Date().toISOString(),
    });
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('bob@example.com').waitFor();
    await page.getByText('The run is continuing.').waitFor();
  });

  test('an approval that expires while the page is open, a problem of a field, and a lost network are shown', async () => {
    addApproval();
    const page = await site.visit();
    await page.goto(at('/review/good'));
    await page.getByLabel('Amount to pay back').fill('5');
    await page.getByLabel('speed').selectOption('at once');
    const approve = page.getByRole('button', { name: 'Approve' });
    const errors = [{ path: 'data.amount', message: 'must be what was paid' }];
    site.api.approvals.refuseNext = { status: 400, body: { detail: 'data.amount: must be what was paid', errors } };
    await approve.click();
    await page.getByText('must be what was paid').waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('input-amount');
    await page.route('**/api/reviews/**', (route) => route.abort());
    await approve.click();
    await page.getByText('Gantry can’t be reached').waitFor();
    await page.unroute('**/api/reviews/**');
    site.api.approvals.links.clear();
    await approve.click();
    await page.getByRole('heading', { name: 'This link isn’t valid' }).waitFor();
  });

  test('nothing that code wrote becomes markup of the page', async () => {
    addApproval({
      title: '<img src=x onerror=alert(1)>',
      message: '<script>alert(1)</script> [x](javascript:alert(1)) ![p](https://evil.example/p.png)',
      data: { '<b>key</b>': '<i>value</i>' },
      form: [{ name: 'a', label: '<u>label</u>', type: 'text' }],
    });
    const page = await site.visit();
    await page.goto(at('/review/good'));
    await page.getByRole('heading', { name: '<img src=x onerror=alert(1)>' }).waitFor();
    await page.getByText('<script>alert(1)</script>').waitFor();
    expect(await page.locator('main :is(img, script, b, i, u, a[href^="javascript"])').count()).toBe(0);
  });

  test('one is open at a time; decided, it moves to the others and the next one opens', async () => {
    addApproval({ title: 'First?', form: null, data: null, message: null });
    addApproval({ title: 'Second?', form: null, worker_id: 'w/1', run_id: 'run_7' });
    const page = await site.visitAsUser('/approvals');
    await page.getByText('No further details.').waitFor();
    await page.getByRole('link', { name: 'Second?' }).click();
    await page.getByRole('heading', { name: 'Second?' }).waitFor();
    expect(await page.getByRole('link', { name: 'Refunds', exact: true }).getAttribute('href')).toBe('/workers/w%2F1');
    expect(await page.getByRole('link', { name: 'View run' }).getAttribute('href')).toBe('/runs/run_7');
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved: Second?').waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Approved: Second?');
    await page.getByRole('heading', { name: 'First?' }).waitFor();
    expect(site.api.approvals.decisions.map(({ line }) => line)).toEqual(['POST /api/approvals/apr_1/approve']);
    await page.getByRole('link', { name: 'Decided' }).click();
    await page.getByRole('heading', { name: 'Second?' }).waitFor();
    await page.getByText('The run continued.').waitFor();
  });

  test('by keyboard alone: j and k move, a and Enter approve, r with a reason rejects', async () => {
    addApproval({ title: 'First?', form: null });
    addApproval({ title: 'Second?', form: null });
    addApproval({ title: 'Third?' });
    const page = await site.visitAsUser('/approvals');
    const open = (title: string) => page.getByRole('heading', { name: title, level: 2 }).waitFor();
    await open('First?');
    await page.keyboard.press('j');
    await open('Second?');
    await page.keyboard.press('j');
    await open('Third?');
    await page.keyboard.press('j');
    // Fields come before the decision.
    await page.keyboard.press('a');
    await page.getByText('This field is required.').first().waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('input-amount');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('k');
    await open('Second?');
    await page.keyboard.press('a');
    expect(site.api.approvals.decisions).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('Approved: Second?').waitFor();
    await open('First?');
    await page.keyboard.press('r');
    await page.keyboard.type('jar of ink first');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Rejected: First?').waitFor();
    expect(site.api.approvals.decisions.map(({ line, body }) => [line, body])).toEqual([
      ['POST /api/approvals/apr_1/approve', {}],
      ['POST /api/approvals/apr_0/reject', { reason: 'jar of ink first' }],
    ]);
  });

  test('a link opens its approval, also one that was decided or deleted', async () => {
    addApproval({ title: 'First?', form: null });
    addApproval({ title: 'Second?', status: 'expired', permissions: { decide: false } });
    const page = await site.visitAsUser('/approvals?approval=apr_1');
    await page.getByRole('heading', { name: 'Second?' }).waitFor();
    await page.getByText('The run ended.').waitFor();
    await page.getByRole('link', { name: 'First?' }).click();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.goto(at('/approvals?approval=apr_9'));
    await page.getByText('This approval was deleted').waitFor();
  });
});
