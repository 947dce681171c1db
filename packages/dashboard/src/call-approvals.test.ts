import type { Page } from 'playwright-core';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildApproval, createApprovalState } from './test/fake-approvals';
import { buildStep, buildWorkerRun } from './test/fake-worker-runs';
import { fillFields, submitFields } from './test/fill-fields';

const issueSchema = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'In one line', maxLength: 40 },
    body: { type: 'string' },
    priority: { type: 'integer', minimum: 1, maximum: 4 },
    labels: { type: 'array' },
  },
  required: ['title'],
};
const create = () => ({
  id: 'call_1',
  tool: 'linear__create_issue',
  arguments: { title: 'Import broken', body: 'It loses the last row.\nSince Monday.', priority: 1 },
  input_schema: issueSchema as Record<string, unknown> | null,
  decision: null,
});
const remove = () => ({
  id: 'call_2',
  tool: 'linear__delete_issue',
  arguments: { id: 'LIN-7\u202e' },
  decision: null,
  input_schema: null,
});
const send = () => ({
  id: 'call_3',
  tool: 'run__newsletter',
  arguments: { list: 'press' },
  decision: null,
  input_schema: { type: 'object', properties: { list: { enum: ['press', 'customers'] } } },
});

describe('approvals of tool calls', () => {
  const site = testSite();

  function addApproval(calls: NonNullable<ReturnType<typeof buildApproval>['calls']>) {
    const title = calls.length === 1 ? 'The agent asks to call linear__create_issue' : 'The agent asks to make 3 calls';
    const message = 'Calls are made with exactly the approved arguments.';
    const approval = buildApproval('apr_calls', { title, message, data: {}, form: null, calls });
    site.api.approvals.list.push(approval);
    site.api.approvals.links.set('good', approval);
    return approval;
  }
  const decisions = () => site.api.approvals.decisions.map(({ line, body }) => ({ line, body }));
  const isDecided = (page: Page) => page.waitForResponse((response) => /\/(approve|reject)$/.test(response.url()));

  test('axe finds nothing and nothing is wider than the screen', async () => {
    addApproval([create()]);
    const page = await site.visitAsUser('/approvals');
    await page.getByRole('button', { name: 'Edit arguments' }).waitFor();
    await checkPage(page, 'approval-of-a-call');
    await page.getByRole('button', { name: 'Edit arguments' }).click();
    await submitFields(page, { priority: '9' }, 'Approve', 'Enter 4 or less.');
    await checkPage(page, 'approval-of-a-call-corrected');

    site.api.approvals = createApprovalState();
    const approval = addApproval([create(), remove(), send()]);
    await page.reload();
    await page.getByLabel('Decision for 1. linear: create issue').selectOption('correct');
    await page.getByLabel('Decision for 2. linear: delete issue').selectOption('refuse');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Choose an option.').waitFor();
    await checkPage(page, 'approval-of-calls');
    await page.goto(`${site.api.origin}/review/good`);
    await page.getByRole('button', { name: 'Confirm' }).waitFor();
    await checkPage(page, 'review-of-calls');
    const [first, second, third] = approval.calls ?? [];
    if (!first || !second || !third) throw new Error('no calls');
    first.decision = { status: 'corrected', arguments: { title: 'Import loses rows', priority: 2 }, reason: null };
    second.decision = { status: 'refused', arguments: null, reason: 'the customer still writes there' };
    third.decision = { status: 'approved', arguments: null, reason: null };
    Object.assign(approval, { status: 'approved', decided_at: approval.requested_at, decided_by: 'ada@example.com' });
    await page.goto(`${site.api.origin}/approvals/decided?approval=apr_calls`);
    await page.getByText('Reason: the customer still writes there').waitFor();
    await checkPage(page, 'approval-of-calls-decided');
  });

  test('a single call is approved like any other approval', async () => {
    addApproval([create()]);
    const page = await site.visitAsUser('/approvals');
    await page.getByText('It loses the last row.').waitFor();
    const decided = isDecided(page);
    await page.getByRole('button', { name: 'Approve' }).click();
    await decided;
    expect(decisions()).toEqual([
      { line: 'POST /api/approvals/apr_calls/approve', body: { calls: [{ id: 'call_1', decision: 'approve' }] } },
    ]);
    await page.getByText('Decided: The agent asks to call').waitFor();
  });

  test('arguments are corrected in fields of the schema, and untouched ones stay unchanged', async () => {
    addApproval([create()]);
    const page = await site.visitAsUser('/approvals');
    await page.getByRole('button', { name: 'Edit arguments' }).click();
    await submitFields(page, { title: 'x'.repeat(41) }, 'Approve', 'Use at most 40 characters (currently 41).');
    await fillFields(page, { title: 'Import loses the last row', labels: '["import"]' });
    const errors = [{ path: 'calls.0.arguments.priority', message: 'priority must be at least 2' }];
    const refusal = { detail: 'calls.0.arguments.priority: must be at least 2', code: 'invalid_calls', errors };
    site.api.approvals.refuseNext = { status: 400, body: refusal };
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('priority must be at least 2').waitFor();
    await page.getByLabel('priority').fill('2');
    const decided = isDecided(page);
    await page.getByRole('button', { name: 'Approve' }).click();
    await decided;
    const { body } = create().arguments;
    const corrected = { title: 'Import loses the last row', body, priority: 2, labels: ['import'] };
    expect(decisions()[0]?.body).toEqual({ calls: [{ id: 'call_1', decision: 'approve', arguments: corrected }] });
  });

  test('a call is refused while the run goes on, and the run is stopped by another button', async () => {
    addApproval([create()]);
    const page = await site.visitAsUser('/approvals');
    await page.getByLabel('Reason').fill('not before Friday');
    const refused = isDecided(page);
    await page.getByRole('button', { name: 'Reject call' }).click();
    await refused;
    site.api.approvals.list.length = 0;
    addApproval([create()]);
    await page.reload();
    const stopped = isDecided(page);
    await page.getByRole('button', { name: 'Stop run' }).click();
    await stopped;
    expect(decisions()).toEqual([
      {
        line: 'POST /api/approvals/apr_calls/approve',
        body: { calls: [{ id: 'call_1', decision: 'refuse' }], reason: 'not before Friday' },
      },
      { line: 'POST /api/approvals/apr_calls/reject', body: {} },
    ]);
  });

  test('several calls are decided one by one, those without a schema as JSON', async () => {
    addApproval([create(), remove(), send()]);
    const page = await site.visitAsUser('/approvals');
    await page.getByText('LIN-7\\u{202e}').waitFor();
    await page.getByLabel('Decision for 1. linear: create issue').selectOption('refuse');
    await page.getByLabel('Reason for the agent').fill('there is one');
    await page.getByLabel('Decision for 2. linear: delete issue').selectOption('correct');
    await page.getByLabel('Arguments as JSON').fill('["LIN-8"]');
    await page.getByLabel('Decision for 3. Run newsletter').selectOption('approve');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Enter a JSON object.').waitFor();
    await page.getByLabel('Arguments as JSON').fill('{"id": "LIN-8"}');
    const decided = isDecided(page);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await decided;
    expect(decisions()[0]?.body).toEqual({
      calls: [
        { id: 'call_1', decision: 'refuse', reason: 'there is one' },
        { id: 'call_2', decision: 'approve', arguments: { id: 'LIN-8' } },
        { id: 'call_3', decision: 'approve' },
      ],
    });
  });

  test('the holder of a link approves and refuses, and corrects after signing in', async () => {
    addApproval([create(), remove(), send()]);
    const page = await site.visit();
    await page.goto(`${site.api.origin}/review/good`);
    const first = page.getByLabel('Decision for 1. linear: create issue');
    await first.waitFor();
    expect(await first.locator('option').allTextContents()).toEqual(['Choose…', 'Approve', 'Reject']);
    const link = page.getByRole('link', { name: 'Sign in to edit the arguments' });
    expect(await link.getAttribute('href')).toBe('/approvals?approval=apr_calls');
    await first.selectOption('approve');
    await page.getByLabel('Decision for 2. linear: delete issue').selectOption('refuse');
    await page.getByLabel('Decision for 3. Run newsletter').selectOption('approve');
    await submitFields(page, { 'Your name': 'Grace' }, 'Confirm', 'The run is continuing.');
    expect(decisions()[0]).toMatchObject({ line: 'POST /api/reviews/good/approve', body: { name: 'Grace' } });
  });

  test('the conversation of a run shows who corrected and who refused a call', async () => {
    const fake = buildWorkerRun({ id: 'run_calls', status: 'running' });
    site.api.workerRuns.push(fake);
    const at = (ms: number) => new Date(Date.parse(fake.run.created_at) + ms).toISOString();
    const emitCall = (event: string, call: { id: string; tool: string }, text: string) =>
      site.api.emit(fake, event, { name: call.tool, text, call_id: call.id, at: at(1_000) });
    const [corrected, refused] = [
      {
        ...create(),
        decision: { status: 'corrected' as const, arguments: { title: 'Import loses rows' }, reason: null },
      },
      { ...remove(), decision: { status: 'refused' as const, arguments: null, reason: 'still needed' } },
    ];
    fake.run.steps.push(buildStep(1, 'x', { kind: 'approve', approval_id: 'apr_calls' }));
    fake.run.approvals.push({
      id: 'apr_calls',
      status: 'approved',
      title: 'The agent asks to make 2 calls',
      message: null,
      reason: null,
      requested_at: at(500),
      expires_at: at(9_000),
      decided_at: at(900),
      decided_by: 'grace@example.com',
      calls: [corrected, refused],
    });
    site.api.emit(fake, 'status', { status: 'running', at: at(40) });
    for (const call of [corrected, refused]) {
      emitCall('tool_call', call, JSON.stringify(call.arguments));
      emitCall('tool_result', call, call === refused ? 'still needed' : 'LIN-12');
    }
    const page = await site.visitAsUser('/runs/run_calls');
    const talk = page.getByRole('region', { name: 'Conversation' });
    await talk.getByText('by grace@example.com').nth(1).waitFor();
    await talk.getByText('still needed').waitFor();
    await talk.locator('summary').filter({ hasText: 'linear: create issue' }).click();
    await talk.getByText('Import loses rows').waitFor();
    await checkPage(page, 'run-with-decided-calls');
  });
});
