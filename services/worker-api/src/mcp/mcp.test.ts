import { readOperations } from '@gantry/http';
import { openapiFiles } from '@gantry/openapi';
import { setupResource } from '@gantry/testing';
import type { Client } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020';
import { createCaller } from '../test/caller';
import { connectMcp } from '../test/connect-mcp';
import { createWorker } from '../test/create-worker';
import { BASE_URL, testWorkerApi } from '../test/test-worker-api';
import { TOOLSETS } from './tool';
import { TOOLS } from './tools';

const api = testWorkerApi();
setupResource(() => api.serveRuns(() => ({ total: 12 })));

const ERAS = ['legacy', 'auto'] as const;

const connect = (token: string, options = {}) => connectMcp(api, token, options);

const callStructured = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const answer = await client.callTool({ name, arguments: args });
  if (answer.isError) throw new Error(JSON.stringify(answer.content));
  return answer.structuredContent as Record<string, never>;
};

const refusal = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const answer = await client.callTool({ name, arguments: args });
  expect(answer.isError).toBe(true);
  return JSON.stringify(answer.content);
};

/** Tools that agents were promised; the table may have more. */
const PROMISED = [
  ...['list_workers', 'get_worker', 'create_worker', 'update_worker_files', 'run_worker', 'get_run', 'get_run_logs'],
  ...['list_runs', 'cancel_run', 'replay_run', 'list_approvals', 'decide_approval', 'list_automations'],
  ...['run_automation', 'deploy_automation', 'test_artifact', 'search_skills', 'get_skill', 'publish_skill'],
  ...['list_contexts', 'read_context_file', 'write_context_file', 'list_connections', 'get_overview'],
];

test('each promised tool describes its arguments, results and effects, with a valid example', async () => {
  const client = await connect(api.owner.jwt);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(PROMISED));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const { name, title, description, annotations, inputSchema, outputSchema } of tools) {
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {};
    const hints = [readOnlyHint, destructiveHint, idempotentHint, openWorldHint];
    expect([name, hints.map((hint) => typeof hint)]).toEqual([name, hints.map(() => 'boolean')]);
    expect([name, title, description]).toEqual([name, expect.any(String), expect.stringMatching(/\.$/)]);
    expect([name, outputSchema?.type]).toEqual([name, 'object']);
    expect([name, Object.keys(outputSchema ?? {})]).not.toEqual([name, ['type']]);
    expect(ajv.validateSchema(outputSchema as object)).toBe(true);
    const check = ajv.compile(inputSchema);
    const examples = inputSchema.examples as object[];
    expect(examples).toHaveLength(1);
    for (const example of examples) expect([name, check(example), check.errors]).toEqual([name, true, null]);
  }
});

test.each(ERAS)('an agent creates a worker, runs it and reads its results: %s', async (era) => {
  const client = await connect(api.owner.jwt, { era });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));

  const files = [{ path: 'main.py', content: 'def run(n=1):\n    return {"total": n}\n' }];
  const made = await callStructured(client, 'create_worker', { name: `Counted ${era}`, files });
  expect(made).toMatchObject({ name: `Counted ${era}`, status: 'active' });
  const run = await callStructured(client, 'run_worker', { worker_id: made.id, inputs: {} });
  expect(run).toMatchObject({ status: 'completed', output: { total: 12 } });
  expect(await callStructured(client, 'get_run', { run_id: run.id })).toMatchObject({ status: 'completed' });
  const { items } = await callStructured(client, 'list_runs', { worker_id: made.id });
  expect(items).toHaveLength(1);
  await client.close();
});

test('a tool has only the permissions of its credential: a viewer starts nothing, and another workspace is not found', async () => {
  const worker = await createWorker(api, { name: 'Guarded' });
  const viewer = await connect((await api.addMember('viewer')).jwt);
  expect(await refusal(viewer, 'run_worker', { worker_id: worker.id })).toMatch(/403/);
  const stranger = await connect(api.foreign.owner.jwt);
  expect(await refusal(stranger, 'get_worker', { worker_id: worker.id })).toMatch(/404/);
  expect(await callStructured(stranger, 'list_workers')).toMatchObject({ items: [] });
});

test('the address narrows the offered tools, and others cannot be called', async () => {
  const reader = await connect(api.owner.jwt, { query: '?toolsets=workers,runs&readonly=1' });
  const { tools } = await reader.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...['list_workers', 'get_worker', 'get_worker_files', 'get_conversation', 'list_examples', 'get_evaluation'],
    ...['list_runs', 'get_run', 'get_run_logs', 'get_repair', 'get_candidate'],
  ]);
  expect(await refusal(reader, 'create_worker', { name: 'No' })).toMatch(/there is no tool/);
});

test('a restricted token is offered the tools that it can use, with no more permissions here than over HTTP', async () => {
  const [mine, other] = [
    await createWorker(api, { name: 'Of agent' }),
    await createWorker(api, { name: 'Not of agent' }),
  ];
  const agent = async (restrict: object) =>
    connect((await api.createToken('personal', api.owner.jwt, { restrict })).token);
  const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

  const runner = await agent({ workers: [mine.id], toolsets: ['workers'] });
  expect(await names(runner)).toEqual([
    ...['list_workers', 'get_worker', 'get_worker_files', 'update_worker_files', 'set_worker_state', 'run_worker'],
    ...['start_conversation', 'send_message', 'get_conversation'],
    ...['list_examples', 'save_example', 'evaluate_worker', 'get_evaluation'],
    ...['get_candidate', 'drop_candidate'],
  ]);
  expect(await callStructured(runner, 'run_worker', { worker_id: mine.id, inputs: {} })).toMatchObject({ output: {} });
  expect(await refusal(runner, 'run_worker', { worker_id: other.id })).toMatch(/403.*restrict.workers/);
  expect(await refusal(runner, 'list_runs')).toMatch(/there is no tool/);

  const reader = await agent({ readonly: true, toolsets: ['runs', 'contexts'] });
  expect(await names(reader)).toEqual([
    ...['list_runs', 'get_run', 'get_run_logs', 'get_repair', 'list_contexts', 'read_context_file'],
  ]);
});

test('every tool is in its toolset over HTTP too', () => {
  const declared = Object.fromEntries(
    (['worker', 'automation', 'skills'] as const).map((surface) => [surface, readOperations(openapiFiles[surface])]),
  );
  for (const { name, surface, operationId, toolset } of TOOLS) {
    const operation = declared[surface]?.find(({ id }) => id === operationId);
    expect([name, operation?.restrict.toolsets]).toEqual([name, expect.arrayContaining([toolset])]);
  }
  const known = Object.values(declared).flatMap((operations) =>
    operations.flatMap(({ restrict }) => (Array.isArray(restrict.toolsets) ? restrict.toolsets : [])),
  );
  expect(new Set(known)).toEqual(new Set(TOOLSETS));
});

test('invalid arguments are named in the words of the API, and nothing leaves the paths of the operation', async () => {
  const client = await connect(api.owner.jwt);
  expect(await refusal(client, 'get_run')).toMatch(/run_id: is required/);
  expect(await refusal(client, 'get_run', { run_id: '../workers' })).toMatch(/404|400/);
  expect(await refusal(client, 'list_runs', { limit: 0 })).toMatch(/400.*limit/);
  expect(await refusal(client, 'list_runs', { wait: 3 })).toMatch(/unknown argument: wait/);
  expect(await refusal(client, 'run_worker', { worker_id: 'hello', wait: 3 })).toMatch(/unknown argument: wait/);
  expect(await refusal(client, 'decide_approval', { approval_id: 'apr_x', verdict: 'maybe' })).toMatch(
    /approve, reject/,
  );
});

test('a file of a context is written, and read as text', async () => {
  const client = await connect(api.owner.jwt);
  await createCaller(api.url, api.owner.jwt).post('/api/contexts', {
    name: 'handbook',
    files: [{ path: 'a.md', content: 'a' }],
  });
  const file = { name: 'handbook', path: 'refunds.md' };
  await callStructured(client, 'write_context_file', { ...file, content: '# Refunds' });
  expect(await callStructured(client, 'read_context_file', file)).toEqual({ text: '# Refunds' });
  const listed = await callStructured(client, 'list_connections');
  expect(listed).toEqual({ items: [], total: 0 });
});

test('secrets that are shown once to a person are in no response', async () => {
  const client = await connect(api.owner.jwt);
  const files = [{ path: 'main.py', content: 'def run():\n    return 1\n' }];
  const made = await client.callTool({
    name: 'create_worker',
    arguments: { name: 'Called', files, trigger: { type: 'webhook' } },
  });
  expect(made.isError).toBeFalsy();
  expect(JSON.stringify(made)).not.toMatch(/whsec|webhook_secret|signing_key/);
});

test('a request without a credential, or with a cookie alone, is refused', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  expect((await fetch(`${api.url}/mcp`, { method: 'POST', headers, body })).status).toBe(401);
});

test('a page of another origin is refused, whatever its credential', async () => {
  const postFromOrigin = async (origin: string) => {
    const answer = await fetch(`${api.url}/mcp`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Origin: origin,
        Authorization: `Bearer ${api.owner.jwt}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    // Unread, it would hold its connection.
    await answer.text();
    return answer.status;
  };
  expect(await postFromOrigin('http://evil.example.com')).toBe(403);
  expect(await postFromOrigin('null')).toBe(403);
  expect(await postFromOrigin(new URL(BASE_URL).origin)).toBe(200);
});

test.each(ERAS)('logs of runs are resources, read with the permissions of the caller: %s', async (era) => {
  const client = await connect(api.owner.jwt, { era });
  const worker = await createWorker(api, { name: `Logged ${era}` });
  const run = await callStructured(client, 'run_worker', { worker_id: worker.id });
  const uri = `gantry://runs/${run.id}/log`;
  const { resources } = await client.listResources();
  expect(resources.map((one) => one.uri)).toContain(uri);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('gantry://skills/{slug}');
  const { contents } = await client.readResource({ uri });
  expect(contents).toMatchObject([{ uri, mimeType: 'text/plain', text: expect.any(String) }]);

  for (const wrong of [
    'gantry://runs/../log',
    'gantry://runs/run_none/log',
    'gantry://workers/x',
    'file:///etc/passwd',
  ]) {
    await expect(client.readResource({ uri: wrong })).rejects.toThrow(/not found/i);
  }
  const stranger = await connect(api.foreign.owner.jwt, { era });
  await expect(stranger.readResource({ uri })).rejects.toThrow(/not found/i);
  const narrowed = await connect(api.owner.jwt, { era, query: '?toolsets=workers' });
  await expect(narrowed.readResource({ uri })).rejects.toThrow(/not found/i);
});
