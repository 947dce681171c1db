/** One headless browser for the suites of a Jest worker. */
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { sharedByWorker } from './shared-by-worker';
import { assertTestTool } from './test-tools';

const STEP_MS_MAX = 60_000;
/** A page that lives for seconds gains nothing from optimised code, which takes an eighth of the browser's processor time. */
const INTERPRET = '--js-flags=--no-opt --no-maglev';

/** Playwright kills it when the worker ends. */
const getBrowser = sharedByWorker(
  'chromium',
  async () => {
    assertTestTool('chromium');
    // Most suites need no browser, and loading it takes a moment.
    const { chromium } = await import('playwright-core');
    return chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', INTERPRET] });
  },
  () => {},
);

export interface TestBrowser {
  /** A page of a new visitor, who shares nothing with others. */
  visit: (options?: BrowserContextOptions) => Promise<Page>;
  closePages: () => Promise<void>;
}

/** The visitors of a suite, each with a context of their own in the shared browser. */
export function openBrowser(): TestBrowser {
  const contexts: BrowserContext[] = [];
  return {
    async visit(options) {
      const browser = await getBrowser();
      // Without motion nothing is half-way while it is looked at.
      const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', ...options });
      contexts.push(context);
      context.setDefaultTimeout(STEP_MS_MAX);
      return context.newPage();
    },
    async closePages() {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
    },
  };
}
