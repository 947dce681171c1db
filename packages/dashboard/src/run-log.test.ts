import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildWorkerRun, type FakeWorkerRun } from './test/fake-worker-runs';

const LINES = 100_000;
/** More than are ever in view, with those above and below. */
const ROWS_MAX = 120;
const ESC = '\u001b';

describe('the log of a run', () => {
  const site = testSite();

  const lineText = (index: number) => `line ${index}${index % 1_000 === 999 ? ' needle' : ''}`;
  const lineLevel = (index: number) => (index % 10_000 === 0 ? 'error' : index % 100 === 0 ? 'warning' : 'info');
  const getLog = (page: Page): Locator => page.getByRole('log');
  const getRows = (page: Page): Locator => getLog(page).locator('[data-index]');
  const getToolbar = (page: Page): Locator => page.getByRole('toolbar', { name: 'Log controls' });

  /** A run that has printed as much as this, and goes on. */
  function addLongRun(lines = LINES): FakeWorkerRun {
    const fake = buildWorkerRun({ status: 'running' });
    site.api.workerRuns.push(fake);
    const began = Date.parse(fake.run.started_at as string);
    for (let index = 0; index < lines; index++) {
      const at = new Date(began + index).toISOString();
      site.api.emit(fake, 'log', { stream: 'stdout', level: lineLevel(index), text: lineText(index), at });
    }
    return fake;
  }
  const toRunPath = ({ run }: FakeWorkerRun) => `/runs/${run.id}`;

  test('100,000 lines: only those in view are rows, every line can be scrolled to, and the end is followed', async () => {
    const fake = addLongRun();
    const page = await site.visitAsUser(toRunPath(fake));
    await getLog(page)
      .getByText(lineText(LINES - 1), { exact: true })
      .waitFor();
    expect(await getRows(page).count()).toBeLessThan(ROWS_MAX);

    await getLog(page).evaluate((log) => log.scrollTo(0, log.scrollHeight / 2));
    await getLog(page)
      .getByText(/^line (49|50)\d{3}/)
      .first()
      .waitFor();
    expect(await getRows(page).count()).toBeLessThan(ROWS_MAX);

    // A reader who has scrolled up stays there, whatever is printed meanwhile.
    const top = await getLog(page).evaluate((log) => log.scrollTop);
    site.api.emit(fake, 'log', { stream: 'stdout', level: 'info', text: 'something new' });
    await page.getByRole('button', { name: 'Follow log' }).waitFor();
    expect(await getLog(page).evaluate((log) => log.scrollTop)).toBe(top);
    expect(await getLog(page).getByText('something new').count()).toBe(0);
    await page.getByRole('button', { name: 'Follow log' }).click();
    await getLog(page).getByText('something new').waitFor();
    site.api.emit(fake, 'log', { stream: 'stdout', level: 'info', text: 'newer still' });
    await getLog(page).getByText('newer still').waitFor();

    await getLog(page).focus();
    await page.keyboard.press('Home');
    await getLog(page).getByText('line 1', { exact: true }).waitFor();
    expect(await getRows(page).count()).toBeLessThan(ROWS_MAX);
  });

  test('100,000 lines are searched from hit to hit, by keyboard, and filtered by level', async () => {
    const page = await site.visitAsUser(toRunPath(addLongRun()));
    await getLog(page)
      .getByText(lineText(LINES - 1), { exact: true })
      .waitFor();
    await getLog(page).focus();
    await page.keyboard.press('Control+f');
    await page.keyboard.type('NEEDLE');
    const hits = getToolbar(page).getByRole('status');
    await hits.getByText('100 matches', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await hits.getByText('1 of 100', { exact: true }).waitFor();
    await getLog(page).locator('[data-hit]').getByText('line 999 needle').waitFor();
    await page.keyboard.press('Shift+Enter');
    await hits.getByText('100 of 100', { exact: true }).waitFor();
    await getLog(page).locator('[data-hit]').getByText('line 99999 needle').waitFor();
    expect(await getLog(page).locator('mark').first().textContent()).toBe('needle');
    await page.keyboard.press('Escape');

    await getToolbar(page).getByLabel('Log level').selectOption('Errors');
    await getLog(page).getByText('line 90000').waitFor();
    expect(await getRows(page).count()).toBe(10);
    await getToolbar(page).getByLabel('Log level').selectOption('Warnings and errors');
    await getLog(page)
      .getByText(/line 100$/)
      .waitFor();
    await page.getByRole('button', { name: 'Follow log' }).click();
    await getLog(page).getByText('line 99900').waitFor();
  });

  test('a link to a line opens it in view and marked, and a line’s number is such a link', async () => {
    const fake = addLongRun(20_000);
    const page = await site.visitAsUser(`${toRunPath(fake)}?line=${1_000_001 + 12_345}`);
    await getLog(page).locator('[data-selected]').getByText('line 12345').waitFor();
    expect(await page.getByRole('button', { name: 'Follow log' }).isVisible()).toBe(true);
    await getLog(page).getByRole('link', { name: 'Link to line 12347' }).click();
    await getLog(page).locator('[data-selected]').getByText('line 12346').waitFor();
    expect(new URL(page.url()).searchParams.get('line')).toBe(String(1_000_001 + 12_346));
  });

  test('a link to the last line stays there while the log grows', async () => {
    const fake = addLongRun(200);
    const page = await site.visitAsUser(`${toRunPath(fake)}?line=${1_000_001 + 198}`);
    const linked = getLog(page).locator('[data-selected]').getByText('line 198');
    await linked.waitFor();
    for (let index = 0; index < 500; index++) site.api.emit(fake, 'log', { level: 'info', text: `later ${index}` });
    await page.getByRole('button', { name: 'Follow log' }).waitFor();
    expect(await linked.isVisible()).toBe(true);
    // By hand it is followed again.
    await getLog(page).focus();
    await page.keyboard.press('End');
    await getLog(page).getByText('later 499').waitFor();
    site.api.emit(fake, 'log', { level: 'info', text: 'newest' });
    await getLog(page).getByText('newest').waitFor();
  });

  test('colours, levels and fields', async () => {
    const fake = addLongRun(3);
    const emitLog = (level: string, text: string, fields?: object) =>
      site.api.emit(fake, 'log', {
        stream: 'stdout',
        level,
        text,
        ...(fields && { fields }),
        at: new Date().toISOString(),
      });
    for (let colour = 30; colour < 38; colour++)
      emitLog('info', `${ESC}[${colour}mcolour ${colour}${ESC}[0m and plain`);
    emitLog(
      'info',
      `${ESC}[1;32m✓ bold${ESC}[0m ${ESC}[41mon red${ESC}[0m ${ESC}[2mdim${ESC}[0m ${ESC}[4munder${ESC}[0m`,
    );
    emitLog('debug', 'a detail', { rows: [3, 9], shop: 'north' });
    emitLog('warning', 'two rows were left out');
    emitLog('error', '<script>alert(1)</script>');
    const page = await site.visitAsUser(toRunPath(fake));
    await getLog(page).getByText('<script>alert(1)</script>').waitFor();
    expect(await getLog(page).getByText(ESC).count()).toBe(0);
    await checkPage(page, 'run-log');
  });

  test('lines are wrapped or not, timed by clock or by seconds, and saved as a file', async () => {
    const fake = addLongRun(2);
    site.api.emit(fake, 'log', { level: 'info', text: `${ESC}[31m${'wide '.repeat(200)}${ESC}[0m`, fields: { n: 1 } });
    const page = await site.visitAsUser(toRunPath(fake));
    const row = getRows(page).nth(2);
    const getHeight = async () => (await row.boundingBox())?.height ?? 0;
    await row.waitFor();
    expect(await getHeight()).toBeGreaterThan(60);
    await getToolbar(page).getByRole('button', { name: 'Wrap lines' }).click();
    await page.waitForFunction((log) => log && log.scrollWidth > log.clientWidth, await getLog(page).elementHandle());
    expect(await getHeight()).toBeLessThan(30);
    await getLog(page).getByText('0.00').first().waitFor();
    await getToolbar(page).getByLabel('Timestamp format').selectOption('Time of day');
    await getLog(page)
      .getByText(/^\d\d:\d\d:\d\d\.\d{3}$/)
      .first()
      .waitFor();
    const saved = page.waitForEvent('download');
    await getToolbar(page).getByRole('button', { name: 'Download' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe(`${fake.run.id}.log`);
    const text = await readFile(await file.path(), 'utf8');
    expect(text.split('\n')[1]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z info {4}line 1$/);
    expect(text).toContain(`${'wide '.repeat(200)} n=1`);
    expect(text).not.toContain(ESC);
  });
});
