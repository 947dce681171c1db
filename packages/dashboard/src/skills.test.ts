import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { addLibrary, addSkill } from './test/fake-skills';
import { fillFields, submitFields } from './test/fill-fields';

const TEXT = `Read the tests first.

## Steps

1. Run it.
2. Ask about *whatever* you had to read twice.

| Sign | Meaning |
|---|---|
| \`TODO\` | not done |
| a long name | perhaps two things |

\`\`\`python
def run(name):
    return {"greeting": f"Hello {name}"}
\`\`\`

> A change that nobody reads is not reviewed.
`;

describe('skills', () => {
  const site = testSite();

  const grace = { owner: { id: 'usr_grace', name: 'Grace' }, owned: false } as const;
  function fill() {
    const { skills } = site.api;
    addSkill(skills, {
      slug: 'review-a-change',
      body_md: TEXT,
      version: 3,
      visibility: 'public',
      views: 1_204,
      saves: 9,
      uses: 31,
      tags: ['code', 'review', 'team', 'habits'],
      license: 'MIT',
    });
    addSkill(skills, {
      slug: 'answer-a-customer',
      title: 'Answer a customer',
      tags: ['support'],
      visibility: 'unlisted',
    });
    addSkill(skills, {
      slug: 'draft',
      title: 'Notes on incidents that I want to write down before I forget them',
      tags: [],
      description: '',
    });
    addSkill(skills, {
      slug: 'clean-a-csv',
      title: 'Clean a CSV file',
      visibility: 'public',
      saved: true,
      ...grace,
      body_md: TEXT,
      description: 'Turn a messy export into tidy data without losing or inventing anything',
    });
    addLibrary(skills, { slug: 'code-review', slugs: ['review-a-change', 'answer-a-customer', 'clean-a-csv'] });
    addLibrary(skills, {
      slug: 'writing',
      title: 'Writing',
      starter: true,
      visibility: 'public',
      ...grace,
      slugs: ['draft'],
    });
  }

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser('/skills');
    await page.getByText('Create your first skill').waitFor();
    await checkPage(page, 'skills-empty');
    fill();
    await page.reload();
    await page.getByRole('link', { name: 'Review a change' }).waitFor();
    await checkPage(page, 'skills');
    await page.getByLabel('Search skills').fill('csv');
    await page.locator('mark').waitFor();
    await checkPage(page, 'skills-found');

    await page.goto(`${site.api.origin}/skills/review-a-change`);
    await page.getByRole('heading', { name: 'Steps' }).waitFor();
    await page.getByText('Version 3', { exact: true }).first().waitFor();
    await checkPage(page, 'skill');

    site.api.skills.versions.get('review-a-change')?.unshift({
      version: 2,
      title: 'Review a change',
      content_hash: '',
      author_id: 'usr_ada',
      tags: [],
      license: null,
      message: 'Before the table',
      created_at: new Date(Date.now() - 9e8).toISOString(),
      description: '',
      body_md: TEXT.replace(/\|.*\n/g, '').replace('Run it', 'Read it'),
    });
    await page.goto(`${site.api.origin}/skills/review-a-change/versions/2`);
    await page.getByRole('heading', { name: 'Changes from version 2 to version 3' }).waitFor();
    await page.getByRole('textbox', { name: 'Version 2 compared with version 3' }).first().waitFor();
    await page.getByText('Read it.').last().waitFor();
    await checkPage(page, 'skill-version');

    await page.goto(`${site.api.origin}/skills/review-a-change/edit`);
    await page.getByRole('heading', { name: 'Steps' }).waitFor();
    await page.getByRole('textbox', { name: 'Skill text' }).waitFor();
    await checkPage(page, 'skill-editor');
    await page.goto(`${site.api.origin}/skills/new`);
    await page.getByText('Start from an outline').waitFor();
    await page.getByRole('textbox', { name: 'Skill text' }).waitFor();
    await checkPage(page, 'skill-new');

    await page.goto(`${site.api.origin}/skills/libraries`);
    await page.getByRole('link', { name: 'Writing' }).waitFor();
    await checkPage(page, 'libraries');
    await page.getByRole('link', { name: 'Code review' }).click();
    await page.getByRole('button', { name: 'Move Clean a CSV file up' }).waitFor();
    await checkPage(page, 'library');
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').waitFor();
    await checkPage(page, 'library-edit');
  });

  test('a skill is written with the keyboard beside its preview, and saved', async () => {
    const page = await site.visitAsUser('/skills/new');
    await fillFields(page, { Title: 'Brew tea', Tags: 'kitchen, hot' });
    await page.getByRole('textbox', { name: 'Skill text' }).click();
    await page.keyboard.type('## Boil\nwater');
    await page.getByRole('region', { name: 'Preview' }).getByRole('heading', { name: 'Boil' }).waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('heading', { level: 1, name: 'Brew tea' }).waitFor();
    expect(site.api.skills.changes).toEqual([
      {
        line: 'POST /api/v1/skills',
        body: { title: 'Brew tea', tags: ['kitchen', 'hot'], body_md: '## Boil\nwater', visibility: 'private' },
      },
    ]);
  });

  test('an unsaved draft is there again after leaving the page, until it is discarded', async () => {
    fill();
    const page = await site.visitAsUser('/skills/review-a-change/edit');
    await page.getByLabel('Description').fill('Half a thought');
    await page.getByRole('link', { name: 'Contexts' }).first().click();
    await page.getByRole('heading', { name: 'Contexts', level: 1 }).waitFor();
    await page.goBack();
    await page.getByText('Your unsaved draft was restored').waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe('Half a thought');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Skill text' }).waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe('How we read changes, and what we ask of them');
  });

  test('an edit sends only the changed fields, as the next version, and overwrites no other member’s version', async () => {
    fill();
    const { skills } = site.api;
    const page = await site.visitAsUser('/skills/review-a-change/edit');
    await fillFields(page, { 'Change message': 'Shorter', Description: 'Short' });
    const skill = skills.list[0];
    if (skill) skill.version = 4;
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByText('Version 4 was saved while you were editing').waitFor();
    await clickButtons(page, 'Continue with my changes', 'Save version');
    await page.getByText('Version 5', { exact: true }).first().waitFor();
    expect(skills.changes.map(({ body }) => body)).toEqual([
      { description: 'Short', message: 'Shorter', expected_version: 3 },
      { description: 'Short', message: 'Shorter', expected_version: 4 },
    ]);
    await page.getByText('Shorter').waitFor();

    await page.getByRole('link', { name: 'Compare version 3' }).click();
    await page.getByText('The text is unchanged').waitFor();
    await page.getByRole('button', { name: 'Restore this version' }).click();
    await page.getByText('Version 6', { exact: true }).first().waitFor();
    expect(skill).toMatchObject({ version: 6, description: 'How we read changes, and what we ask of them' });
  });

  test('it is published, unpublished with Undo, shared, and deleted with Undo', async () => {
    fill();
    const { skills } = site.api;
    const page = await site.visitAsUser('/skills/answer-a-customer');
    await page.getByLabel('Visibility').selectOption('public');
    await page.getByText('Answer a customer is now public').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Answer a customer is now unlisted').waitFor();
    expect(skills.list[1]?.visibility).toBe('unlisted');

    await page.getByLabel('Share with').fill('grace@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop sharing with grace@example.com' }).click();
    await page.getByText('grace@example.com can no longer read this skill').waitFor();
    expect(skills.shares.get('answer-a-customer')).toEqual([]);

    await clickButtons(page, 'Delete Answer a customer', 'Delete now');
    await page.getByText('Answer a customer deleted').waitFor();
    await page.getByRole('link', { name: 'Deleted' }).click();
    await page.getByRole('button', { name: 'Restore Answer a customer' }).click();
    await page.getByText('No deleted skills').waitFor();
    expect(skills.list[1]?.deleted_at).toBeNull();
  });

  test('skills of others are found, saved and put on a shelf, in the order of its owner', async () => {
    fill();
    const { skills } = site.api;
    Object.assign(skills.list[3] ?? {}, { saved: false });
    const page = await site.visitAsUser('/skills/workspace');
    await page.getByRole('link', { name: 'Clean a CSV file' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Saved' }).waitFor();
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);

    await page.goto(`${site.api.origin}/skills/libraries/code-review`);
    await page.getByRole('button', { name: 'Move Clean a CSV file up' }).click();
    await page.getByLabel('Add a skill').fill('notes');
    await page.getByRole('button', { name: /^Notes on incidents/ }).click();
    await page.getByRole('button', { name: 'Remove Review a change' }).click();
    await page.getByText('Review a change removed from Code review').waitFor();
    expect(skills.libraries[0]?.slugs).toEqual(['clean-a-csv', 'answer-a-customer', 'draft']);

    await page.goto(`${site.api.origin}/skills/libraries/writing`);
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await page.getByRole('button', { name: 'Subscribed' }).waitFor();
    expect(skills.libraries[1]?.subscribed).toBe(true);
  });

  test('an agent gets a key of its own, which is rotated and revoked', async () => {
    const page = await site.visitAsUser('/settings/tokens');
    const keys = page.getByRole('region', { name: 'Skill keys' });
    await submitFields(keys, { 'Which agent is this key for?': 'editor' }, 'Create key', 'rly_whole');
    await clickButtons(keys, 'Renew editor', 'Renew now');
    await keys.getByText('rly_another').waitFor();
    expect(await keys.getByText('rly_whole').count()).toBe(0);
    await clickButtons(keys, 'Revoke editor', 'Revoke now');
    await keys.getByRole('cell').first().waitFor({ state: 'detached' });
    expect(site.api.skills.keys).toEqual([]);
  });

  test('a Markdown file is opened in the editor, and a skill is downloaded as one', async () => {
    fill();
    const page = await site.visitAsUser('/skills/new');
    const file = { name: 'tea.md', mimeType: 'text/markdown', buffer: Buffer.from('---\nname: tea\n---\n## Boil') };
    await page.getByLabel('Open file').setInputFiles(file);
    await page.getByRole('region', { name: 'Preview' }).getByRole('heading', { name: 'Boil' }).waitFor();
    await page.goto(`${site.api.origin}/skills/review-a-change`);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    expect((await download).suggestedFilename()).toBe('review-a-change.md');
  });

  test('a viewer reads and saves, and sees no action that the server would refuse', async () => {
    fill();
    Object.assign(site.api.accounts.me.workspaces[0] ?? {}, { role: 'viewer' });
    const page = await site.visitAsUser('/skills');
    await page.getByRole('link', { name: 'Review a change' }).waitFor();
    expect(await page.getByRole('link', { name: 'New skill' }).count()).toBe(0);
    await page.goto(`${site.api.origin}/skills/review-a-change`);
    await page.getByLabel('Visibility').waitFor();
    expect(await page.getByLabel('Visibility').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: /Delete|Share/ }).count()).toBe(0);
    await page.goto(`${site.api.origin}/skills/clean-a-csv`);
    await page.getByRole('button', { name: 'Saved' }).waitFor();
  });

  test('markup that is not allowed in a skill does not get into the page', async () => {
    fill();
    const page = await site.visitAsUser('/skills');
    await page.route('**/api/v1/skills/render', (route) =>
      route.fulfill({
        json: {
          html: '<h2 id="content">Safe</h2><script>window.hit=1</script><iframe src="/"></iframe><a href="javascript:x()">no</a><a href="../l/other">yes</a><img src="https://tracker.example/p.png" alt="p"><code class="visually-hidden hljs">text</code>',
          plain: null,
          front_matter: null,
          warnings: [],
        },
      }),
    );
    await page.goto(`${site.api.origin}/skills/review-a-change`);
    await page.getByRole('heading', { name: 'Safe' }).waitFor();
    const markup = page.getByRole('heading', { name: 'Safe' }).locator('..');
    expect(await markup.evaluate((element) => element.innerHTML)).toBe(
      '<h2>Safe</h2>window.hit=1<a>no</a><a href="https://skills.example.com/l/other" target="_blank" rel="nofollow noopener noreferrer ugc">yes</a><img alt="p"><code class="hljs">text</code>',
    );
    expect(await page.evaluate(() => 'hit' in window)).toBe(false);
  });
});
