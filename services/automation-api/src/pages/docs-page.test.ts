/** The built API reference in a real browser, with the headers it is served with. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { openapiFiles } from '@gantry/openapi';
import { createTemporaryDir, isToolUnavailable, openBrowser, setupResource } from '@gantry/testing';
import type { AxeResults } from 'axe-core';
import express from 'express';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { parse } from 'yaml';
import { serveDocsPage } from './docs-page';

/** A process that was waited for synchronously would let connections of this one expire. */
const execFileAsync = promisify(execFile);
const root = path.resolve(__dirname, '../../../..');
const surfaces = ['automation', 'worker', 'skills'] as const;
const addresses = {
  worker: 'http://worker.test:8080',
  automation: 'http://automation.test',
  skills: 'http://skills.test',
};
/** Evaluated in the page as text: the page's policy allows no other script. */
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];
const inBrowser = isToolUnavailable('chromium') ? test.skip : test;

let server: Server;
let url: string;
const browser = setupResource(openBrowser);

beforeAll(async () => {
  const directory = createTemporaryDir('api-docs');
  await execFileAsync(process.execPath, [path.join(root, 'packages/api-docs/build.mjs'), directory]);
  // Prevents the server from closing a connection that a client is about to reuse.
  server = createServer({ keepAliveTimeout: 120_000 }, express().use(serveDocsPage({ directory, addresses })));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => browser.closePages());

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Document {
  servers: unknown;
  paths: Record<string, Record<string, { summary: string }>>;
}

function listSummaries(surface: (typeof surfaces)[number]): string[] {
  const source: Document = JSON.parse(readFileSync(openapiFiles[surface], 'utf8'));
  const methods = ['get', 'put', 'post', 'patch', 'delete'];
  return Object.values(source.paths).flatMap((item) => methods.flatMap((method) => item[method]?.summary ?? []));
}

/** Opens a page and collects its policy violations, errors and requests to other origins. */
async function visit(
  surface: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const page = await browser.visit(options);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    const { url: source } = message.location();
    if (message.type() === 'error' && !source.endsWith('/favicon.svg')) problems.push(message.text());
  });
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url)) problems.push(`asked ${request.url()}`);
  });
  await page.goto(`${url}/docs/?surface=${surface}`);
  await page.getByRole('heading', { level: 1, name: /Gantry/ }).waitFor();
  return { page, problems };
}

test('the OpenAPI files keep their rules: no broken reference, and every body has a valid example', async () => {
  const cwd = path.join(root, 'packages/openapi');
  const { stdout, stderr } = await execFileAsync('npm', ['run', 'lint:openapi'], { cwd });
  expect(stdout + stderr).toContain('are valid');
});

test.each(surfaces)('the file of the %s surface stands alone and names its public address', async (surface) => {
  const response = await fetch(`${url}/openapi/${surface}.yaml`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('application/yaml');
  const text = await response.text();
  expect(parse(text)).toMatchObject({ openapi: '3.1.0', servers: [{ url: addresses[surface] }] });
  expect(text).not.toContain('common.yaml');
  expect(text).not.toContain('x-access');
});

test('the access to each operation is documented in its description', async () => {
  const { paths } = parse(await (await fetch(`${url}/openapi/automation.yaml`)).text());
  expect(paths['/api/deploy'].post.description).toContain('Needs the role member or higher.');
  expect(paths['/api/deploy'].post.description).toContain('Honours `Idempotency-Key`.');
  expect(paths['/healthz'].get.security).toEqual([]);
});

test('an unknown file is not found', async () => {
  for (const name of ['other.yaml', '..%2fdocs%2fdocs.js', 'common.yaml']) {
    expect((await fetch(`${url}/openapi/${name}`)).status).toBe(404);
  }
  expect((await fetch(`${url}/docs/other.html`)).status).toBe(404);
  for (const path of ['/docs/', '/openapi/worker.yaml']) {
    expect((await fetch(url + path, { method: 'DELETE' })).status).toBe(405);
  }
});

inBrowser.each(surfaces)(
  'every operation of the %s surface is shown, and nothing is loaded from elsewhere',
  async (surface) => {
    const { page, problems } = await visit(surface);
    const summaries = listSummaries(surface);
    const shownOperations = page.locator('.opblock');
    await shownOperations.nth(summaries.length - 1).waitFor();
    await expect(shownOperations.count()).resolves.toBe(summaries.length);
    const displayed = (await page.locator('.opblock-summary-description').allInnerTexts()).map((text) => text.trim());
    expect(displayed.sort()).toEqual(summaries.sort());
    expect(problems).toEqual([]);
  },
);

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  inBrowser('it has no serious accessibility problem, open or closed', async () => {
    const { page, problems } = await visit('automation', { colorScheme });
    await page
      .getByRole('button', { name: /POST \/api\/deploy/ })
      .first()
      .click();
    await page.getByText('Needs the role member or higher.').first().waitFor();
    const { violations }: AxeResults = await page.evaluate(
      `${axe}; axe.run(${JSON.stringify({ runOnly: STANDARDS })})`,
    );
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(
      serious.map(({ id, nodes }) => [id, nodes.map(({ target, failureSummary }) => [target, failureSummary])]),
    ).toEqual([]);
    expect(problems).toEqual([]);
  });
});

inBrowser('an operation opens by keyboard, and its address can be shared', async () => {
  const { page, problems } = await visit('automation');
  const operation = page.getByRole('button', { name: /POST \/api\/deploy/ }).first();
  await operation.focus();
  await page.keyboard.press('Enter');
  await page.getByText('Needs the role member or higher.').first().waitFor();
  expect(page.url()).toContain('deployAutomation');
  expect(problems).toEqual([]);
});

inBrowser('the sidebar lists every operation, and a search in it finds them by their words', async () => {
  const { page, problems } = await visit('automation');
  const operations = page.getByRole('navigation', { name: 'Operations' });
  await operations.getByRole('link').first().waitFor();
  const listed = (await operations.getByRole('link').allTextContents()).map((text) => text.replace(/^[A-Z]+ /, ''));
  expect(listed.sort()).toEqual(listSummaries('automation').sort());
  const search = page.getByRole('searchbox', { name: 'Search operations' });
  await search.fill('/API/deploy zip');
  await operations.getByText('No operation has these words.').waitFor();
  await search.fill('/API/deploy');
  await expect(operations.getByRole('link').count()).resolves.toBe(1);
  await search.press('Enter');
  await page.getByText('Needs the role member or higher.').first().waitFor();
  expect(page.url()).toContain('deployAutomation');
  await search.fill('');
  await operations.getByRole('link', { name: 'Get a run', exact: false }).first().click();
  await page.getByText('Needs the role viewer or higher.').first().waitFor();
  expect(page.url()).toContain('getRun');
  const opened = page.locator('#operations-Runs-getRun');
  await opened.getByRole('row', { name: /^runId/ }).waitFor();
  await opened.getByRole('tab', { name: 'Schema' }).first().click();
  await opened.getByText('Run', { exact: true }).first().waitFor();
  await page.goBack();
  expect(page.url()).toContain('deployAutomation');
  expect(problems).toEqual([]);
});

inBrowser('the reference begins with workers, in the typeface of the dashboard', async () => {
  const { page } = await visit('');
  await page.getByRole('heading', { level: 1, name: 'Gantry worker surface' }).waitFor();
  await page.locator('.opblock-summary-description').first().waitFor();
  const surfaceLinks = page.getByRole('navigation', { name: 'Surfaces' }).getByRole('link');
  expect(await surfaceLinks.allTextContents()).toEqual(['Workers', 'Automations', 'Skills']);
  const families =
    "[...document.querySelectorAll('h1,h2,h3,p,a,button,input,td')].map((one) => getComputedStyle(one).fontFamily)";
  const others = (await page.evaluate<string[]>(families)).filter((family) => !/Schibsted|mono/.test(family));
  expect(others).toEqual([]);
  expect(await page.evaluate("document.fonts.check('16px \\'Schibsted Grotesk Variable\\'')")).toBe(true);
});

inBrowser('the choice of a colour scheme is the one made in the dashboard', async () => {
  const { page } = await visit('automation', { colorScheme: 'light' });
  const dark = () => page.evaluate("document.documentElement.classList.contains('dark-mode')");
  expect(await dark()).toBe(false);
  await page.getByRole('button', { name: 'Dark' }).click();
  expect(await dark()).toBe(true);
  expect(await page.evaluate("localStorage.getItem('mantine-color-scheme-value')")).toBe('dark');
  await page.reload();
  expect(await dark()).toBe(true);
});
