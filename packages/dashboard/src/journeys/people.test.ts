import { chromiumPath } from '../test/browser';
import { testPlatform } from '../test/open-platform';

const withBrowser = chromiumPath ? describe : describe.skip;

withBrowser('people', () => {
  const platform = testPlatform();
  const grace = { email: 'grace@example.test', password: 'a long enough password' };

  test('somebody is invited, comes in with a browser of her own, and what her role forbids is not there', async () => {
    const owner = await platform.signedIn('/settings/members');
    await owner.getByLabel('E-mail').fill(grace.email);
    await owner.getByLabel('Role', { exact: true }).selectOption('viewer');
    await owner.getByRole('button', { name: 'Invite' }).click();
    const link = await owner.getByText(/\/invite#/).textContent();

    const hers = await platform.visit();
    await hers.goto(String(link).trim());
    await hers.getByLabel('Choose a password').fill(grace.password);
    await hers.getByRole('button', { name: 'Join' }).click();
    await hers.getByRole('button', { name: 'Account', exact: true }).waitFor();
    await hers.goto(platform.at('/settings/members'));
    await hers.getByText(platform.owner.email).waitFor();
    expect(await hers.getByRole('button', { name: 'Invite' }).count()).toBe(0);

    await owner.reload();
    const saved = owner.waitForResponse((answer) => answer.url().endsWith('/role') && answer.ok());
    await owner.getByLabel(`Role of ${grace.email}`).selectOption('admin');
    await saved;
    await hers.reload();
    await hers.getByRole('button', { name: 'Invite' }).waitFor();
  });
});
