/**
 * Calls of models whose run ends before their answer: the provider's connection is closed, and what was said is
 * booked.
 */
import { MODELS_CONNECTION, request, runSubjects, toolReply } from '@gantry/events';
import { type FakeJob, setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { createTestWorker } from '../test/create-test-worker';
import { delta, setupHostileProvider } from '../test/hostile-provider';

const { provider, api, me } = setupHostileProvider();
const executor = setupResource(() => api.connectExecutor());

interface SlowAnswer {
  hasBegun: boolean;
  isClosed: boolean;
}

/** Says a word every 20 ms until its connection is closed. @param word null: says nothing at all */
function speakSlowly(word: string | null): SlowAnswer {
  const answer = { hasBegun: false, isClosed: false };
  provider.setScript((res) => {
    answer.hasBegun = true;
    res.flushHeaders();
    const timer = setInterval(() => word !== null && res.write(delta({ content: word })), 20);
    res.once('close', () => {
      clearInterval(timer);
      answer.isClosed = true;
    });
  });
  return answer;
}

async function begin(): Promise<FakeJob> {
  const worker = await createTestWorker(api);
  await me.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
  const job = await executor.claimJob();
  await job.report({ type: 'started' });
  await waitUntil(async () => (await me.get(`/api/runs/${job.runId}`).expect(200)).body.status === 'running');
  return job;
}

/** Asks as a slow program would, whose reply may never come. */
function sendQuestion({ runId, attempt, token }: FakeJob): void {
  const question = { messages: [{ role: 'user', content: 'Go' }], max_output_tokens: 8_000 };
  const payload = {
    runId,
    attempt,
    token,
    ordinal: 1,
    connection: MODELS_CONNECTION,
    tool: 'acme/m',
    arguments: question,
  };
  const subject = runSubjects.tool('worker', executor.id);
  request(executor.bus, subject, { ...payload, timeoutMs: 120_000, stream: true }, toolReply, 60_000).catch(() => {});
}

const readCalls = async ({ runId }: FakeJob) =>
  (
    await api.deps.pool.query(
      'SELECT outcome, usd, reserved_usd AS reserved, output_tokens AS output, estimated FROM model_calls WHERE run_id = $1',
      [runId],
    )
  ).rows;
const isBooked = async (job: FakeJob) => (await readCalls(job)).every(({ outcome }) => outcome !== 'started');
const countSteps = async ({ runId }: FakeJob) =>
  (await api.deps.pool.query("SELECT FROM run_steps WHERE run_id = $1 AND status = 'calling'", [runId])).rowCount;

test('cancelling a run closes the connection to the provider, and the text until then is charged', async () => {
  const answer = speakSlowly('word ');
  const job = await begin();
  sendQuestion(job);
  await waitUntil(() => answer.hasBegun);
  await waitUntil(async () => (await readCalls(job)).length === 1);
  await new Promise<void>((resolve) => {
    const subscription = executor.bus.nc.subscribe(runSubjects.toolText(executor.id, job.runId), {
      callback: () => {
        subscription.unsubscribe();
        resolve();
      },
    });
  });
  await me.post(`/api/runs/${job.runId}/cancel`).expect(200);
  await waitUntil(() => answer.isClosed);
  await waitUntil(() => isBooked(job));
  const [call] = await readCalls(job);
  expect(call).toMatchObject({ outcome: 'stopped', estimated: true });
  expect(call.output).toBeGreaterThan(0);
  expect(call.usd).toBeGreaterThan(0);
  expect(call.usd).toBeLessThan(call.reserved / 2);
  // The code hears nothing more, so that its executor ends it as cancelled.
  expect((await me.get(`/api/runs/${job.runId}`).expect(200)).body).toMatchObject({ cancel_requested: true });
  await job.report({
    type: 'finished',
    status: 'cancelled',
    usage: zeroUsage,
    error: { code: 'cancelled', message: 'The run was cancelled.' },
  });
  await waitUntil(async () => (await me.get(`/api/runs/${job.runId}`).expect(200)).body.status === 'cancelled');
  expect((await me.get(`/api/runs/${job.runId}`).expect(200)).body.total_cost_usd).toBeCloseTo(call.usd);
});

test('an attempt that finally timed out ends its call; before the first word the maximum cost is charged', async () => {
  const answer = speakSlowly(null);
  const job = await begin();
  sendQuestion(job);
  await waitUntil(() => answer.hasBegun);
  await job.report({
    type: 'finished',
    status: 'timed_out',
    usage: zeroUsage,
    error: { code: 'timeout', message: 'It took longer than 300 s.' },
  });
  await waitUntil(() => answer.isClosed);
  await waitUntil(() => isBooked(job));
  const [call] = await readCalls(job);
  expect(call).toMatchObject({ outcome: 'stopped', usd: call.reserved });
  await waitUntil(async () => (await countSteps(job)) === 0);
});

test('a replica that misses the cancellation finds it in the table', async () => {
  const answer = speakSlowly('word ');
  const job = await begin();
  sendQuestion(job);
  await waitUntil(() => answer.hasBegun);
  await api.deps.pool.query('UPDATE runs SET cancel_requested_at = now() WHERE id = $1', [job.runId]);
  await waitUntil(() => answer.isClosed);
  await waitUntil(() => isBooked(job));
});
