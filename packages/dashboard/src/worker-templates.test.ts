/** Every template in the real sandbox, as somebody who has just chosen it runs it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiCaller, type Call, type Stack, startStack, until } from '@gantry/testing';
import { TEMPLATES } from './workers/templates/all';
import type { WorkerTemplate } from './workers/templates/template';

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;

let stack: Stack;
let call: Call;
/** Not 127.0.0.1: in a sandbox that is the sandbox itself. */
const HOST = '127.0.0.2';

let server: Server;
let posted = '';

beforeAll(async () => {
  // The page that is watched, and the chat.
  server = createServer((req, res) => {
    req.on('data', (chunk) => {
      posted += chunk;
    });
    req.on('end', () => res.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Example Domain</h1>'));
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  stack = await startStack({ env: { EGRESS_ALLOW_PRIVATE: `${HOST}/32` } });
  call = apiCaller(stack.workerUrls[0] as string, stack.token);
}, 120_000);

afterAll(async () => {
  await stack?.stop();
  server?.close();
}, 60_000);

async function ask(status: number, ...[method, path, body]: Parameters<Call>): Promise<Json> {
  const answer = await call(method, path, body);
  if (answer.status === status) return answer.body;
  throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

async function make({ about, code, trigger, ...template }: WorkerTemplate): Promise<string> {
  const { warnings } = await ask(201, 'POST', '/api/workers', {
    ...{ ...template, description: about, triggers: trigger ? [trigger] : [] },
    files: [{ path: 'main.py', content: code }],
  });
  expect(warnings).toEqual([]);
  return template.id;
}

/** @returns the run when it has ended, or waits for a person */
async function run(id: string, inputs: object): Promise<Json> {
  const { run_id: runId } = await ask(201, 'POST', `/api/workers/${id}/runs`, { inputs });
  return until(
    async () => {
      const found = await ask(200, 'GET', `/api/runs/${runId}`);
      return !['queued', 'running'].includes(found.status) && found;
    },
    { deadlineMs: 30_000, everyMs: 100, what: `the run of ${id} to end` },
  );
}

const at = (path: string) => `http://${HOST}:${(server.address() as AddressInfo).port}${path}`;

/** Inputs as a person would fill them in; the defaults count for all others. */
const FILLED: Record<string, () => object> = {
  'watch-page': () => ({ url: at('/') }),
  'chat-message': () => ({ chat_url: at('/chat') }),
};

/** Ids are names, so that somebody who follows a link to one finds it tomorrow. */
test('there are twelve, each with an id, words and inputs of its own', () => {
  expect(TEMPLATES).toHaveLength(12);
  expect(new Set(TEMPLATES.map(({ id }) => id)).size).toBe(12);
  for (const { id, about, code } of TEMPLATES) {
    expect(id).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(about).toMatch(/^[A-Z].*\.$/);
    expect(code).toMatch(/^""".*\n/);
  }
});

test.each(TEMPLATES.map((template) => [template.id, template] as const))('%s runs as it is', async (id, template) => {
  await make(template);
  const ended = await run(id, FILLED[id]?.() ?? {});
  expect({ status: ended.status, error: ended.error }).toEqual({
    status: template.code.includes('context.approve(') ? 'pending_approval' : 'completed',
    error: null,
  });
  if (ended.status === 'pending_approval') {
    await ask(200, 'POST', `/api/runs/${ended.id}/approve`, { data: formOf(id) });
    await until(async () => (await ask(200, 'GET', `/api/runs/${ended.id}`)).status === 'completed', {
      ...{ deadlineMs: 30_000, what: `${id} to complete` },
    });
  }
  const { output } = await ask(200, 'GET', `/api/runs/${ended.id}`);
  const declared = (template.outputs ?? []) as { name: string }[];
  expect(Object.keys(output).sort()).toEqual(declared.map(({ name }) => name).sort());
});

const formOf = (id: string) => (id === 'expense-approval' ? { account: 'Travel', amount: 400 } : undefined);

test('what the chat gets is the message, and a page that says something else fails', async () => {
  expect(posted).toContain('New order');
  const ended = await run('watch-page', { url: at('/'), text: 'Nothing of the kind' });
  expect(ended).toMatchObject({
    status: 'failed',
    error: expect.stringContaining("does not say 'Nothing of the kind'"),
  });
});

test('a sample of inputs is found for each', async () => {
  for (const { id } of TEMPLATES) {
    const { inputs } = await ask(200, 'GET', `/api/workers/${id}/sample-input`);
    expect(Object.keys(inputs).length).toBeGreaterThan(0);
  }
});
