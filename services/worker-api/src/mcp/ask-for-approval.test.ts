/**
 * Runs that wait for an approval, asked about by elicitation: with the client of the SDK, and with messages made by
 * hand.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FakeJob, setupResource } from '@gantry/testing';
import type { Client, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { buildApproval } from '../test/build-approval';
import { createCaller } from '../test/caller';
import { connectMcp } from '../test/connect-mcp';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const held = { approvals: { required: true }, inputs: [{ name: 'order', type: 'integer' }] };
const order = { inputs: { order: 1001 } };

type Asked = ElicitRequest['params'] & { requestedSchema: { properties: Record<string, object> } };
type Answer = (asked: Asked) => ElicitResult;

/** A client whose person answers in turn; what they were asked is kept. */
async function connectPerson(token: string, answers: Answer[], options: object = {}) {
  const asked: Asked[] = [];
  const client = await connectMcp(api, token, {
    ...options,
    answer: (params) => {
      asked.push(params as Asked);
      const answer = answers.shift();
      if (!answer) throw new Error('asked once too often');
      return answer(params as Asked);
    },
  });
  return { client, asked };
}

const verdict =
  (said: string, more: Record<string, string | number> = {}): Answer =>
  () => ({ action: 'accept', content: { verdict: said, ...more } });

const run = async (client: Client, workerId: string) => {
  const { structuredContent } = await client.callTool({
    name: 'run_worker',
    arguments: { worker_id: workerId, ...order },
  });
  return structuredContent as Record<string, unknown> | undefined;
};
const findApproval = async (runId: unknown) => (await owner.get(`/api/approvals?run_id=${runId}`).expect(200)).body[0];
const listRuns = async (workerId: string) => (await owner.get(`/api/runs?worker_id=${workerId}`).expect(200)).body;

test('a rejection ends the run, and a cancelled dialog leaves it waiting', async () => {
  const worker = await createWorker(api, held);
  const { client } = await connectPerson(api.owner.jwt, [
    verdict('reject', { reason: 'twice' }),
    () => ({ action: 'decline' }),
    () => ({ action: 'cancel' }),
  ]);
  const rejected = await run(client, worker.id);
  expect(rejected).toMatchObject({ status: 'rejected' });
  expect(await findApproval(rejected?.id)).toMatchObject({ status: 'rejected', reason: 'twice' });
  for (const _ of ['decline', 'cancel']) {
    const left = await run(client, worker.id);
    expect(left).toMatchObject({ status: 'pending_approval' });
    expect(await findApproval(left?.id)).toMatchObject({ status: 'pending' });
  }
  await client.close();
});

test('a client that cannot ask, or speaks an older revision, gets the waiting run', async () => {
  const worker = await createWorker(api, held);
  const silent = await connectMcp(api, api.owner.jwt);
  expect(await run(silent, worker.id)).toMatchObject({ status: 'pending_approval' });
  const { client: older, asked } = await connectPerson(api.owner.jwt, [], { era: 'legacy' });
  expect(await run(older, worker.id)).toMatchObject({ status: 'pending_approval' });
  const { client: narrowed } = await connectPerson(api.owner.jwt, [], { query: '?toolsets=workers' });
  expect(await run(narrowed, worker.id)).toMatchObject({ status: 'pending_approval' });
  expect(asked).toEqual([]);
  for (const client of [silent, older, narrowed]) await client.close();
});

test('a form is asked for, and asked for again with the errors of the API', async () => {
  const executor = await api.connectExecutor();
  const worker = await createWorker(api, { ...held, approvals: undefined });
  const { client, asked } = await connectPerson(api.owner.jwt, [
    verdict('maybe'),
    verdict('approve'),
    verdict('approve', { form_amount: 120, form_speed: 'fast' }),
  ]);
  const running = run(client, worker.id);
  const job = (await executor.claimJob()) as FakeJob;
  await job.suspend(
    buildApproval('Refund?', {
      title: 'Refund?\nData: {}',
      data: { order: 1001 },
      form: [
        { name: 'amount', type: 'number', required: true, minimum: 1 },
        { name: 'speed', type: 'select', options: ['slow', 'fast'] },
        { name: 'lines', type: 'json' },
      ],
    }),
  );
  const resumed = (await executor.claimJob()) as FakeJob;
  await resumed.complete({ paid: true });
  const ended = await running;
  expect(ended).toMatchObject({ status: 'completed' });
  expect(asked.map(({ message }) => message.includes('amount'))).toEqual([false, false, true]);
  expect((asked[0] as Asked).message).toContain('Title: "Refund?\\nData: {}"\nData:\n{');
  expect(Object.keys((asked[0] as Asked).requestedSchema.properties)).toEqual([
    ...['verdict', 'reason', 'form_amount', 'form_speed'],
  ]);
  expect(await findApproval(ended?.id)).toMatchObject({ answer: { amount: 120, speed: 'fast' } });
  await client.close();
});

test('calls of an agent can be refused, and the run continues with the reason', async () => {
  const executor = await api.connectExecutor();
  const worker = await createWorker(api, { ...held, approvals: undefined });
  const { client, asked } = await connectPerson(api.owner.jwt, [verdict('refuse', { reason: 'not yet' })]);
  const running = run(client, worker.id);
  const job = (await executor.claimJob()) as FakeJob;
  const purge = (folder: string) => ({ tool: 'mail__purge', arguments: { folder } });
  await job.suspend(
    buildApproval('The agent asks to make 2 calls', {
      data: { calls: [purge('spam'), purge('old')] },
      calls: ['call_1', 'call_2'].map((id) => ({ id, serves: null, parameters: {} })),
    }),
  );
  const resumed = (await executor.claimJob()) as FakeJob;
  const refused = { status: 'refused', arguments: null, reason: 'not yet' };
  expect(resumed.steps?.[0]?.result).toMatchObject({ approved_by: api.owner.email, calls: [refused, refused] });
  await resumed.complete({ purged: 0 });
  expect(await running).toMatchObject({ status: 'completed' });
  expect((asked[0] as Asked).requestedSchema.properties.verdict).toMatchObject({
    oneOf: [{ const: 'approve' }, { const: 'refuse' }, { const: 'reject', title: 'Stop the run' }],
  });
  await client.close();
});

test('a form that a client could not show is not asked for', async () => {
  const executor = await api.connectExecutor();
  const worker = await createWorker(api, { ...held, approvals: undefined });
  const { client, asked } = await connectPerson(api.owner.jwt, []);
  const running = run(client, worker.id);
  const job = (await executor.claimJob()) as FakeJob;
  await job.suspend(buildApproval('Lines?', { form: [{ name: 'lines', type: 'json', required: true }] }));
  expect(await running).toMatchObject({ status: 'pending_approval' });
  expect(asked).toEqual([]);
  await client.close();
});

describe('the state that a client carries', () => {
  /** Without the SDK: one call of `run_worker`, as a client that is asked by hand. */
  async function call(token: string, workerId: string, params: object = {}, url = api.url) {
    const name = 'run_worker';
    const answer = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'Mcp-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': name,
        Authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name,
          arguments: { worker_id: workerId, ...order },
          ...params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
          },
        },
      }),
    });
    const text = await answer.text();
    return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
  }
  const other: { url: string; stop: () => Promise<void> } = setupResource(
    async () => {
      const server = createServer((await api.replica()).app).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const stop = async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      };
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
    },
    ({ stop }) => stop(),
  );
  const approving = { approval: { action: 'accept', content: { verdict: 'approve' } } };

  test('is accepted from its caller on any replica, once, and from no other caller', async () => {
    const worker = await createWorker(api, held);
    const { result } = await call(api.owner.jwt, worker.id);
    expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    const { requestState } = result;
    const member = await api.addMember('member');
    for (const [jwt, state] of [
      [member.jwt, requestState],
      [api.foreign.owner.jwt, requestState],
      [api.owner.jwt, `x${requestState}`],
      [api.owner.jwt, requestState.split('.')[0]],
    ]) {
      const refused = await call(jwt, worker.id, { requestState: state, inputResponses: approving });
      expect(refused.error).toMatchObject({ code: -32602 });
    }
    // The question comes again for an answer that says nothing.
    const again = await call(api.owner.jwt, worker.id, { requestState });
    expect(again.result).toMatchObject({ resultType: 'input_required' });

    const rejecting = { approval: { action: 'accept', content: { verdict: 'reject' } } };
    const rejected = { requestState, inputResponses: rejecting };
    const { result: ended } = await call(api.owner.jwt, worker.id, rejected, other.url);
    expect(ended.structuredContent).toMatchObject({ status: 'rejected' });
    const { result: late } = await call(api.owner.jwt, worker.id, { requestState, inputResponses: approving });
    expect(late).toMatchObject({ isError: true });
    expect(JSON.stringify(late.content)).toMatch(/409.*rejected by.*get_run/);
    expect(await listRuns(worker.id)).toHaveLength(1);
  });
});

describe('where an executor serves', () => {
  setupResource(
    () => api.serveRuns(() => ({ total: 12 })),
    (stop) => stop(),
  );

  test('the person sees the request, approves, and the call ends with the run', async () => {
    const worker = await createWorker(api, { ...held, name: 'Refunds \u202eData: {}' });
    const { client, asked } = await connectPerson(api.owner.jwt, [verdict('approve', { reason: 'checked' })]);
    const ended = await run(client, worker.id);
    expect(ended).toMatchObject({ status: 'completed', output: { total: 12 } });
    expect(asked).toHaveLength(1);
    const { message } = asked[0] as Asked;
    expect(message).toContain(`(${worker.id})`);
    expect(message).toContain('Data:\n{\n  "order": 1001\n}');
    expect(message).toContain('"Refunds \\u202eData: {}"');
    expect(message).not.toContain('\u202e');
    expect(await findApproval(ended?.id)).toMatchObject({
      status: 'approved',
      decided_by: api.owner.userId,
      reason: 'checked',
    });
    expect(await listRuns(worker.id)).toHaveLength(1);
    await client.close();
  });

  test('a caller who cannot decide is not asked: the call returns the waiting run', async () => {
    const worker = await createWorker(api, held);
    const forbids = await createWorker(api, { ...held, approvals: { required: true, forbid_self: true } });
    const createRestrictedToken = async (restrict: object) =>
      (await api.createToken('personal', api.owner.jwt, { restrict })).token;
    const careful = await createRestrictedToken({ require_approval: true });
    const runner = await createRestrictedToken({ toolsets: ['workers', 'runs'] });
    for (const [token, id] of [
      [careful, worker.id],
      [runner, worker.id],
      [api.owner.jwt, forbids.id],
    ]) {
      const { client, asked } = await connectPerson(token, []);
      expect(await run(client, id)).toMatchObject({ status: 'pending_approval' });
      expect(asked).toEqual([]);
      await client.close();
    }
  });
});
