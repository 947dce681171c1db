/** Every template in the real sandbox, as a user who has just selected it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ScriptedResponse, setupResource, waitUntil } from '@gantry/testing';
import { handleMcpMessage } from './test/fake-mcp';
import { createWorkspace, REACHABLE_HOST, setupPlatform } from './test/open-platform';
import { getEntryFile, isAgent, type WorkerTemplate } from './workers/templates/template';
import { TEMPLATES } from './workers/templates/template-list';

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;

const platform = setupPlatform();
const workspace = setupResource(() => createWorkspace(platform, 'Templates'));
let server: Server;
let postedMessages = '';
/** Warnings of each created worker, by template. */
const warnings = new Map<string, unknown>();

beforeAll(async () => {
  // The page that is watched, the chat, and what the issues come from.
  server = createServer(async (req, res) => {
    const body = (await req.toArray()).map(String).join('');
    if (req.url === '/mcp') {
      const answer = handleMcpMessage(body);
      if (!answer) return res.writeHead(202).end();
      return res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
    }
    postedMessages += body;
    return res.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Example Domain</h1>');
  });
  await new Promise<void>((resolve) => server.listen(0, REACHABLE_HOST, resolve));
  await request(201, 'POST', '/api/connections/mcp', {
    label: 'GitHub',
    app: 'github',
    url: at('/mcp'),
    visibility: 'workspace',
  });
  for (const template of TEMPLATES) warnings.set(template.id, await createFromTemplate(template));
});

afterAll(() => {
  server?.closeAllConnections();
  server?.close();
});

async function request(status: number, method: string, path: string, body?: unknown): Promise<Json> {
  const answer = await workspace.call(method, path, body);
  if (answer.status === status) return answer.body;
  throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

async function createFromTemplate(template: WorkerTemplate): Promise<unknown> {
  const { category: _, about, code, trigger, ...rest } = template;
  const made = await request(201, 'POST', '/api/workers', {
    ...rest,
    description: about,
    triggers: trigger ? [trigger] : [],
    files: [{ path: getEntryFile(template), content: code }],
  });
  return made.warnings;
}

/** @returns the run when it has ended, or waits for a person */
async function runWorker(id: string, inputs: object): Promise<Json> {
  const { run_id: runId } = await request(201, 'POST', `/api/workers/${id}/runs`, { inputs });
  return waitUntil(
    async () => {
      const found = await request(200, 'GET', `/api/runs/${runId}`);
      return !['queued', 'running'].includes(found.status) && found;
    },
    { everyMs: 100, what: `the run of ${id} to end` },
  );
}

const at = (path: string) => `http://${REACHABLE_HOST}:${(server.address() as AddressInfo).port}${path}`;

/** Inputs as a person would fill them in; the defaults count for all others. */
const FILLED: Record<string, () => object> = {
  'watch-page': () => ({ url: at('/') }),
  'chat-message': () => ({ chat_url: at('/chat') }),
};

const says = (result: object): ScriptedResponse[] => [{ text: 'Done.' }, { text: JSON.stringify(result) }];

/** A scripted model that follows the agent’s instructions. */
const SAID: Record<string, () => ScriptedResponse[]> = {
  'page-researcher': () => [
    { text: 'I read the page.', calls: [{ name: 'http', input: { url: at('/') } }] },
    ...says({ summary: 'It is an example.', answered: true, sources: [{ url: at('/'), says: 'Example Domain' }] }),
  ],
  'number-check': () => [
    { calls: [{ name: 'python', input: { code: 'print(1240 * 39.5, 1240 / 1080 - 1)' } }] },
    ...says({ verdict: 'One of two.', checked: [{ claim: '12 %', computed: '14.8 %', right: false }] }),
  ],
  'issue-triage': () => [
    { calls: [{ name: 'github__list_issues', input: { owner: 'octocat', repo: 'hello-world' } }] },
    { calls: [{ name: 'ask_person', input: { question: 'Is number 7 for now, or for soon?' } }] },
    ...says({
      report: 'Number 7 first.',
      issues: [{ number: 7, title: 'Import', urgency: 'now', why: 'Data is lost' }],
    }),
  ],
};

/** The tool whose answer shows that it was really called, and what that says. */
const CALLED: Record<string, string> = {
  'page-researcher': 'Example Domain',
  'number-check': '48980.0 0.148',
  'issue-triage': 'Import loses the last row',
};

/** Ids are names, so that links to them stay valid. */
test('there are fifteen, each with an id, texts and inputs of its own', () => {
  expect(TEMPLATES).toHaveLength(15);
  expect(new Set(TEMPLATES.map(({ id }) => id)).size).toBe(15);
  for (const template of TEMPLATES) {
    expect(template.id).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(template.about).toMatch(/^[A-Z].*\.$/);
    expect(template.code).toMatch(isAgent(template) ? /^# .*\n/ : /^""".*\n/);
  }
});

test.each(TEMPLATES.map((template) => [template.id, template] as const))('%s runs as it is', async (id, template) => {
  expect(warnings.get(id)).toEqual([]);
  await platform.model.says(...(SAID[id]?.() ?? []));
  const ended = await runWorker(id, FILLED[id]?.() ?? {});
  expect({ status: ended.status, error: ended.error }).toEqual({
    status: asksPerson(template) ? 'pending_approval' : 'completed',
    error: null,
  });
  if (ended.status === 'pending_approval') {
    await request(200, 'POST', `/api/runs/${ended.id}/approve`, { data: FORMS[id] });
    await waitUntil(async () => (await request(200, 'GET', `/api/runs/${ended.id}`)).status === 'completed', {
      what: `${id} to complete`,
    });
  }
  const { output } = await request(200, 'GET', `/api/runs/${ended.id}`);
  const declared = (template.outputs ?? []) as { name: string }[];
  expect(Object.keys(output).sort()).toEqual(declared.map(({ name }) => name).sort());
  if (!isAgent(template)) return;
  expect(JSON.stringify(await platform.model.asked())).toContain(CALLED[id]);
});

const asksPerson = ({ code, tools = [] }: WorkerTemplate): boolean =>
  code.includes('context.approve(') || tools.includes('ask_person');

const FORMS: Record<string, object> = {
  'expense-approval': { account: 'Travel', amount: 400 },
  'issue-triage': { answer: 'For now.' },
};

test('the chat gets the message, and a page with an unexpected response fails', async () => {
  await runWorker('chat-message', { chat_url: at('/chat') });
  expect(postedMessages).toContain('New order');
  const ended = await runWorker('watch-page', { url: at('/'), text: 'Nothing of the kind' });
  expect(ended).toMatchObject({
    status: 'failed',
    error: expect.stringContaining("does not contain 'Nothing of the kind'"),
  });
});

test('sample inputs are generated for each', async () => {
  for (const { id } of TEMPLATES) {
    const { inputs } = await request(200, 'GET', `/api/workers/${id}/sample-input`);
    expect(Object.keys(inputs).length).toBeGreaterThan(0);
  }
});
