/** The built page in a real browser, against the fake API. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createWorkerShared, openBrowser, setupResource, waitUntil } from '@gantry/testing';
import type { Page } from 'playwright-core';
import { type FakeApi, startFakeApi } from './fake-api';
import { openPage, type VisitOptions } from './open-page';

const packageRoot = path.join(__dirname, '../..');

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
}

/** Presses a key until it has moved the focus: a page that was just rendered may not listen yet. */
export async function pressUntilFocused(page: Page, key: string, button: string): Promise<void> {
  const target = page.getByRole('button', { name: button, exact: true });
  await waitUntil(async () => {
    await page.keyboard.press(key);
    return target.evaluate((element) => element === document.activeElement);
  });
}

export async function switchWorkspace(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Workspace: / }).click();
  await page.getByRole('button', { name, exact: true }).click();
}

export interface TestSite {
  api: FakeApi;
  /** A new visitor. */
  visit: (options?: VisitOptions) => Promise<Page>;
  /** Opens a path in a new browser with a session. */
  visitAsUser: (pathname: string, options?: VisitOptions) => Promise<Page>;
  /** Closes every page. @returns errors of the pages and violations of their Content-Security-Policy */
  closePages: () => Promise<string[]>;
  close: () => Promise<void>;
}

/** Sets up the site for a `describe`: each test starts with an empty API, and fails if a page reports an error. */
export function testSite(): TestSite {
  const site = setupResource(openSite, (openedSite) => openedSite.close());
  beforeEach(() => site.api.reset());
  afterEach(async () => expect(await site.closePages()).toEqual([]));
  return site;
}

const BUILD_DIRECTORY = path.join(packageRoot, 'dist');

/** Returns whether the package's build is newer than all its sources. */
function isBuildCurrent(): boolean {
  const page = path.join(BUILD_DIRECTORY, 'index.html');
  const sources = ['src', 'index.html', 'vite.config.mts', 'package.json', '../sdk/src'];
  return (
    existsSync(page) && sources.every((name) => findNewestMtime(path.join(packageRoot, name)) <= statSync(page).mtimeMs)
  );
}

/** Finds the newest modification time in a folder, except of tests, which are not built. */
function findNewestMtime(file: string): number {
  const stats = statSync(file);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const names = readdirSync(file).filter((name) => !name.endsWith('.test.ts'));
  return Math.max(...names.map((name) => findNewestMtime(path.join(file, name))));
}

/** Returns the folder of the built page: the package's own, or a new build for the suites of this worker. */
const getBuiltPage = createWorkerShared(
  'built dashboard',
  async () => (isBuildCurrent() ? BUILD_DIRECTORY : buildPage()),
  (directory) => {
    if (directory !== BUILD_DIRECTORY) rmSync(directory, { recursive: true, force: true });
  },
);

async function buildPage(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-dashboard-'));
  const vite = path.join(packageRoot, 'node_modules/vite/bin/vite.js');
  const args = [vite, 'build', '--outDir', directory, '--emptyOutDir', '--logLevel', 'error'];
  await promisify(execFile)(process.execPath, args, {
    cwd: packageRoot,
    env: { ...process.env, NODE_ENV: 'production' },
  });
  return directory;
}

/** Shares one address between all suites of this worker, so that the browser caches the page and its compiled code. */
const getFakeApi = createWorkerShared(
  'fake API of the dashboard',
  async () => startFakeApi(await getBuiltPage()),
  (api) => api.stop(),
);

async function openSite(): Promise<TestSite> {
  const api = await getFakeApi();
  const browser = openBrowser();
  const problems: string[] = [];

  async function visit(options?: VisitOptions): Promise<Page> {
    const page = await openPage(browser.visit, options);
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy|Warning:|Minified React/.test(message.text())) problems.push(message.text());
    });
    return page;
  }

  return {
    api,
    visit,
    async visitAsUser(pathname, options) {
      const page = await visit(options);
      await page.context().addCookies([{ ...api.beginSession(), url: api.origin }]);
      await page.goto(api.origin + pathname);
      await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
      await page.getByRole('heading', { level: 1 }).waitFor();
      return page;
    },
    async closePages() {
      await browser.closePages();
      return problems.splice(0);
    },
    async close() {
      await browser.closePages();
      api.disconnect();
    },
  };
}
