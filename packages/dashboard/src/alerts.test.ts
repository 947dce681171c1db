import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { buildAlert, buildDelivery } from './test/fake-alerts';
import { submitFields } from './test/fill-fields';

describe('alerts', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.alerts.workers = Array.from({ length: 300 }, (_, index) => ({
      id: `w-${index}`,
      name: `Worker ${index}`,
    }));
    site.api.alerts.workers.push({ id: 'price-watch', name: 'Price watch' });
    site.api.alerts.automations = [{ id: 'aut_sales', name: 'Weekly sales report' }];
  });

  function addAlerts() {
    const onCall = buildAlert({
      id: 'alrt_call',
      worker_id: 'price-watch',
      on: ['run.failed', 'run.timed_out'],
      description: 'Page the on-call engineer',
      email_to: 'oncall@example.com',
    });
    site.api.alerts.list = [
      onCall,
      buildAlert({ automation_id: 'aut_sales', enabled: false }),
      buildAlert({ url: null, email_to: 'team@example.com', on: ['approval.requested'] }),
      buildAlert({ enabled: false, disabled_reason: 'the receiver answered 410 Gone', on: ['schedule.missed'] }),
    ];
    site.api.alerts.deliveries = [
      buildDelivery(onCall.id),
      buildDelivery(onCall.id, {
        id: 'dlv_dead',
        status: 'dead',
        type: 'run.timed_out',
        attempts: [500, 500, null].map((status, index) => ({
          at: new Date(Date.now() - (4 - index) * 3_600_000).toISOString(),
          status,
          duration_ms: 120,
          error: status ? `HTTP ${status}` : 'no answer within 10 s',
          response: status ? 'upstream is down' : null,
        })),
      }),
      buildDelivery(onCall.id, { channel: 'email', status: 'pending', attempts: [], ended_at: null }),
    ];
  }

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/alerts');
    await page.getByRole('heading', { name: 'No alerts yet' }).waitFor();
    await checkPage(page, 'alerts-empty');
    addAlerts();
    await page.reload();
    await page.getByRole('link', { name: 'Price watch' }).waitFor();
    await page.getByRole('link', { name: 'Weekly sales report' }).waitFor();
    await checkPage(page, 'alerts');
    await page.getByRole('link', { name: 'New alert' }).click();
    await page.getByLabel('Source').selectOption('worker');
    await page.getByRole('combobox', { name: 'Worker' }).fill('price');
    await page.getByRole('option', { name: 'Price watch' }).waitFor();
    await checkPage(page, 'alerts-new');
    await page.goto(`${site.api.origin}/alerts/alrt_call`);
    await page.getByRole('listitem').filter({ hasText: 'Failed' }).getByText('A run timed out').click();
    await page.getByText('upstream is down').first().waitFor();
    await checkPage(page, 'alert');
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Test not delivered to every channel').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await checkPage(page, 'alert-edit');
  });

  test('one is made for a worker found by its name, and its signing secret is shown once', async () => {
    const page = await site.visitAsUser('/alerts/new');
    await page.getByLabel('Source').selectOption('worker');
    await submitFields(page, { 'Email address': '' }, 'Create alert', 'Enter a webhook URL');
    await submitFields(page, { 'Webhook URL': 'https://hooks.example.com/x' }, 'Create alert', 'Choose a worker.');
    await page.getByRole('combobox', { name: 'Worker' }).fill('worker 29');
    await page.getByRole('option', { name: 'Worker 290' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('combobox', { name: 'Worker' }).inputValue()).toBe('Worker 290');
    await page.getByLabel('A run is waiting for approval').check();
    await page.getByRole('button', { name: 'Create alert' }).click();
    await page.getByText('whsec_').waitFor();
    expect(site.api.alerts.sent).toEqual([
      {
        line: 'POST /api/alerts',
        body: {
          on: ['run.failed', 'run.timed_out', 'approval.requested'],
          url: 'https://hooks.example.com/x',
          email_to: null,
          description: '',
          worker_id: 'w-290',
        },
      },
    ]);
    await page.getByRole('link', { name: 'View alert' }).click();
    await page.getByRole('heading', { name: 'Webhook to hooks.example.com' }).waitFor();
    expect(await page.getByText('whsec_').count()).toBe(0);
  });

  test('the worker in the address is preselected, and the list shows its alerts alone', async () => {
    addAlerts();
    const page = await site.visitAsUser('/alerts?worker=price-watch');
    await page.getByText('Showing alerts for Price watch').waitFor();
    expect(await page.getByRole('table', { name: 'Alerts' }).locator('tbody').getByRole('row').count()).toBe(1);
    await page.getByRole('link', { name: 'New alert' }).click();
    await page.getByRole('button', { name: 'Create alert' }).click();
    await page.getByRole('heading', { name: 'Email to ada@example.com' }).waitFor();
    expect(site.api.alerts.sent[0]?.body).toMatchObject({ worker_id: 'price-watch', email_to: 'ada@example.com' });
  });

  test('where no email is sent, the form says so and asks for a webhook', async () => {
    site.api.alerts.sendsEmail = false;
    const page = await site.visitAsUser('/alerts/new');
    await page.getByText('Email isn’t set up on this installation').waitFor();
    expect(await page.getByLabel('Email address').isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Create alert' }).click();
    await page.getByText('Enter a webhook URL').waitFor();
  });

  test('a problem that the server reports is shown at its field', async () => {
    const page = await site.visitAsUser('/alerts/new');
    await page.getByLabel('Webhook URL').fill('http://10.0.0.1/');
    const errors = [{ path: 'url', message: 'is a private address' }];
    site.api.alerts.refuseNext = { status: 400, body: { detail: 'url: is a private address', errors } };
    await page.getByRole('button', { name: 'Create alert' }).click();
    await page.getByText('is a private address').waitFor();
    expect(await page.getByLabel('Webhook URL').getAttribute('aria-invalid')).toBe('true');
  });

  test('deliveries show every attempt and are sent again; the alert is switched off, changed and deleted', async () => {
    addAlerts();
    const page = await site.visitAsUser('/alerts/alrt_call');
    await page.getByRole('listitem').filter({ hasText: 'Failed' }).first().waitFor();
    const dead = page.getByRole('listitem').filter({ hasText: 'Failed' });
    await dead.getByText('A run timed out').click();
    await dead.getByText('no answer within 10 s').waitFor();
    expect(await dead.getByRole('link', { name: 'View run' }).getAttribute('href')).toBe('/runs/run_8sWn');
    await dead.getByRole('button', { name: 'Resend' }).click();
    await page.getByText('Delivery resent').waitFor();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Alert turned off').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Turn off' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await submitFields(page, { 'Email address': '' }, 'Save', 'Alert saved');
    await clickButtons(page, 'Rotate signing secret', 'Rotate now');
    await page.getByText('whsec_YW5').waitFor();
    await clickButtons(page, 'Delete alert', 'Delete alert and deliveries');
    await page.waitForURL('**/alerts');
    expect(site.api.alerts.sent.map(({ line }) => line)).toEqual([
      'POST /api/alerts/alrt_call/deliveries/dlv_dead/replay',
      'PATCH /api/alerts/alrt_call',
      'PATCH /api/alerts/alrt_call',
      'PATCH /api/alerts/alrt_call',
      'PATCH /api/alerts/alrt_call',
      'DELETE /api/alerts/alrt_call',
    ]);
  });

  test('a viewer sees the rules, and no button that the server would refuse', async () => {
    addAlerts();
    Object.assign(site.api.accounts.me, { workspace_id: 'ws_lab', role: 'viewer' });
    const page = await site.visitAsUser('/alerts');
    await page.getByRole('link', { name: 'Page the on-call engineer' }).click();
    await page.getByText('Only admins and owners can see deliveries').waitFor();
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
  });
});
