/** One headless browser for the suites of a Jest worker. */
import type { Browser, BrowserContext, BrowserContextOptions, LaunchOptions, Page } from 'playwright-core';
import { createWorkerShared } from './shared-by-worker';
import { assertTestTool } from './test-tools';

const STEP_MS_MAX = 60_000;
const PRINT_MS_MAX = 5_000;
const PRINTED_CHARS_MAX = 6_000;
const BLANK = 'about:blank';
/** Milliseconds by which every response comes later: shows which tests and pages rely on what happened to come early. */
const LATENCY_MS = Number(process.env.BROWSER_LATENCY_MS ?? 0);
/** The process of a context's pages grows by some MB with each visit. */
const VISITS_PER_CONTEXT_MAX = 20;
const FLAGS = [
  '--no-sandbox',
  // A page that lives for seconds gains nothing from optimised code, which takes an eighth of the browser's processor time.
  '--js-flags=--no-opt --no-maglev',
  // The pages of a context share a process, in which their code is compiled.
  '--process-per-site',
];

async function launchBrowser(options: LaunchOptions = {}): Promise<Browser> {
  assertTestTool('chromium');
  // Most suites need no browser, and loading it takes a moment.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS, ...options });
}

/** Playwright kills it when the worker ends. */
const getBrowser = createWorkerShared(
  'chromium',
  () => launchBrowser(),
  () => {},
);

/** Like a user's browser, it keeps the pages that a visitor has left, and Playwright's does not. */
const getBrowserWithBackForwardCache = createWorkerShared(
  'chromium with a back/forward cache',
  () => launchBrowser({ ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
  () => {},
);

export interface TestBrowser {
  /** A page of a new visitor, who shares nothing with others. */
  visit: (options?: BrowserContextOptions) => Promise<Page>;
  closePages: () => Promise<void>;
}

/** An empty context for the next visitor without options: a page starts and loads there for three quarters of the time. */
let idleContext: BrowserContext | undefined;
const visitCounts = new WeakMap<BrowserContext, number>();

/** The visitors of a suite, each with a context of their own in the shared browser. */
export function openBrowser({ hasBackForwardCache = false } = {}): TestBrowser {
  const visitors: { context: BrowserContext; isReusable: boolean }[] = [];
  return {
    async visit(options = {}) {
      const browser = await (hasBackForwardCache ? getBrowserWithBackForwardCache() : getBrowser());
      const isReusable = !hasBackForwardCache && Object.keys(options).length === 0;
      let context = isReusable ? idleContext : undefined;
      if (context) idleContext = undefined;
      // Without motion nothing is half-way while it is looked at.
      else context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', ...options });
      const visitCount = (visitCounts.get(context) ?? 0) + 1;
      visitCounts.set(context, visitCount);
      visitors.push({ context, isReusable: isReusable && visitCount < VISITS_PER_CONTEXT_MAX });
      context.setDefaultTimeout(STEP_MS_MAX);
      const page = await context.newPage();
      if (LATENCY_MS) await delayResponses(page);
      return page;
    },
    async closePages() {
      const contexts = visitors.splice(0);
      if (hasTestFailed()) await Promise.all(contexts.flatMap(({ context }) => context.pages()).map(printPage));
      const reusable = contexts.find(({ context, isReusable }) => isReusable && context.pages().length > 0)?.context;
      await Promise.all(
        contexts.map(({ context }) => (context === reusable ? resetContext(context) : context.close())),
      );
      idleContext ??= reusable;
    },
  };
}

async function delayResponses(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const throughput = { downloadThroughput: -1, uploadThroughput: -1 };
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: LATENCY_MS, ...throughput });
}

/** Set by Jest's environment (jest/environment.cjs). */
const hasTestFailed = (): boolean => (globalThis as { hasTestFailed?: boolean }).hasTestFailed === true;

/** The failed test of a page says what it waited for; its cause is what the page showed instead. */
async function printPage(page: Page): Promise<void> {
  const shown = await page
    .locator('body')
    .ariaSnapshot({ timeout: PRINT_MS_MAX })
    .catch((cause) => `It could not be read: ${cause}`);
  process.stdout.write(`The page of the failed test, ${page.url()}:\n${shown.slice(0, PRINTED_CHARS_MAX)}\n`);
}

/** Forgets everything that a visitor has left in a context but one blank page, which keeps the process. */
async function resetContext(context: BrowserContext): Promise<void> {
  const [kept, ...others] = context.pages() as [Page, ...Page[]];
  await Promise.all(others.map((page) => page.close()));
  if (kept.url() !== BLANK) {
    kept.removeAllListeners();
    await kept.unrouteAll();
    await kept.goto(BLANK);
  }
  const session = await context.newCDPSession(kept);
  await session.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' });
  await session.detach();
  await context.clearCookies();
}
