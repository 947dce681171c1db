import { signOut, switchWorkspace, testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { buildWorker } from './test/fake-workers';
import { submitFields } from './test/fill-fields';
import { PERSON } from './test/person';

describe('accounts', () => {
  const site = testSite();
  beforeEach(() => {
    site.api.workers.list = [buildWorker('price-watch', { name: 'Price watch' })];
  });

  const at = (pathname: string) => site.api.origin + pathname;

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/settings/members');
    await page.getByText('bob@example.com').waitFor();
    await page.getByText('carol@example.com').waitFor();
    await checkPage(page, 'members');
    for (const [link, text, screen] of [
      ['Tokens', 'laptop', 'tokens'],
      ['Workspace', 'The cellar', 'workspace'],
      ['Account', 'Safari on iOS', 'account'],
    ] as const) {
      await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click();
      await page.getByText(text).first().waitFor();
      await checkPage(page, screen);
    }
    await page.goto(at('/device'));
    await page.getByLabel('Code').fill('zzzz-2345');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
    await checkPage(page, 'device-wrong-code');
    await page.getByLabel('Code').fill('abcd 2345');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await checkPage(page, 'device');

    const visitor = await site.visit();
    await visitor.goto(at('/invite#inv_good'));
    await visitor.getByRole('heading', { name: 'Join The archive' }).waitFor();
    await checkPage(visitor, 'invite');
    await visitor.goto(at('/verify-email#vfy_good'));
    await visitor.getByRole('link', { name: 'Sign in' }).waitFor();
    await checkPage(visitor, 'verify-email-signed-out');
    await page.goto(at('/verify-email#vfy_good'));
    await page.getByRole('button', { name: 'Verify address' }).waitFor();
    await checkPage(page, 'verify-email');
    await visitor.goto(at('/forgot-password'));
    await submitFields(visitor, { Email: PERSON.email }, 'Send reset link', 'Ask a workspace admin');
    await checkPage(visitor, 'forgot-password');
    await visitor.goto(at('/reset-password#rst_good'));
    await visitor.getByRole('heading', { name: 'New password' }).waitFor();
    await checkPage(visitor, 'reset-password');
    await visitor.goto(at('/setup#set_good'));
    await visitor.getByRole('heading', { name: 'Set up Gantry' }).waitFor();
    await checkPage(visitor, 'setup');
    site.api.accounts.oidcName = 'Test ID';
    await visitor.goto(at('/sign-in?error=oidc_expired'));
    await visitor.getByRole('link', { name: 'Sign in with Test ID' }).waitFor();
    await checkPage(visitor, 'sign-in-with-provider');
  });

  test('a page is fetched on first visit, and one that can’t be leaves the rest usable', async () => {
    const visitor = await site.visit();
    const fetched: string[] = [];
    visitor.on('request', (request) =>
      fetched.push(...(/assets\/([a-z-]+-page)-.*\.js$/.exec(request.url())?.slice(1) ?? [])),
    );
    await visitor.goto(at('/sign-in'));
    await visitor.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(fetched).toEqual(['sign-in-page']);

    const page = await site.visitAsUser('/settings/members');
    await page.route('**/assets/tokens-page-*', (route) => route.abort());
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByRole('alert').getByText('Something went wrong').waitFor();
    await page.getByRole('link', { name: 'Settings', exact: true }).first().click();
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('heading', { name: 'People in Operations' }).waitFor();
  });

  test('a device is approved by keyboard alone, into the workspace that was shown', async () => {
    const page = await site.visitAsUser('/device');
    await page.keyboard.type('abcd2345');
    await page.keyboard.press('Enter');
    await page.getByText('laptop of Ada').waitFor();
    await page.getByText('203.0.113.7').waitFor();
    for (let tabs = 0; tabs < 12; tabs++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate(() => document.activeElement?.textContent)) === 'Approve') break;
    }
    await page.keyboard.press('Enter');
    await page.getByText('laptop of Ada can now act on your behalf').waitFor();
    expect(site.api.accounts.device).toEqual({ decision: 'approved', workspace: 'ws_ops' });
  });

  test('a device is denied, and a code in the address fills in nothing', async () => {
    const page = await site.visitAsUser('/device?user_code=ABCD-2345&code=ABCD-2345');
    expect(await page.getByLabel('Code').inputValue()).toBe('');
    await page.getByLabel('Code').fill('ABCD-2345');
    await clickButtons(page, 'Continue', 'Deny');
    await page.getByText('was not connected').waitFor();
    expect(site.api.accounts.device.decision).toBe('denied');
  });

  test('switching the workspace adds it to every request, also after a reload, until signing out', async () => {
    const page = await site.visitAsUser('/');
    await switchWorkspace(page, 'The laboratory');
    await page.waitForFunction(() => localStorage.getItem('gantry-workspace') === 'ws_lab');
    await page.goto(at('/settings/members'));
    await page.getByRole('heading', { name: 'People in The laboratory' }).waitFor();
    expect(site.api.accounts.workspaceOf).toBe('ws_lab');
    expect(await page.getByRole('button', { name: 'Invite' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByText('Only admins and owners of The laboratory').waitFor();
    await signOut(page);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem('gantry-workspace'))).toBeNull();
  });

  test('a member is invited, gets another role, and is removed', async () => {
    const page = await site.visitAsUser('/settings/members');
    await submitFields(page, { Email: 'bob@example.com' }, 'Invite', 'bob@example.com is already a member');
    await submitFields(page, { Email: 'grace@example.com' }, 'Invite', '/invite#inv_good');
    await page.getByLabel('Role for bob@example.com').selectOption('admin');
    await page.getByRole('button', { name: 'Remove bob@example.com' }).click();
    expect(site.api.accounts.members.find(({ user_id }) => user_id === 'usr_bob')?.role).toBe('admin');
    await page.getByRole('button', { name: 'Remove now' }).click();
    await page.getByLabel('Role for bob@example.com').waitFor({ state: 'detached' });
    await clickButtons(page, 'Withdraw invitation for carol@example.com', 'Withdraw now');
    await page.getByText('carol@example.com').waitFor({ state: 'detached' });
  });

  test('a workspace is created and renamed, and another is deleted only after a confirmation', async () => {
    const page = await site.visitAsUser('/settings/workspace');
    await clickButtons(page, 'Leave Operations', 'Leave now');
    await page.getByText('a workspace must have an owner').waitFor();
    await clickButtons(page, 'Delete Operations', 'Go back');
    await page.getByLabel('Workspace name').fill('Attic');
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'Workspace', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('Loft');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'Loft' }).waitFor();
    expect(site.api.accounts.me.workspaces.map(({ name }) => name)).toEqual(['Operations', 'The laboratory', 'Loft']);
    await clickButtons(page, 'Delete Loft', 'Delete now');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(site.api.accounts.me.workspaces).toHaveLength(2);
  });

  test('an admin forbids exposing values to code, and allows it again', async () => {
    const page = await site.visitAsUser('/settings/workspace');
    const allowed = page.getByLabel('Allow workers to expose');
    expect(await allowed.isChecked()).toBe(true);
    await allowed.click();
    await page.getByText('Workers can no longer expose values to code').waitFor();
    expect(site.api.accounts.me.workspaces[0]?.allow_exposed_credentials).toBe(false);
    expect(await allowed.isChecked()).toBe(false);
    await allowed.click();
    await page.getByText('Workers can now expose values to code').waitFor();
    expect(site.api.accounts.me.workspaces[0]?.allow_exposed_credentials).toBe(true);
  });

  test('an admin sets by keyboard how long runs are kept, within the bounds of the installation', async () => {
    const page = await site.visitAsUser('/settings/workspace');
    const days = page.getByLabel('Days to keep runs');
    await days.fill('400');
    await days.press('Enter');
    expect(await days.evaluate((input: HTMLInputElement) => input.validity.rangeOverflow)).toBe(true);
    await days.fill('14');
    await days.press('Tab');
    await page.keyboard.type('7');
    await page.keyboard.press('Enter');
    await page.getByText('Saved.').waitFor();
    const [operations] = site.api.accounts.me.workspaces;
    expect(operations?.retention).toMatchObject({ run_days: 14, log_days: 7, runs_kept: 100 });
    site.api.accounts.me.workspace_id = 'ws_lab';
    await page.goto(at('/settings/members'));
    await page.getByRole('link', { name: 'Workspace', exact: true }).click();
    await page.getByText('Your role is viewer.').waitFor();
    expect(await page.getByRole('heading', { name: 'Retention' }).count()).toBe(0);
  });

  test('a deleted workspace is restored, and becomes the current one again', async () => {
    const page = await site.visitAsUser('/settings/workspace');
    await clickButtons(page, 'Delete Operations', 'Delete now');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'Workspace', exact: true }).click();
    await page.getByRole('button', { name: 'Restore Operations' }).click();
    await page.waitForFunction(() => localStorage.getItem('gantry-workspace') === 'ws_ops');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(site.api.accounts.me.workspaces.map(({ name }) => name)).toEqual(['The laboratory', 'Operations']);
    expect(site.api.accounts.deleted.map(({ name }) => name)).toEqual(['The cellar']);
  });

  test('the sign-in page links to the identity provider, if there is one, and explains why it returned', async () => {
    const page = await site.visit();
    const known = page.waitForResponse('**/api/system/platform-config');
    await page.goto(at('/sign-in'));
    await known;
    expect(await page.getByRole('link', { name: 'Sign in with' }).count()).toBe(0);
    site.api.accounts.oidcName = 'Test ID';
    await page.goto(at('/sign-in?next=%2Fsettings%2Ftokens%3Fa%3Db'));
    const left = page.waitForRequest('**/auth/oidc/start**');
    await page.getByRole('link', { name: 'Sign in with Test ID' }).click();
    expect(new URL((await left).url()).searchParams.get('return_to')).toBe('/settings/tokens?a=b');
    await page.getByText('Your email address hasn’t been invited yet').waitFor();
    await page.goto(at('/sign-in?error=anything'));
    await page.getByText('failed. Try again.').waitFor();
  });

  test('an admin makes a password link for a member', async () => {
    const page = await site.visitAsUser('/settings/members');
    await page.getByRole('button', { name: 'Create reset link for bob@example.com' }).click();
    await page.getByText('/reset-password#rst_1').waitFor();
  });

  test('a newcomer registers by the link, whose token leaves the address', async () => {
    const page = await site.visit();
    await page.goto(at('/invite#inv_good'));
    await page.getByLabel('Choose a password').fill('short');
    expect(page.url()).toBe(at('/invite'));
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByText('at least 10 characters', { exact: false }).last().waitFor();
    await page.getByLabel('Choose a password').fill('long enough to pass');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  test('the setup link of a new installation creates its owner and signs them in, and its token leaves the address', async () => {
    const page = await site.visit();
    await page.goto(at('/setup#set_good'));
    await page.getByLabel('Email').fill(PERSON.email);
    await page.getByLabel('Password', { exact: true }).fill('long enough to pass');
    expect(page.url()).toBe(at('/setup'));
    await page.getByRole('button', { name: 'Create owner account and sign in' }).click();
    await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  test('an invitee with an account signs in first, and accepts with that account', async () => {
    site.api.accounts.offer = { email: PERSON.email };
    const page = await site.visit();
    await page.goto(at('/invite#inv_good'));
    await page.getByRole('link', { name: `Sign in as ${PERSON.email}` }).click();
    await page.getByLabel('Email').fill(PERSON.email);
    await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
    await clickButtons(page, 'Sign in', 'Accept');
    await page.getByLabel('Workspace').waitFor();
    await page.waitForFunction(() => localStorage.getItem('gantry-workspace') === 'ws_new');
  });

  test('an expired invitation is reported as expired', async () => {
    const page = await site.visit();
    await page.goto(at('/invite#inv_old'));
    await page.getByText('this invitation has ended').waitFor();
  });

  test('a token is shown once and revoked', async () => {
    const page = await site.visitAsUser('/settings/tokens');
    const personal = page.getByRole('region', { name: 'Personal tokens' });
    await submitFields(
      personal,
      { 'What is this token for?': 'nightly' },
      'Create token',
      'svc_new1-and-the-rest-of-it',
    );
    await page.reload();
    await personal.getByText('nightly').waitFor();
    expect(await page.content()).not.toContain('and-the-rest-of-it');
    await clickButtons(personal, 'Revoke nightly', 'Revoke now');
    await personal.getByText('nightly').waitFor({ state: 'detached' });
  });

  test('the rules of a new token pass axe and fit', async () => {
    const page = await site.visitAsUser('/settings/tokens');
    const personal = page.getByRole('region', { name: 'Personal tokens' });
    await personal.getByText('Restrict access').click();
    await personal.getByLabel('Only these workers').click();
    await page
      .getByRole('listbox', { name: 'Only these workers' })
      .getByRole('option', { name: 'Price watch' })
      .click();
    await personal.getByRole('button', { name: /^Remove/ }).waitFor();
    await checkPage(page, 'tokens-restricted');
  });

  test('a token is restricted at creation, and the list shows how', async () => {
    const page = await site.visitAsUser('/settings/tokens');
    const personal = page.getByRole('region', { name: 'Personal tokens' });
    await personal.getByText('Only these workers: invoice-sync, report').waitFor();
    await personal.getByLabel('What is this token for?').fill('agent');
    await personal.getByText('Restrict access').click();
    await personal.getByLabel('Read-only').check();
    await personal.getByLabel('Overview').check();
    await personal.getByLabel('Budget in USD').fill('2.5');
    const field = personal.getByLabel('Only these workers');
    await field.click();
    await page
      .getByRole('listbox', { name: 'Only these workers' })
      .getByRole('option', { name: 'Price watch' })
      .click();
    await personal.getByRole('button', { name: 'Create token' }).click();
    await personal.getByText('svc_new1-and-the-rest-of-it').waitFor();
    await personal.getByText(/^Read-only · Only this worker: [\w-]+ · Tools: overview · \$2\.50 budget/).waitFor();
    const [made] = site.api.accounts.tokens;
    expect(made?.restrict).toMatchObject({ readonly: true, toolsets: ['overview'], budget_usd: 2.5 });
  });

  test('a token is revoked together with the tokens that it created', async () => {
    const page = await site.visitAsUser('/settings/tokens');
    await page.getByText('Created by token laptop').waitFor();
    await clickButtons(page, 'Revoke token and child tokens (1): laptop', 'Revoke all 2 now');
    await page.getByText('of the laptop').waitFor({ state: 'detached' });
    expect(site.api.accounts.tokens).toEqual([]);
  });

  test('an address is verified by the mailed link, in the browser that is signed in', async () => {
    const page = await site.visitAsUser('/settings/account');
    await page.getByText('This address can’t be verified').waitFor();
    site.api.accounts.sendsEmail = true;
    site.api.accounts.oidcName = 'Test ID';
    await page.reload();
    await page.getByText('is not verified').waitFor();
    const way = page.getByRole('link', { name: 'Verify with Test ID' });
    expect(await way.getAttribute('href')).toBe('/auth/oidc/start?prove=true&return_to=%2Fsettings%2Faccount');
    await page.getByRole('button', { name: 'Send verification link' }).click();
    await page.getByText(`We sent a link to ${PERSON.email}`).waitFor();
    await page.goto(at('/verify-email#vfy_old'));
    await page.getByRole('button', { name: 'Verify address' }).click();
    await page.getByText('this link has already been used or has expired').waitFor();
    await page.goto('about:blank');
    await page.goto(at('/verify-email#vfy_good'));
    const mine = page.getByRole('button', { name: 'Verify address' });
    await mine.waitFor();
    expect(page.url()).toBe(at('/verify-email'));
    await mine.click();
    await page.getByText('is verified. You can see everything shared').waitFor();
    await page.goto(at('/settings/account?error=oidc_other_address'));
    await page.getByText('Your email address at the identity provider doesn’t match this account').waitFor();
  });

  test('a signed-out visitor signs in before the link counts', async () => {
    const page = await site.visit();
    await page.goto(at('/verify-email#vfy_good'));
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Email').fill(PERSON.email);
    await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
    await clickButtons(page, 'Sign in', 'Verify address');
    await page.getByText('is verified. You can see everything shared').waitFor();
  });

  test('a wrong current password is reported and changes nothing; the right one works; signing out everywhere leads to the sign-in', async () => {
    const page = await site.visitAsUser('/settings/account');
    await page.getByLabel('Current password').fill('not mine');
    await page.getByLabel('New password', { exact: true }).fill('another staple of mine');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('this is not your password').waitFor();
    await submitFields(
      page,
      { 'Current password': PERSON.password },
      'Change password',
      'You’ve been signed out of all other browsers',
    );
    await clickButtons(page, 'End session on Safari on iOS', 'End now');
    await page.getByText('Safari on iOS').waitFor({ state: 'detached' });
    await clickButtons(page, 'Sign out everywhere', 'Sign out now');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
