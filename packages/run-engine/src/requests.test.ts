/** Tests the requests that executors report: stored within limits, and published once if a rule refused one. */
import { encode, REQUESTS_MAX, type RunEvent, runSubjects } from '@gantry/events';
import { catchLogs, type FakeExecutor, type FakeJob, given, noUsage, until } from '@gantry/testing';
import { hasMostRequests, readRequests, requestMatcherOf } from './history';
import type { RefusedRequest } from './refused-requests';
import { createRequestBound } from './request-bound';
import { aRun, claimed, startTestEngines, type TestEngines } from './test/engines';

type RequestEvent = Extract<RunEvent, { type: 'request' }>;

let engines: TestEngines;
const told: RefusedRequest[] = [];
const logs = catchLogs();

beforeAll(async () => {
  engines = await startTestEngines('worker');
});
beforeEach(() => {
  told.length = 0;
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const replica = () => engines.replica({ onRefused: async (_tx, refused) => void told.push(refused) });

const asked = (fields: Partial<RequestEvent> = {}) => ({
  ...{
    type: 'request' as const,
    method: 'GET',
    scheme: 'https' as const,
    host: 'api.example.com',
    port: 443,
    path: '/',
  },
  ...{ status: 200, bytesSent: 10, bytesReceived: 20, durationMs: 3, credentials: [] },
  ...fields,
});
const refused = (host: string) =>
  asked({ host, status: null, problem: { kind: 'refused', message: 'it is not in network.allow of this worker' } });

/** Publishes events with arbitrary numbers, like an attacker. */
async function publish(executor: FakeExecutor, { runId, attempt, token }: FakeJob, events: RunEvent[]): Promise<void> {
  for (let i = 0; i < events.length; i += 500) {
    const batch = encode({ attempt, token, events: events.slice(i, i + 500) });
    await executor.bus.js.publish(runSubjects.events('worker', executor.id, runId), batch);
  }
}

const requestsFrom = (first: number, count: number): RunEvent[] =>
  Array.from({ length: count }, (_, i) => ({ ...asked({ path: `/${first + i}` }), seq: first + i, at: 1 }));

const kept = async (runId: string) =>
  (
    await engines.pool.query(`SELECT count(*)::int AS n FROM run_events WHERE run_id = $1 AND type = 'request'`, [
      runId,
    ])
  ).rows[0].n as number;

test('requests beyond the limit are dropped, and the run continues to its end', async () => {
  const engine = await replica();
  const executor = await engines.executor();
  const run = await engine.submitAndWait(aRun());
  const job = await claimed(executor);
  await publish(executor, job, [{ type: 'started', seq: 1, at: 1 }, ...requestsFrom(2, REQUESTS_MAX - 2)]);
  await until(async () => (await kept(run.id)) === REQUESTS_MAX - 2);
  expect(await hasMostRequests(engines.pool, run.id)).toBe(false);
  await publish(executor, job, [
    ...requestsFrom(REQUESTS_MAX, 1_200),
    { type: 'log', seq: REQUESTS_MAX + 1_200, at: 1, stream: 'stdout', level: 'info', text: 'still here' },
    { type: 'finished', seq: REQUESTS_MAX + 1_201, at: 1, status: 'completed', output: 1, usage: noUsage },
  ]);
  await until(async () => (await engine.get(run.workspaceId, run.id)).status === 'completed');
  expect(await kept(run.id)).toBe(REQUESTS_MAX);
  expect(await hasMostRequests(engines.pool, run.id)).toBe(true);
  const { rows } = await engines.pool.query(`SELECT data FROM run_events WHERE run_id = $1 AND type = 'log'`, [run.id]);
  expect(rows).toMatchObject([{ data: { text: 'still here' } }]);
});

test('requests in any order, repeated and through several replicas stay within a share of the limit', async () => {
  const run = await (await replica()).submitAndWait(aRun());
  const insert = (events: RunEvent[]) =>
    engines.pool.query(
      `INSERT INTO run_events (run_id, seq, at, type, data)
       SELECT $1, seq, now(), 'request', '{}' FROM unnest($2::bigint[]) seq ON CONFLICT DO NOTHING`,
      [run.id, events.map(({ seq }) => 1_000_000 + seq)],
    );
  const bounds = [1, 2].map(() => createRequestBound(engines.pool, logs.log));
  const batches = Array.from({ length: 30 }, (_, i) => requestsFrom(20_000 + ((i * 7) % 30) * 400, 400));
  for (const events of [...batches, ...batches]) {
    for (const bounded of bounds) {
      const batch = { runId: run.id, executorId: 'e', attempt: 1, token: 't', events };
      for (const { events: left } of await bounded([batch])) await insert(left);
    }
  }
  expect(await kept(run.id)).toBeGreaterThanOrEqual(REQUESTS_MAX - 500);
  expect(await kept(run.id)).toBeLessThanOrEqual(REQUESTS_MAX + 1_000);
  expect(logs.lines.filter(({ msg }) => String(msg).includes('more requests than one may'))).toHaveLength(2);
});

test('a refusal is published once per run, whichever replica and however often it is reported', async () => {
  const engine = await replica();
  await replica();
  const executor = await engines.executor();
  const run = await engine.submitAndWait(aRun({ subjectRef: 'my-worker' }));
  const job = await claimed(executor);
  await job.report({ type: 'started' }, asked(), asked({ problem: { kind: 'failed', message: 'it has no address' } }));
  for (let i = 0; i < 5; i++) await job.report(refused('evil\0\ud800.example.com'), refused('other.example.com'));
  await job.report({ type: 'finished', status: 'completed', output: 1, usage: noUsage });
  await until(async () => (await engine.get(run.workspaceId, run.id)).status === 'completed');
  await until(async () => (await kept(run.id)) === 12);
  expect(told).toEqual([
    {
      ...{
        runId: run.id,
        workspaceId: run.workspaceId,
        subjectId: 'wrk_1',
        subjectRef: 'my-worker',
        traceparent: null,
      },
      ...{ host: 'evil\ufffd\ufffd.example.com', port: 443, reason: 'it is not in network.allow of this worker' },
    },
  ]);
});

test('refused requests of drafts’ tests, which have no network, are not published', async () => {
  const engine = await replica();
  const executor = await engines.executor();
  const run = await engine.submitAndWait(aRun({ kind: 'test' }));
  const job = await claimed(executor);
  await job.report({ type: 'started' }, refused('api.example.com'));
  await job.report({ type: 'finished', status: 'completed', output: 1, usage: noUsage });
  await until(async () => (await engine.get(run.workspaceId, run.id)).status === 'completed');
  await until(async () => (await kept(run.id)) === 1);
  expect(told).toEqual([]);
});

describe('stored requests', () => {
  const executor = given(() => engines.executor());

  test('are streamed in order, by host and by problem', async () => {
    const engine = await replica();
    const run = await engine.submitAndWait(aRun());
    const job = await claimed(executor);
    await job.report(
      { type: 'started' },
      asked({ path: '/a' }),
      refused('b.example.com'),
      asked({ host: 'B.example.com' }),
    );
    await until(async () => (await kept(run.id)) === 3);
    const read = async (filter: Parameters<typeof requestMatcherOf>[0], after = 0) => {
      const seqs: number[] = [];
      const matches = requestMatcherOf(filter);
      for await (const request of readRequests(engines.pool, run.id, after))
        if (matches(request)) seqs.push(request.seq);
      return seqs.map((seq) => seq - 1_000_000);
    };
    expect(await read({})).toEqual([2, 3, 4]);
    expect(await read({}, 1_000_002)).toEqual([3, 4]);
    expect(await read({ host: 'b.EXAMPLE.com' })).toEqual([3, 4]);
    expect(await read({ host: 'b.example.com', problem: 'refused' })).toEqual([3]);
    expect(await read({ problem: 'failed' })).toEqual([]);
  });
});
