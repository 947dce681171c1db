/** Tests the requests that executors report: stored within limits, and published once if a rule refused one. */
import { encode, REQUESTS_MAX, type RunEvent, runSubjects } from '@gantry/events';
import { captureLogs, type FakeExecutor, type FakeJob, setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { createRequestMatcher, hasReachedRequestLimit, streamRequests } from '../history';
import { buildTestRun, startTestEngines, type TestEngines } from '../test/engines';
import type { RefusedRequest } from './refused-requests';
import { createRequestLimiter } from './request-limiter';

type RequestEvent = Extract<RunEvent, { type: 'request' }>;

let engines: TestEngines;
const refusals: RefusedRequest[] = [];
const logs = captureLogs();

beforeAll(async () => {
  engines = await startTestEngines('worker');
});
beforeEach(() => {
  refusals.length = 0;
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const startReplica = () =>
  engines.replica({ onRefused: async (_tx, refusedEvent) => void refusals.push(refusedEvent) });

const requestEvent = (fields: Partial<RequestEvent> = {}) => ({
  type: 'request' as const,
  method: 'GET',
  scheme: 'https' as const,
  host: 'api.example.com',
  port: 443,
  path: '/',
  status: 200,
  bytesSent: 10,
  bytesReceived: 20,
  durationMs: 3,
  credentials: [],
  ...fields,
});
const refusedEvent = (host: string) =>
  requestEvent({
    host,
    status: null,
    problem: { kind: 'refused', message: "it is not in this worker's network.allow" },
  });

/** Publishes events with arbitrary numbers, like an attacker. */
async function publish(executor: FakeExecutor, { runId, attempt, token }: FakeJob, events: RunEvent[]): Promise<void> {
  for (let i = 0; i < events.length; i += 500) {
    const batch = encode({ attempt, token, events: events.slice(i, i + 500) });
    await executor.bus.js.publish(runSubjects.events('worker', executor.id, runId), batch);
  }
}

const buildRequests = (first: number, count: number): RunEvent[] =>
  Array.from({ length: count }, (_, i) => ({ ...requestEvent({ path: `/${first + i}` }), seq: first + i, at: 1 }));

const countStoredRequests = async (runId: string) =>
  (
    await engines.pool.query(`SELECT count(*)::int AS n FROM run_events WHERE run_id = $1 AND type = 'request'`, [
      runId,
    ])
  ).rows[0].n as number;

test('requests beyond the limit are dropped, and the run continues to its end', async () => {
  const engine = await startReplica();
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  const job = await executor.claimJob();
  await publish(executor, job, [{ type: 'started', seq: 1, at: 1 }, ...buildRequests(2, REQUESTS_MAX - 2)]);
  await waitUntil(async () => (await countStoredRequests(run.id)) === REQUESTS_MAX - 2);
  expect(await hasReachedRequestLimit(engines.pool, run.id)).toBe(false);
  await publish(executor, job, [
    ...buildRequests(REQUESTS_MAX, 1_200),
    { type: 'log', seq: REQUESTS_MAX + 1_200, at: 1, stream: 'stdout', level: 'info', text: 'still here' },
    { type: 'finished', seq: REQUESTS_MAX + 1_201, at: 1, status: 'completed', output: 1, usage: zeroUsage },
  ]);
  await waitUntil(async () => (await engine.get(run.workspaceId, run.id)).status === 'completed');
  expect(await countStoredRequests(run.id)).toBe(REQUESTS_MAX);
  expect(await hasReachedRequestLimit(engines.pool, run.id)).toBe(true);
  const { rows } = await engines.pool.query(`SELECT data FROM run_events WHERE run_id = $1 AND type = 'log'`, [run.id]);
  expect(rows).toMatchObject([{ data: { text: 'still here' } }]);
});

test('requests in any order, repeated and through several replicas stay within a share of the limit', async () => {
  const run = await (await startReplica()).submitAndWait(buildTestRun());
  const insert = (events: RunEvent[]) =>
    engines.pool.query(
      `INSERT INTO run_events (run_id, seq, at, type, data)
       SELECT $1, seq, now(), 'request', '{}' FROM unnest($2::bigint[]) seq ON CONFLICT DO NOTHING`,
      [run.id, events.map(({ seq }) => 1_000_000 + seq)],
    );
  const bounds = [1, 2].map(() => createRequestLimiter(engines.pool, logs.log));
  const batches = Array.from({ length: 30 }, (_, i) => buildRequests(20_000 + ((i * 7) % 30) * 400, 400));
  for (const events of [...batches, ...batches]) {
    for (const bounded of bounds) {
      const batch = { runId: run.id, executorId: 'e', attempt: 1, token: 't', events };
      for (const { events: left } of await bounded([batch])) await insert(left);
    }
  }
  expect(await countStoredRequests(run.id)).toBeGreaterThanOrEqual(REQUESTS_MAX - 500);
  expect(await countStoredRequests(run.id)).toBeLessThanOrEqual(REQUESTS_MAX + 1_000);
  expect(logs.lines.filter(({ msg }) => String(msg).includes('more requests than allowed'))).toHaveLength(2);
});

test('a refusal is published once per run, whichever replica and however often it is reported', async () => {
  const engine = await startReplica();
  await startReplica();
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun({ subjectRef: 'my-worker' }));
  const job = await executor.claimJob();
  await job.report(
    { type: 'started' },
    requestEvent(),
    requestEvent({ problem: { kind: 'failed', message: 'it has no address' } }),
  );
  for (let i = 0; i < 5; i++)
    await job.report(refusedEvent('evil\0\ud800.example.com'), refusedEvent('other.example.com'));
  await job.report({ type: 'finished', status: 'completed', output: 1, usage: zeroUsage });
  await waitUntil(async () => (await engine.get(run.workspaceId, run.id)).status === 'completed');
  await waitUntil(async () => (await countStoredRequests(run.id)) === 12);
  expect(refusals).toEqual([
    {
      runId: run.id,
      workspaceId: run.workspaceId,
      subjectId: 'wrk_1',
      subjectRef: 'my-worker',
      traceparent: null,
      host: 'evil\ufffd\ufffd.example.com',
      port: 443,
      reason: "it is not in this worker's network.allow",
    },
  ]);
});

test('refused requests of drafts’ tests, which have no network, are not published', async () => {
  const engine = await startReplica();
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun({ kind: 'test' }));
  const job = await executor.claimJob();
  await job.report({ type: 'started' }, refusedEvent('api.example.com'));
  await job.report({ type: 'finished', status: 'completed', output: 1, usage: zeroUsage });
  await waitUntil(async () => (await engine.get(run.workspaceId, run.id)).status === 'completed');
  await waitUntil(async () => (await countStoredRequests(run.id)) === 1);
  expect(refusals).toEqual([]);
});

describe('stored requests', () => {
  const executor = setupResource(() => engines.executor());

  test('are streamed in order, by host and by problem', async () => {
    const engine = await startReplica();
    const run = await engine.submitAndWait(buildTestRun());
    const job = await executor.claimJob();
    await job.report(
      { type: 'started' },
      requestEvent({ path: '/a' }),
      refusedEvent('b.example.com'),
      requestEvent({ host: 'B.example.com' }),
    );
    await waitUntil(async () => (await countStoredRequests(run.id)) === 3);
    const listSeqs = async (filter: Parameters<typeof createRequestMatcher>[0], after = 0) => {
      const seqs: number[] = [];
      const matches = createRequestMatcher(filter);
      for await (const request of streamRequests(engines.pool, run.id, after))
        if (matches(request)) seqs.push(request.seq);
      return seqs.map((seq) => seq - 1_000_000);
    };
    expect(await listSeqs({})).toEqual([2, 3, 4]);
    expect(await listSeqs({}, 1_000_002)).toEqual([3, 4]);
    expect(await listSeqs({ host: 'b.EXAMPLE.com' })).toEqual([3, 4]);
    expect(await listSeqs({ host: 'b.example.com', problem: 'refused' })).toEqual([3]);
    expect(await listSeqs({ problem: 'failed' })).toEqual([]);
  });
});
