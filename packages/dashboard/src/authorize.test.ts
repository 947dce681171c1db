import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { PERSON } from './test/person';

const ASKED =
  '/authorize?response_type=code&client_id=ocl_1&redirect_uri=http%3A%2F%2F127.0.0.1%3A4711%2Fcallback&state=s&code_challenge=c&code_challenge_method=S256';

describe('connecting an app', () => {
  const site = testSite();

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser(ASKED);
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await checkPage(page, 'authorize');
    await page.goto(site.api.origin + ASKED.replace('ocl_1', 'ocl_nobody'));
    await page.getByRole('alert').waitFor();
    await checkPage(page, 'authorize-unknown');
  });

  test('a person sees which client asks and chooses workspace, rights and tools; the client’s name is plain text', async () => {
    const page = await site.visitAsUser(ASKED);
    await page.getByText('Desktop <b>agent</b>').waitFor();
    await page.getByText('a program on this device (127.0.0.1:4711)').waitFor();
    await page.getByLabel('Workspace', { exact: true }).selectOption({ label: 'The laboratory' });
    await page.getByLabel('Permissions').selectOption('read');
    await page.getByLabel('Skills', { exact: true }).uncheck();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL('**/decided');
    const { body, workspace } = site.api.accounts.oauth.decided ?? {};
    expect(workspace).toBe('ws_lab');
    expect(body).toMatchObject({ decision: 'allow', readonly: true, days: 90 });
    expect(body?.toolsets).not.toContain('skills');
    expect(body?.toolsets).toContain('published');
  });

  test('a request that cannot be allowed returns to the app only when the person confirms', async () => {
    const page = await site.visitAsUser(ASKED.replace('ocl_1', 'ocl_refused'));
    await page.getByText('The app’s request is invalid: no challenge.').waitFor();
    await checkPage(page, 'authorize-refused');
    expect(new URL(page.url()).origin).toBe(site.api.origin);
    await page.route('http://127.0.0.1:4711/**', (route) => route.fulfill({ body: 'the app' }));
    await page.getByRole('button', { name: 'Return to the app' }).click();
    await page.waitForURL('http://127.0.0.1:4711/callback?error=invalid_request**');
  });

  test('a signed-out visitor signs in first, and comes back to the whole request', async () => {
    const page = await site.visit();
    await page.goto(site.api.origin + ASKED);
    await page.getByLabel('Email').fill(PERSON.email);
    await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
    await page.keyboard.press('Enter');
    await page.getByText('Desktop <b>agent</b>').waitFor();
    expect(page.url()).toBe(site.api.origin + ASKED);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.waitForURL('**/decided');
    expect(site.api.accounts.oauth.decided?.body).toMatchObject({
      decision: 'deny',
      request: { client_id: 'ocl_1', redirect_uri: 'http://127.0.0.1:4711/callback', state: 's', code_challenge: 'c' },
    });
  });

  test('a connected app is disconnected on the page of tokens', async () => {
    const page = await site.visitAsUser('/settings/tokens');
    await page.getByText('Desktop agent').waitFor();
    await clickButtons(page, 'Disconnect Desktop agent', 'Disconnect now');
    await page.getByText('No connected apps yet').waitFor();
  });
});
