/** The pages on a whole platform: gateway, services, database and sandbox, all real. */
import { apiCaller, type Call, given, type Stack, startStack } from '@gantry/testing';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser } from './browser';

const START_MS_MAX = 120_000;
const TEST_MS_MAX = 300_000;

export interface Person {
  email: string;
  password: string;
}

export interface TestPlatform {
  stack: Stack;
  owner: Person;
  /** The dashboard's address. */
  at: (pathname: string) => string;
  /** The worker surface, and the automation surface, as the owner. */
  call: Call;
  automations: Call;
  /** A new visitor with a browser of their own. */
  visit: (options?: BrowserContextOptions) => Promise<Page>;
  /** A page of the owner, or of the person in `as`, at this path. */
  signedIn: (pathname: string, options?: BrowserContextOptions & { as?: Person }) => Promise<Page>;
  /** Closes every page. @returns what their consoles said in error, and errors of the pages */
  leave: () => Promise<string[]>;
  close: () => Promise<void>;
}

/**
 * The platform for the tests of a `describe`, which fail where the console of a page has an error.
 * @param env of its services
 */
export function testPlatform(env: () => Record<string, string> = () => ({})): TestPlatform {
  jest.setTimeout(TEST_MS_MAX);
  const platform = given(
    () => openPlatform(env()),
    (opened) => opened.close(),
    START_MS_MAX,
  );
  afterEach(async () => expect(await platform.leave()).toEqual([]));
  return platform;
}

async function openPlatform(env: Record<string, string>): Promise<TestPlatform> {
  const stack = await startStack({ skillsApi: true, gateway: true, env });
  const { worker, dashboard } = stack.gateway as NonNullable<Stack['gateway']>;
  const browser = await openBrowser();
  const problems: string[] = [];
  const at = (pathname: string) => dashboard + pathname;

  async function visit(options?: BrowserContextOptions): Promise<Page> {
    const page = await browser.visit(options);
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      // The browser itself says so of every refusal, whether the page deals with it or not.
      const isAnswer = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAnswer) problems.push(message.text());
    });
    return page;
  }

  return {
    stack,
    owner: stack.owner,
    at,
    call: apiCaller(worker, stack.token),
    automations: apiCaller(dashboard, stack.token),
    visit,
    async signedIn(pathname, { as = stack.owner, ...options } = {}) {
      const page = await visit(options);
      await page.goto(at(`/sign-in?next=${encodeURIComponent(pathname)}`));
      await page.getByLabel('E-mail').fill(as.email);
      await page.getByLabel('Password', { exact: true }).fill(as.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
      return page;
    },
    async leave() {
      await browser.closePages();
      return problems.splice(0);
    },
    async close() {
      await browser.closePages();
      await stack.stop();
    },
  };
}
