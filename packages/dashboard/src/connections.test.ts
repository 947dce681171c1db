import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { buildConnection, buildLinearConnection } from './test/fake-connections';
import { fillFields, submitFields } from './test/fill-fields';

describe('connections', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.connections.list.push(
      buildConnection('con_github', { used_by: [{ id: 'morning-report', name: 'Morning report' }] }),
      buildLinearConnection({
        status: 'error',
        problem: 'mcp.linear.example rejected the credential (HTTP 401)',
        visibility: 'private',
      }),
      buildConnection('con_crm', {
        app: 'crm',
        label: 'CRM',
        status: 'expired',
        problem: 'the provider says: revoked',
      }),
    );
  });
  type Visitor = Awaited<ReturnType<typeof site.visitAsUser>>;
  const item = (page: Visitor, label: string) =>
    page.getByRole('table', { name: 'Connections' }).getByRole('row').filter({ hasText: label });
  const lastSent = () => site.api.connections.sent.at(-1);

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/connections');
    await item(page, 'Team account').waitFor();
    await checkPage(page, 'connections');
    await page.getByRole('link', { name: 'New connection' }).click();
    await page.getByRole('link', { name: 'GitHub', exact: true }).waitFor();
    await checkPage(page, 'connections-catalogue');
    await page.getByRole('link', { name: 'GitHub', exact: true }).click();
    await page.getByRole('button', { name: 'Go to GitHub' }).waitFor();
    await checkPage(page, 'connections-account');
    await page.goto(`${site.api.origin}/connections/new?app=linear`);
    await page.getByText('No OAuth client for Linear yet').waitFor();
    await checkPage(page, 'connections-no-client');
    await page.goto(`${site.api.origin}/connections/new?app=mcp`);
    await page.getByLabel('URL').waitFor();
    await checkPage(page, 'connections-server');
    site.api.connections.list = [];
    await page.goto(`${site.api.origin}/connections`);
    await page.getByRole('heading', { name: 'No connections yet' }).waitFor();
    await checkPage(page, 'connections-empty');
  });

  test('a broken connection says why; it is checked, consented to again and deleted', async () => {
    const page = await site.visitAsUser('/connections');
    expect(await item(page, 'Linear').textContent()).toMatch(/Failing[\s\S]*Check|rejected the credential/);
    await item(page, 'Linear').getByRole('button', { name: 'Check Linear' }).click();
    await page.getByText('Linear is working.').waitFor();
    await item(page, 'Linear').getByText('Active').waitFor();
    await item(page, 'CRM').getByRole('button', { name: 'Delete CRM' }).click();
    await item(page, 'CRM').getByRole('button', { name: 'Go back' }).click();
    await item(page, 'CRM').getByRole('button', { name: 'Give consent' }).click();
    await page.waitForURL('**/connections?consent=again');
    await item(page, 'CRM').getByRole('button', { name: 'Delete CRM' }).click();
    await item(page, 'CRM').getByRole('button', { name: 'Delete now' }).click();
    await item(page, 'CRM').waitFor({ state: 'detached' });
  });

  test('an account is connected with the chosen permissions', async () => {
    const page = await site.visitAsUser('/connections/new');
    await page.getByRole('searchbox', { name: 'Search services' }).fill('hub');
    expect(await page.getByRole('list', { name: 'Ready to use' }).getByRole('link').allTextContents()).toEqual([
      ...['GitHub', '2 tools for GitHub'],
    ]);
    await page.getByRole('link', { name: 'GitHub', exact: true }).click();
    await page.getByLabel('Change everything').check();
    await page.getByLabel('Name').fill('Second account');
    await page.getByLabel('Available to').selectOption('My private workers');
    await page.getByRole('button', { name: 'Go to GitHub' }).click();
    await page.waitForURL('**/connections?consent=asked');
    expect(lastSent()?.body).toEqual({
      app: 'github',
      label: 'Second account',
      visibility: 'private',
      scopes: ['read', 'write'],
    });
    await item(page, 'Second account').waitFor();
  });

  test('an admin sets the OAuth client that a service lacks, and continues to connect it', async () => {
    const page = await site.visitAsUser('/connections/new?app=linear');
    await page.getByLabel('Client ID').fill('Iv1.home');
    await page.getByLabel('Client secret', { exact: true }).fill('s3cret');
    await page.getByRole('button', { name: 'Save client' }).click();
    await page.getByRole('button', { name: 'Go to Linear' }).waitFor();
    expect(lastSent()).toEqual({
      line: 'PUT /api/integrations/apps/linear',
      body: { client_id: 'Iv1.home', client_secret: 's3cret' },
    });
    await page.getByRole('link', { name: 'View tools' }).click();
    await page.getByText('Iv1.home').waitFor();
    await clickButtons(page, 'Remove OAuth client', 'Remove now');
    await page.getByText('Linear accounts can’t be connected').waitFor();
  });

  test('a service without an OAuth client takes a token at once, which goes to its hosts', async () => {
    const page = await site.visitAsUser('/connections/new');
    const atOnce = page.getByRole('list', { name: 'Ready to use' });
    await atOnce.getByRole('link', { name: 'API key' }).waitFor();
    expect(await atOnce.getByRole('link', { name: 'Linear', exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'Linear', exact: true }).click();
    await page.getByLabel('Value', { exact: true }).fill('lin_test');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('Linear connected').waitFor();
    expect(lastSent()?.body).toEqual({
      app: 'linear',
      label: 'Linear',
      visibility: 'workspace',
      value: 'lin_test',
      hosts: ['api.linear.com'],
    });
  });

  test('a key and an MCP server are connected by their forms', async () => {
    const page = await site.visitAsUser('/connections/new');
    await page.getByRole('link', { name: 'API key' }).click();
    await page.getByRole('textbox', { name: 'Service' }).fill('acme');
    await page.getByLabel('Value', { exact: true }).fill('sk_test');
    await submitFields(page, { 'Allowed hosts': 'api.acme.example, *.acme.example' }, 'Connect', 'acme connected');
    await page.getByText('acme: it is under 12 characters').waitFor();
    expect(lastSent()?.body).toEqual({
      app: 'acme',
      label: 'acme',
      visibility: 'workspace',
      value: 'sk_test',
      hosts: ['api.acme.example', '*.acme.example'],
    });
    await page.goto(`${site.api.origin}/connections/new?app=mcp`);
    await submitFields(
      page,
      { Name: 'Tracker', URL: 'https://mcp.example.com/mcp', Token: 'tok' },
      'Connect',
      'Tracker connected',
    );
    expect(lastSent()).toEqual({
      line: 'POST /api/connections/mcp',
      body: {
        label: 'Tracker',
        url: 'https://mcp.example.com/mcp',
        visibility: 'workspace',
        headers: { Authorization: 'Bearer tok' },
      },
    });
  });

  test('a form waits for the role, which decides what it preselects', async () => {
    const page = await site.visitAsUser('/connections/new?app=mcp');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/auth/me', async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Connect an MCP server' }).waitFor();
    expect(await page.getByLabel('Available to').count()).toBe(0);
    release();
    expect(await page.getByLabel('Available to').inputValue()).toBe('workspace');
  });

  test('a server with sign-in is registered, and the browser continues to it', async () => {
    const page = await site.visitAsUser('/connections/new?app=mcp');
    await fillFields(page, { Name: 'Tracker', URL: 'https://mcp.example.com/mcp' });
    await page.getByLabel('Authentication').selectOption('Sign in with OAuth');
    expect(await page.getByLabel('Token').count()).toBe(0);
    await page.getByRole('button', { name: 'Continue to sign-in' }).click();
    await page.waitForURL('**/connections?consent=asked');
    expect(lastSent()?.body).toEqual({
      label: 'Tracker',
      url: 'https://mcp.example.com/mcp',
      visibility: 'workspace',
      auth: 'oauth',
    });
    await item(page, 'Tracker').getByText('Consent').first().waitFor();
  });

  test('the headings sort once all pages are loaded', async () => {
    const page = await site.visitAsUser('/connections');
    const headings = page.getByRole('table', { name: 'Connections' }).getByRole('columnheader');
    await headings.getByRole('button', { name: 'Last used' }).waitFor();
    site.api.connections.list = Array.from({ length: 100 }, (_, index) => buildConnection(`con_${index}`));
    await page.reload();
    await page.getByRole('button', { name: 'Show more' }).waitFor();
    expect(await headings.getByRole('button').count()).toBe(0);
  });

  test('a viewer reads connections, and creates none', async () => {
    for (const one of site.api.accounts.me.workspaces) one.role = 'viewer';
    site.api.accounts.me.role = 'viewer';
    const page = await site.visitAsUser('/connections');
    await item(page, 'Team account').waitFor();
    expect(await page.locator('tbody').getByRole('button').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'New connection' }).count()).toBe(0);
  });
});
