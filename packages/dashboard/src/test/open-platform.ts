/** Runs the pages on a whole platform: gateway, services, database and sandbox, all real. */
import {
  type ApiCall,
  createApiClient,
  openBrowser,
  type ScriptedModel,
  type Stack,
  setupResource,
  startScriptedModel,
  startStack,
} from '@gantry/testing';
import type { BrowserContext, Cookie, Page } from 'playwright-core';
import { openPage, type VisitOptions } from './open-page';

/** The address of test servers; in a sandbox, 127.0.0.1 is the sandbox itself. */
export const REACHABLE_HOST = '127.0.0.2';

export interface TestWorkspace {
  id: string;
  /** The worker surface, the automation surface and skills, as the owner. */
  call: ApiCall;
  automations: ApiCall;
  skills: ApiCall;
}

export interface TestPlatform {
  model: ScriptedModel;
  owner: Stack['owner'];
  /** The workspace of the current test. */
  workspace: TestWorkspace;
  /** The dashboard's address. */
  at: (pathname: string) => string;
  call: ApiCall;
  /** Calls the worker surface. @returns the body @throws if the status is another one */
  expectStatus: (status: number, ...request: Parameters<ApiCall>) => Promise<Awaited<ReturnType<ApiCall>>['body']>;
  /** Opens a new browser without a session. */
  visit: (options?: VisitOptions) => Promise<Page>;
  /** Opens a path as the owner, in the workspace of the test. */
  visitAsOwner: (pathname: string, options?: VisitOptions) => Promise<Page>;
}

interface StartedPlatform {
  stack: Stack;
  /** Answers as the model `smart`, which a test scripts. */
  model: ScriptedModel;
  stop(): Promise<void>;
}

/** A suite has one of its own: starting it costs less than keeping it for the suites that might follow. */
async function startPlatform(): Promise<StartedPlatform> {
  const model = await startScriptedModel();
  const provider = {
    name: 'local',
    kind: 'openai-compatible',
    base_url: model.baseUrl,
    models: ['m'],
    prices: { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } },
  };
  const env = {
    MODEL_PROVIDERS: JSON.stringify([provider]),
    MODEL_ALIASES: '{"smart":"local/m"}',
    EGRESS_ALLOW_PRIVATE: `${REACHABLE_HOST}/32`,
    OUTBOUND_ALLOW_CIDRS: `${REACHABLE_HOST}/32`,
  };
  try {
    const stack = await startStack({ skillsApi: true, gateway: true, env });
    const stop = async () => {
      await stack.stop();
      await model.stop();
    };
    return { model, stack, stop };
  } catch (err) {
    await model.stop();
    throw err;
  }
}

export async function createWorkspace({ stack }: StartedPlatform, name: string): Promise<TestWorkspace> {
  const { worker, dashboard, skills } = stack.gateway as NonNullable<Stack['gateway']>;
  const { status, body } = await createApiClient(worker, stack.token)('POST', '/api/workspaces', { name });
  if (status !== 201) throw new Error(`a workspace: ${status} ${JSON.stringify(body)}`);
  const createCaller = (url: string) => createApiClient(url, stack.token, body.id);
  return {
    id: body.id,
    call: createCaller(worker),
    automations: createCaller(dashboard),
    skills: createCaller(skills),
  };
}

/** Deletes a workspace, which stops its schedules and frees the owner's quota of workspaces. */
async function deleteWorkspace({ id, call }: TestWorkspace): Promise<void> {
  const { status, body } = await call('DELETE', `/api/workspaces/${id}`);
  if (status !== 200) throw new Error(`the end of a workspace: ${status} ${JSON.stringify(body)}`);
}

/** Sets up a platform for a `describe`: each test has its own workspace, and fails on a console error of a page. */
export function testPlatform(options?: BrowserOptions): TestPlatform {
  const started = setupPlatform();
  const platform = setupResource(() => openPlatform(started, options));
  beforeEach(() => platform.startTest());
  afterEach(async () => expect(await platform.endTest()).toEqual([]));
  return platform;
}

/** A platform that is started before the tests, and stopped after them. */
export const setupPlatform = (): StartedPlatform => setupResource(startPlatform, (platform) => platform.stop());

type BrowserOptions = Parameters<typeof openBrowser>[0];

function openPlatform(platform: StartedPlatform, options?: BrowserOptions) {
  const { model, stack } = platform;
  const { dashboard } = stack.gateway as NonNullable<Stack['gateway']>;
  const browser = openBrowser(options);
  const problems: string[] = [];
  let workspace: TestWorkspace | undefined;
  /** The owner's pages in the current test; the next test reuses the session, since sign-ins are rate-limited. */
  let owner: BrowserContext | undefined;
  let session: Cookie[] = [];
  const at = (pathname: string) => dashboard + pathname;

  function recordErrors(page: Page): Page {
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      // The browser logs every failed request, even if the page handles it.
      const isFailedRequest = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isFailedRequest) problems.push(message.text());
    });
    page.on('response', (response) => {
      const status = response.status();
      if (status === 404 || status >= 500) problems.push(`${status} ${response.request().method()} ${response.url()}`);
    });
    return page;
  }

  const visit = async (options?: VisitOptions) => recordErrors(await openPage(browser.visit, options));

  const getWorkspace = (): TestWorkspace => {
    if (workspace) return workspace;
    throw new Error('each test has its own workspace: there is none before the test starts');
  };

  return {
    model,
    owner: stack.owner,
    at,
    get workspace() {
      return getWorkspace();
    },
    call: ((...request) => getWorkspace().call(...request)) as ApiCall,
    async expectStatus(status: number, ...request: Parameters<ApiCall>) {
      const response = await getWorkspace().call(...request);
      if (response.status !== status)
        throw new Error(`${request[1]}: ${response.status} ${JSON.stringify(response.body)}`);
      // The client parses only objects.
      return typeof response.body === 'string' ? JSON.parse(response.body) : response.body;
    },
    visit,
    async visitAsOwner(pathname: string, options?: VisitOptions) {
      const context = owner;
      const page = context ? recordErrors(await openPage(() => context.newPage(), options)) : await visit(options);
      if (!owner) {
        owner = page.context();
        await owner.addCookies(session);
      }
      await page.addInitScript((id) => localStorage.setItem('gantry-workspace', id), getWorkspace().id);
      await page.goto(at(pathname));
      const account = page.getByRole('button', { name: 'Account', exact: true });
      // The first page of a suite has no session, and a page that was closed during a refresh has lost it.
      const signIn = page.getByRole('button', { name: 'Sign in', exact: true });
      await account.or(signIn).first().waitFor();
      if (await signIn.isVisible()) {
        await page.getByLabel('Email').fill(stack.owner.email);
        await page.getByLabel('Password', { exact: true }).fill(stack.owner.password);
        await signIn.click();
        await account.waitFor();
      }
      return page;
    },
    async startTest() {
      workspace = await createWorkspace(platform, 'A test');
    },
    /** @returns the console errors and the uncaught errors of its pages */
    async endTest() {
      session = (await owner?.cookies()) ?? session;
      owner = undefined;
      await browser.closePages();
      if (workspace) await deleteWorkspace(workspace);
      workspace = undefined;
      return problems.splice(0);
    },
  };
}
