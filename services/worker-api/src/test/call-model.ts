import { MODELS_CONNECTION, request, runSubjects, type ToolReply, toolReply } from '@gantry/events';
import { type FakeExecutor, type FakeJob, waitUntil } from '@gantry/testing';
import { createCaller } from './caller';
import { createTestWorker } from './create-test-worker';
import type { TestWorkerApi } from './test-worker-api';

export interface ModelCall {
  ordinal?: number;
  tool?: string;
  timeoutMs?: number;
  stream?: boolean;
  [argument: string]: unknown;
}

/** Calls a model for the code of a run, and asks again while the call goes on, as its executor does. */
export async function callModel(executor: FakeExecutor, job: FakeJob, modelCall: ModelCall = {}): Promise<ToolReply> {
  const { runId, attempt, token } = job;
  const { ordinal = 1, tool = 'default', timeoutMs = 5_000, stream, ...rest } = modelCall;
  const given = { messages: [{ role: 'user', content: 'Hello' }], ...rest };
  const payload = {
    runId,
    attempt,
    token,
    ordinal,
    connection: MODELS_CONNECTION,
    tool,
    arguments: given,
    timeoutMs,
    stream,
  };
  for (;;) {
    const reply = await request(executor.bus, runSubjects.tool('worker', executor.id), payload, toolReply, 60_000);
    if (!('calling' in reply)) return reply;
  }
}

export const readRun = async (api: TestWorkerApi, { runId }: FakeJob) =>
  (await createCaller(api.url, api.owner.jwt).get(`/api/runs/${runId}`).expect(200)).body;

/** Starts a run of a new worker, and waits until it is seen as running. */
export async function startRunningJob(
  api: TestWorkerApi,
  executor: FakeExecutor,
  { definition = {}, credential = api.owner.jwt }: { definition?: object; credential?: string } = {},
): Promise<FakeJob> {
  const worker = await createTestWorker(api, { definition });
  await createCaller(api.url, credential).post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
  const job = await executor.claimJob();
  await job.report({ type: 'started' });
  await waitUntil(async () => (await readRun(api, job)).status === 'running');
  return job;
}
