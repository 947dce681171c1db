/**
 * Tool calls of an agent that a person corrects and refuses, through the built services and a real sandbox (ADR 47).
 */
import { type ApiCall, createApiClient } from './api-client';
import { startScriptedModel } from './scripted-model/scripted-model';
import { setupResource } from './setup-resource';
import { startStack } from './stack';
import { waitUntil } from './wait-until';

const model = setupResource(startScriptedModel, (one) => one.stop());
const stack = setupResource(
  () => {
    const provider = { name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'] };
    return startStack({ gateway: true, env: { MODEL_PROVIDERS: JSON.stringify([provider]) } });
  },
  (one) => one.stop(),
);

let worker: ApiCall;
beforeAll(() => {
  worker = createApiClient(stack.gateway?.worker as string, stack.token);
});

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;

async function requestOk(status: number, ...[method, path, body]: Parameters<ApiCall>): Promise<Json> {
  const answer = await worker(method, path, body);
  if (answer.status === status) return typeof answer.body === 'string' ? JSON.parse(answer.body) : answer.body;
  throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

const statusIs = (id: string, status: string) =>
  waitUntil(async () => (await requestOk(200, 'GET', `/api/runs/${id}`)).status === status, {
    what: `run ${id} is ${status}`,
  });

test('calls are made as a person decided, even if the executor dies between the approval and the calls', async () => {
  const files = [{ path: 'main.py', content: 'def run(a, b):\n    return {"product": a * b}\n' }];
  const inputs = ['a', 'b'].map((name) => ({ name, type: 'integer', required: true }));
  await requestOk(201, 'POST', '/api/workers', { id: 'multiply', name: 'Multiply', files, inputs, network: 'none' });
  await requestOk(201, 'POST', '/api/workers', {
    id: 'compute',
    name: 'Compute',
    runner: 'agent',
    files: [{ path: 'SKILL.md', content: 'Compute what is asked.' }],
    tools: [
      { tool: 'python', approve: 'always' },
      { tool: 'worker:multiply', approve: 'always' },
    ],
    network: 'none',
  });
  await model.says(
    {
      calls: [
        { name: 'python', input: { code: 'print(1)' }, id: 'p1' },
        { name: 'run__multiply', input: { a: 6, b: 7 }, id: 'm1' },
        { name: 'python', input: { code: 'print(2)' }, id: 'p2' },
      ],
    },
    { text: 'Computed.' },
  );
  const { run_id: id } = await requestOk(201, 'POST', '/api/workers/compute/runs', { inputs: {} });
  await statusIs(id, 'pending_approval');
  const [{ id: approvalId }] = await requestOk(200, 'GET', '/api/approvals?status=pending');
  const approval = await requestOk(200, 'GET', `/api/approvals/${approvalId}`);
  expect(approval.calls).toMatchObject([
    { id: 'call_1', tool: 'python', input_schema: { required: ['code'] } },
    { id: 'call_2', tool: 'run__multiply', input_schema: { properties: { a: { type: 'integer' } } } },
    { id: 'call_3', tool: 'python' },
  ]);

  const [executor] = stack.parts.executors;
  await executor?.kill();
  const decide = (product: object) => ({
    calls: [
      { id: 'call_1', decision: 'approve', arguments: { code: 'print(40 + 2)' } },
      { id: 'call_2', decision: 'approve', arguments: product },
      { id: 'call_3', decision: 'refuse', reason: 'once is enough' },
    ],
  });
  const path = `/api/approvals/${approvalId}/approve`;
  const refusal = await requestOk(400, 'POST', path, decide({ a: 6, b: 'seven' }));
  expect(refusal.errors[0].path).toBe('calls.1.arguments.b');
  await requestOk(200, 'POST', path, decide({ a: 6, b: 8 }));
  await executor?.start();
  await statusIs(id, 'completed');

  const asked = await model.asked();
  expect(asked).toHaveLength(2);
  const results = asked[1]?.body.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
  expect(results?.[0]).toMatch(/^A person corrected the arguments.*print\(40 \+ 2\).*"stdout": "42/s);
  expect(results?.[1]).toMatch(/"b": 8.*"product": 48/s);
  expect(results?.[2]).toMatch(/^A person refused this call.*once is enough/s);

  const run = await requestOk(200, 'GET', `/api/runs/${id}`);
  expect(run.steps.map(({ kind, name }: Json) => `${kind} ${name}`)).toEqual([
    ...['tool model.default', 'approve The agent asks to make 3 calls', 'step python', 'call multiply'],
    'tool model.default',
  ]);
  const { parts } = await requestOk(200, 'GET', run.artifacts[0].download_url);
  const decisions = parts.filter(({ part }: Json) => part === 'decision');
  const { decided_at: at, decided_by: by } = run.approvals[0];
  expect(decisions).toMatchObject([
    { id: 'call_1', status: 'corrected', by, at, from: { code: 'print(1)' }, to: { code: 'print(40 + 2)' } },
    { id: 'call_2', status: 'corrected', by, at, from: { a: 6, b: 7 }, to: { a: 6, b: 8 } },
    { id: 'call_3', status: 'refused', by, at, text: 'once is enough' },
  ]);
});
