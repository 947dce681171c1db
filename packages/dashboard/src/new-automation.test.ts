import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDir, waitUntil } from '@gantry/testing';
import { strToU8, zipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { unzipFiles } from './automations/package-files';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { clickButtons } from './test/click-buttons';
import { submitFields } from './test/fill-fields';
import { getCodeEditor, rewriteFile } from './test/rewrite-file';

const NEW = '/automations/new';

describe('an automation made in the browser', () => {
  const site = testSite();

  function setRole(role: 'owner' | 'viewer') {
    Object.assign(site.api.accounts.me.workspaces[0] ?? {}, { role });
    site.api.accounts.me.role = role;
  }
  const unzipArtifact = (at: number) => unzipFiles(new Uint8Array(site.api.packages.artifacts[at]?.zip ?? []));

  async function testDraft(page: Page, end: object) {
    await page.getByRole('button', { name: 'Test this draft' }).click();
    await page.getByRole('region', { name: 'Test result' }).getByText('Queued').waitFor();
    Object.assign(site.api.packages.tests.at(-1) ?? {}, end);
  }

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const page = await site.visitAsUser(NEW);
    await getCodeEditor(page, 'main.py').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Ada');
    const result = { status: 'success', outputs: { greeting: 'Hello, Ada!' }, logs: 'Hello, Ada!\n' };
    await testDraft(page, { status: 'success', result, durationMs: 140 });
    await page.getByRole('region', { name: 'Test result' }).getByText('Hello, Ada!').first().waitFor();
    await checkPage(page, 'new-automation');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.getByRole('navigation', { name: 'Automation' }).getByRole('link', { name: 'Code' }).click();
    await getCodeEditor(page, 'main.py').waitFor();
    await checkPage(page, 'automation-code');
  });

  test('an undefined name is shown before the first test', async () => {
    const page = await site.visitAsUser(NEW, { checksTypes: true });
    await rewriteFile(page, 'main.py', 'def run(name: str):\n    return {"greeting": nmae}\n');
    await page.getByRole('button', { name: /"nmae" is not defined.*Line 2/ }).waitFor();
  });

  test('a zip becomes files and a form, a failed test shows its line, and the corrected code is deployed', async () => {
    const manifest = { name: 'Report', inputs: ['shop'], outputs: ['total'], secrets_needed: [] };
    const code = 'def run(shop):\n    return {"total": 1 / 0}\n';
    const entries = { 'report/main.py': strToU8(code), 'report/manifest.json': strToU8(JSON.stringify(manifest)) };
    const page = await site.visitAsUser(NEW);
    const buffer = Buffer.from(zipSync(entries));
    await page
      .getByLabel('Zip', { exact: true })
      .setInputFiles({ name: 'report.zip', mimeType: 'application/zip', buffer });
    await page.getByText('Deploys “Report” as version 1').waitFor();
    await page.getByLabel('shop').fill('north');
    const error = { code: 'exception', message: 'division by zero', type: 'ZeroDivisionError' };
    await testDraft(page, { status: 'error', error: { ...error, trace: '  File "main.py", line 2, in run' } });
    await page.getByText('division by zero').first().waitFor();
    expect(site.api.packages.tests[0]?.body).toEqual({ artifactId: 'art_1', inputs: { shop: 'north' } });

    await rewriteFile(page, 'main.py', code.replace('1 / 0', '1'));
    await page.getByLabel('Who can run it').selectOption('Anyone with the link');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL('**/a/aut_new');
    await page.getByText('Report deployed').waitFor();
    expect(site.api.pages.get('aut_new')).toMatchObject({ name: 'Report', visibility: 'public' });
    expect(unzipArtifact(1)).toEqual(new Map([['main.py', { text: code.replace('1 / 0', '1') }]]));
    await page.goto(site.api.origin + NEW);
    await page.getByText('Deploys “Hello” as version 1').waitFor();
  });

  test('a folder is accepted as well, and its entrypoint chosen', async () => {
    const folder = path.join(createTemporaryDir('automation'), 'tidy-up');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'clean.py'), 'def run():\n    return {}\n');
    writeFileSync(path.join(folder, 'helpers.py'), 'ONE = 1\n');
    const page = await site.visitAsUser(NEW);
    await page.getByLabel('Folder', { exact: true }).setInputFiles(folder);
    await page.getByText('Deploys “tidy-up” as version 1').waitFor();
    await page.getByLabel('Entrypoint').selectOption('clean.py');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL('**/a/aut_new');
    expect(site.api.packages.artifacts[0]).toMatchObject({ entrypoint: 'clean.py', manifest: { name: 'tidy-up' } });
  });

  test('a manifest that is no JSON is shown at its line, and nothing can be deployed', async () => {
    const page = await site.visitAsUser(NEW);
    await rewriteFile(page, 'manifest.json', '{\n  "name": "Hello",\n}');
    await page.getByRole('alert').filter({ hasText: 'manifest.json can’t be used' }).waitFor();
    await expect(page.getByRole('button', { name: 'Deploy' }).isDisabled()).resolves.toBe(true);
    // The draft stays over a reload.
    await page.waitForTimeout(400);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'manifest.json can’t be used' }).waitFor();
    await clickButtons(page, 'Start over and discard these files', 'Discard now');
    await page.getByText('Deploys “Hello” as version 1').waitFor();
  });

  test('an invalid zip is rejected with a reason, and the files stay', async () => {
    const page = await site.visitAsUser(NEW);
    const file = { name: 'photo.zip', mimeType: 'application/zip', buffer: Buffer.from('no zip') };
    await page.getByLabel('Zip', { exact: true }).setInputFiles(file);
    await page.getByText('This zip file can’t be read').waitFor();
    await getCodeEditor(page, 'main.py').waitFor();
  });

  test('the next version starts from the current one, and a viewer only reads it', async () => {
    const page = await site.visitAsUser(NEW);
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL('**/a/aut_new');
    await page.getByRole('navigation', { name: 'Automation' }).getByRole('link', { name: 'Code' }).click();
    await page.getByText('No changes yet').waitFor();
    await rewriteFile(page, 'main.py', 'def run(name):\n    return {"greeting": name}\n');
    await rewriteFile(page, 'manifest.json', JSON.stringify({ name: 'Hello', inputs: ['name', 'title'] }));
    await submitFields(
      page,
      { 'Change message': 'Without an exclamation mark' },
      'Deploy new version',
      'Version 2 deployed',
    );
    await page.getByText('No changes yet').waitFor();
    await waitUntil(() => site.api.versions[0]?.message === 'Without an exclamation mark');
    await getCodeEditor(page, 'manifest.json').filter({ hasText: 'title' }).waitFor();
    await page.getByRole('textbox', { name: 'title' }).waitFor();
    setRole('viewer');
    await page.reload();
    await page.getByText('You can view these files').waitFor();
    await expect(page.getByRole('button', { name: 'Deploy new version' }).count()).resolves.toBe(0);
    await page.goto(site.api.origin + NEW);
    await page.getByText('Viewers can’t deploy automations').waitFor();
  });
});
