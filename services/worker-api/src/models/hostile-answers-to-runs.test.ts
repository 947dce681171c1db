/**
 * Runs, and the agents among them, ask a provider that an attacker runs: each call fails by a code, and none stays
 * open.
 */
import { MODELS_CONNECTION, request, runSubjects, type ToolReply, toolReply } from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import { createTestWorker, type MadeWorker } from '../test/create-test-worker';
import { delta, END, HOSTILE_ANSWERS, setupHostileProvider, UNSTORABLE_ANSWERS } from '../test/hostile-provider';

const { provider, api, me } = setupHostileProvider();
const executor = setupResource(() => api.connectExecutor());
const MALFORMED = { failed: { code: 'unavailable', message: expect.stringContaining('(model_malformed)') } };
let agent: MadeWorker;

beforeAll(async () => {
  const files = [{ path: 'main.py', content: 'def run():\n    return 1\n' }];
  await me.post('/api/workers', { id: 'report', name: 'Report', files }).expect(201);
  agent = await createTestWorker(api, { definition: { runner: 'agent', tools: ['worker:report'] } });
});

/** A question of a new run. */
async function sendQuestion(timeoutMs = 120_000, more: object = {}): Promise<ToolReply> {
  await me.post(`/api/workers/${agent.id}/runs`, { inputs: {} }).expect(201);
  const job = await executor.claimJob();
  await job.report({ type: 'started' });
  const { runId, attempt, token } = job;
  const question = { messages: [{ role: 'user', content: 'Go' }], tools: [{ worker: 'report' }], ...more };
  const payload = { runId, attempt, token, ordinal: 1, connection: MODELS_CONNECTION, tool: 'acme/m', timeoutMs };
  const subject = runSubjects.tool('worker', executor.id);
  // An answer is read slowly where that costs much: executors keep the run, and ask again.
  const reply = await waitUntil(async () => {
    await executor.renew(job);
    const one = await request(executor.bus, subject, { ...payload, arguments: question }, toolReply, 60_000);
    return !('calling' in one) && one;
  });
  await job.complete(null);
  return reply;
}

async function countCalls(outcome: string): Promise<number> {
  const { rows } = await api.deps.pool.query('SELECT count(*)::int FROM model_calls WHERE outcome = $1', [outcome]);
  return rows[0].count;
}

test.each(HOSTILE_ANSWERS)('a response with %s fails the call of a run', async (_, texts) => {
  const before = await countCalls('failed');
  provider.says(...texts, END);
  expect(await sendQuestion()).toMatchObject(MALFORMED);
  expect([await countCalls('failed'), await countCalls('started')]).toEqual([before + 1, 0]);
});

test.each(UNSTORABLE_ANSWERS)(
  'a response with %s is recorded without it, or fails the call of a run',
  async (_, texts) => {
    provider.says(...texts, END);
    const reply = await sendQuestion();
    expect(reply).toMatchObject('result' in reply ? { result: { tool_calls: [] } } : MALFORMED);
    expect(await countCalls('started')).toBe(0);
  },
);

test('a value nested 100,000 levels deep that violates its schema is no output', async () => {
  provider.says(...Array.from({ length: 100 }, () => delta({ content: '['.repeat(1_000) })), END);
  const reply = await sendQuestion(30_000, { tools: [], schema: { type: 'object', properties: { a: {} } } });
  expect(reply).toMatchObject({ failed: { code: 'invalid_output' } });
});

test('an endless response fails the call at its time limit', async () => {
  let isClosed = false;
  provider.setScript((res) => {
    const timer = setInterval(() => res.write(delta({ content: 'a' })), 20);
    res.once('close', () => {
      clearInterval(timer);
      isClosed = true;
    });
  });
  expect(await sendQuestion(1_000)).toMatchObject({
    failed: { code: 'unavailable', message: 'no response within 1 seconds' },
  });
  await waitUntil(async () => isClosed && (await countCalls('started')) === 0);
});
