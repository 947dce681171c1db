import {
  type AuditAction,
  type AuditEntry,
  buildAuditMessage,
  MESSAGE_BUILDERS,
  RESOURCE_TYPE_LABELS,
} from './audit/build-audit-message';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { createAlertState } from './test/fake-alerts';

let count = 0;

const entry = (action: AuditAction, over: Partial<AuditEntry> = {}): AuditEntry => ({
  id: `aud_${++count}`,
  created_at: new Date(Date.now() - count * 3_600_000).toISOString(),
  action,
  actor: { kind: 'session', id: 'usr_ada', label: 'ada@example.com', token_id: null },
  resource: { type: action.split('.')[0] ?? '', id: 'x-1' },
  details: {},
  address: '203.0.113.7',
  user_agent: 'Firefox on Linux',
  request_id: 'req_1',
  source: 'worker-api',
  ...over,
});

const toPlainText = (told: AuditEntry): string =>
  buildAuditMessage(told)
    .map((part) => (typeof part === 'string' ? part : (part.name ?? part.id)))
    .join('');

describe('sentences of the audit log', () => {
  test.each(Object.keys(MESSAGE_BUILDERS) as AuditAction[])(
    '%s reads well even where an old entry has no details',
    (action) => {
      const text = toPlainText(entry(action));
      expect(text).toMatch(/^[a-z]/);
      expect(text).not.toMatch(/undefined|null|NaN|\{|\[object|_|\.\w/);
    },
  );

  test('every kind of resource that actions name can be filtered by', () => {
    const nouns = new Set(Object.keys(MESSAGE_BUILDERS).map((action) => action.split('.')[0] ?? ''));
    // Its entries are about the workspace.
    nouns.delete('secret_keys');
    expect([...nouns].filter((noun) => !(noun in RESOURCE_TYPE_LABELS))).toEqual([]);
  });

  test.each<[AuditAction, Record<string, unknown>, string]>([
    [
      'member.role_changed',
      { email: 'grace@example.com', from: 'member', to: 'admin' },
      'made grace@example.com an admin',
    ],
    ['automation.updated', { from: 3, to: 4 }, 'deployed version 4 of x-1'],
    ['worker.updated', { fields: ['files'], version: 4, to: 'sha' }, 'deployed version 4 of x-1'],
    [
      'worker.updated',
      { fields: ['limits', 'python_dependencies', 'secrets'] },
      'changed the limits, packages and secrets for x-1',
    ],
    [
      'worker.updated',
      { change_source: 'rollback', version: 9, back_to: 7 },
      'rolled x-1 back to version 7, creating version 9',
    ],
    ['context.updated', { from: 'a', to: 'b', change_source: 'files' }, 'saved a new version of the context x-1'],
    ['secret.set', { isNew: false }, 'replaced the secret x-1'],
    ['secret.set', { isNew: true, hosts: ['a.example'] }, 'set the secret x-1, restricted to a.example'],
    [
      'workspace.exposure_changed',
      { allow_exposed_credentials: false },
      'stopped workers from exposing connection and secret values to code',
    ],
    ['alert.delivery_replayed', { replayed: 3 }, 'resent 3 deliveries for x-1'],
    [
      'approval.rejected',
      { worker_id: 'refunds', title: 'Refund?', reason: 'too much' },
      'rejected “Refund?” for refunds: too much',
    ],
    ['workspace.renamed', { from: 'Old', to: 'New' }, 'renamed the workspace from “Old” to “New”'],
  ])('%s %j', (action, details, said) => {
    expect(toPlainText(entry(action, { details }))).toBe(said);
  });

  test('an action that this page does not know yet is still shown', () => {
    expect(toPlainText(entry('robot.dismissed' as AuditAction))).toBe('changed robot x-1');
  });
});

describe('the audit log', () => {
  const site = testSite();
  beforeEach(() => {
    count = 0;
    site.api.alerts = { ...createAlertState(), workers: [{ id: 'csv-report', name: 'CSV report' }] };
    site.api.accounts.audit = [
      entry('worker.updated', {
        resource: { type: 'worker', id: 'csv-report' },
        details: { fields: ['files'], version: 4, change_source: 'files' },
      }),
      entry('member.role_changed', {
        resource: { type: 'member', id: 'usr_bob' },
        details: { email: 'bob@example.com', from: 'member', to: 'viewer' },
      }),
      entry('secret.set', { resource: { type: 'secret', id: 'CRM_TOKEN' }, details: { isNew: true } }),
      entry('alert.disabled', {
        actor: { kind: 'system', id: null, label: null, token_id: null },
        details: { reason: 'the receiver answered 410 Gone' },
      }),
      entry('run.cancelled', {
        actor: { kind: 'workspace_token', id: null, label: 'ci', token_id: 'tok_9' },
        resource: { type: 'run', id: 'run_8' },
      }),
    ];
  });

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/settings/audit');
    await page.getByRole('link', { name: 'CSV report' }).waitFor();
    await page.getByRole('button', { name: 'Details' }).nth(1).click();
    await page.getByText('Firefox on Linux').waitFor();
    await checkPage(page, 'audit-log');
  });

  test('entries are sentences with names and links', async () => {
    const page = await site.visitAsUser('/settings/audit');
    await page.getByText('Ada deployed version 4 of CSV report').waitFor();
    const sentences = await page.getByRole('list', { name: 'Entries' }).locator('p').allTextContents();
    expect(sentences).toEqual([
      'Ada deployed version 4 of CSV report',
      'Ada made bob@example.com a viewer',
      'Ada set the secret CRM_TOKEN',
      'Gantry disabled an alert: the receiver answered 410 Gone',
      'The token “ci” cancelled a run',
    ]);
    expect(await page.getByRole('link', { name: 'a run' }).getAttribute('href')).toBe('/runs/run_8');
  });

  test('filters are in the address, and the export holds what is shown', async () => {
    const page = await site.visitAsUser('/settings/audit?kind=secret');
    await page.getByText('set the secret').waitFor();
    expect(await page.getByRole('list', { name: 'Entries' }).getByRole('listitem').count()).toBe(1);
    await page.getByLabel('Actor', { exact: true }).selectOption('bob@example.com');
    await page.getByText('No entries match these filters.').waitFor();
    await page.getByLabel('From', { exact: true }).fill('2026-01-02');
    const url = new URL(page.url());
    expect(Object.fromEntries(url.searchParams)).toEqual({ kind: 'secret', person: 'usr_bob', from: '2026-01-02' });
    const saved = page.waitForEvent('download');
    const asked = page.waitForRequest('**/api/audit-log/export?*');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    expect((await saved).suggestedFilename()).toBe('audit-log.csv');
    expect(new URL((await asked).url()).searchParams.get('resource_type')).toBe('secret');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('deployed version 4').waitFor();
  });
});
