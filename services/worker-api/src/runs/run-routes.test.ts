import { setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { addVersion, createTestWorker, type MadeWorker } from '../test/create-test-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { createPriceCalculator } from './compute-price';

const api = testWorkerApi();
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());
const worker = setupResource(() =>
  createTestWorker(api, {
    definition: { inputs: [{ name: 'who', type: 'text', required: true }], outputs: ['greeting'] },
  }),
);

const hello = { inputs: { who: 'Ada' } };
const start = (body: object = hello, of: MadeWorker = worker, caller = me) =>
  caller.post(`/api/workers/${of.id}/runs`, body);
const startRunId = async (body: object = hello, of = worker): Promise<string> =>
  (await start(body, of).expect(201)).body.run_id;
const read = async (id: string) => (await me.get(`/api/runs/${id}`).expect(200)).body;
const becomes = (id: string, status: string) =>
  waitUntil(async () => {
    const run = await read(id);
    return run.status === status && run;
  });
/** Leaves nothing in the queue for the next test. */
async function cancelAll() {
  for (const { id } of (await me.get('/api/runs?status=queued&limit=200').expect(200)).body) {
    await me.post(`/api/runs/${id}/cancel`).expect(200);
  }
}
afterEach(cancelAll);

describe('starting', () => {
  test.each([
    [5, { result: 5 }],
    [[1, 2], { result: [1, 2] }],
    ['txt', { result: 'txt' }],
    [null, { result: null }],
    [{ a: 1 }, { a: 1 }],
  ])('code that returns %j has the output %j, wherever a run is shown', async (returned, output) => {
    const id = await startRunId();
    await (await executor.claimJob()).complete(returned);
    expect((await becomes(id, 'completed')).output).toEqual(output);
    const listed = (await me.get('/api/runs?limit=1').expect(200)).body;
    expect(listed).toMatchObject([{ id, output }]);
    const stream = await me.get(`/api/runs/${id}/stream`).set('Accept', 'application/x-ndjson').expect(200);
    const events = stream.text ?? String(stream.body);
    expect(events).toContain(`"output":${JSON.stringify(output)}`);
  });

  test('responds with queued, runs, and shows everything about the run flat', async () => {
    const { body } = await start({ ...hello, priority: 7 }).expect(201);
    expect(body).toEqual({ status: 'queued', run_id: expect.stringMatching(/^run_[\w-]{21}$/) });
    expect(await read(body.run_id)).toMatchObject({ status: 'queued', queue_position: 1, priority: 7, logs_count: 0 });
    const job = await executor.claimJob();
    expect(job).toMatchObject({ runId: body.run_id, inputs: { who: 'Ada' }, may: ['approve', 'call'] });
    await job.report(
      { type: 'started' },
      { type: 'log', stream: 'stdout', level: 'info', text: 'one' },
      { type: 'log', stream: 'stderr', level: 'error', text: 'two' },
      { type: 'finished', status: 'completed', output: { greeting: 'Hi' }, usage: { ...zeroUsage, costUsd: 0.25 } },
    );
    expect(await becomes(body.run_id, 'completed')).toMatchObject({
      id: body.run_id,
      worker_id: worker.id,
      workspace_id: api.workspaceId,
      worker_version: 1,
      trigger: 'api',
      input: { who: 'Ada' },
      output: { greeting: 'Hi' },
      total_cost_usd: 0.25,
      attempt: 1,
      logs_count: 2,
      error: null,
      error_code: null,
      queue_position: null,
      created_by: api.owner.userId,
      steps: [],
      approvals: [],
      artifacts: [],
      parent_run_id: null,
      duration_ms: expect.any(Number),
    });
  });

  test('the steps show which one failed and why, caught or not, in this run or in a called one', async () => {
    const id = await startRunId();
    const job = await executor.claimJob();
    const caught = { 'gantry:failed': { module: 'builtins', type: 'KeyError', message: 'x'.repeat(2_000) } };
    await job.report({ type: 'started' });
    await job.step(1, 'read', caught);
    await job.step(2, 'add up', { total: 1 });
    const times = { startedAt: Date.now() - 20, finishedAt: Date.now() };
    const step = { ordinal: 3, name: 'compare', type: 'ValueError', message: 'no row', ...times };
    const error = { code: 'exception', type: 'ValueError', message: 'no row', step } as const;
    await job.report({ type: 'finished', status: 'failed', error, usage: zeroUsage });
    const { steps } = await becomes(id, 'failed');
    expect(steps).toMatchObject([
      { ordinal: 1, status: 'failed', result: null, error: { type: 'KeyError', message: 'x'.repeat(2_000) } },
      { ordinal: 2, status: 'completed', result: { total: 1 }, error: null },
      { ordinal: 3, kind: 'step', name: 'compare', status: 'failed', error: { type: 'ValueError', message: 'no row' } },
    ]);

    const caller = await startRunId();
    await (await executor.claimJob()).suspend({
      kind: 'call',
      workerId: worker.id,
      inputs: { who: 'Ada' },
      step: { ordinal: 1, kind: 'call', name: worker.id },
    });
    const called = await executor.claimJob();
    await called.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
    await (await executor.claimJob()).complete({});
    const { steps: ofCaller } = await becomes(caller, 'completed');
    expect(ofCaller).toMatchObject([
      { kind: 'call', status: 'failed', run_id: called.runId, error: { type: null, message: 'no row' } },
    ]);
  });

  test('recorded steps are listed completely, page by page, with the failures that the code has caught', async () => {
    const id = await startRunId();
    const job = await executor.claimJob();
    const caught = { module: 'builtins', type: 'KeyError', message: 'no such key' };
    const large = { text: 'x'.repeat(60_000) };
    await job.report({ type: 'started' });
    await job.step(1, 'read', { 'gantry:failed': caught });
    for (let ordinal = 2; ordinal <= 40; ordinal++) await job.step(ordinal, `load ${ordinal}`, large);
    const times = { startedAt: Date.now() - 20, finishedAt: Date.now() };
    const step = { ordinal: 41, name: 'compare', type: 'ValueError', message: 'no row', ...times };
    const error = { code: 'exception', type: 'ValueError', message: 'no row', step } as const;
    await job.report({ type: 'finished', status: 'failed', error, usage: zeroUsage });
    await becomes(id, 'failed');
    const first = await me.get(`/api/runs/${id}/steps`).expect(200);
    expect(first.headers['x-has-more']).toBe('true');
    expect(JSON.stringify(first.body).length).toBeLessThan(2.2 * 1024 * 1024);
    const next = new URL(/<([^>]+)>/.exec(first.headers.link ?? '')?.[1] ?? '', 'http://api');
    const second = await me.get(next.pathname + next.search).expect(200);
    expect(second.headers).toMatchObject({ 'x-has-more': 'false' });
    const steps = [...first.body, ...second.body];
    expect(steps.map(({ ordinal }: { ordinal: number }) => ordinal)).toEqual(
      Array.from({ length: 40 }, (_, at) => at + 1),
    );
    expect(steps[0]).toEqual({
      ordinal: 1,
      kind: 'step',
      name: 'read',
      result: null,
      failure: { ...caught, code: null },
    });
    expect(steps[39]).toEqual({ ordinal: 40, kind: 'step', name: 'load 40', result: large, failure: null });
    expect((await me.get(`/api/runs/${id}/steps?after=38&limit=1&offset=1`).expect(200)).body).toEqual([steps[39]]);
    expect((await me.get(`/api/runs/${id}/steps?after=${2 ** 31 - 1}`).expect(200)).body).toEqual([]);
    await me.get(`/api/runs/${id}/steps?after=${2 ** 31}`).expect(400);
  });

  test('responds with running if an executor was waiting, and with the end if the caller waits', async () => {
    const claim = executor.claimJob();
    const waited = start({ ...hello, wait: 10 });
    void waited.then(() => {});
    await (await claim).complete({});
    expect((await waited).body.status).toBe('completed');
    const standing = executor.claimJob();
    const { body } = await waitUntil(async () => {
      const answer = await start();
      return answer.body.status === 'running' && answer;
    });
    await (await standing).complete({});
    await becomes(body.run_id, 'completed');
  });

  test.each([
    [{ inputs: { whom: 'Ada' } }, ['inputs.who', 'inputs.whom']],
    [{ inputs: 'Ada' }, ['inputs']],
    [{ inputs: ['Ada'] }, ['inputs']],
    [{ ...hello, priority: 101 }, ['priority']],
    [{ ...hello, wait: 11 }, ['wait']],
    [{ ...hello, extra: 1 }, ['extra']],
    [{}, ['inputs.who']],
  ])('%j is refused with the invalid fields, and nothing runs', async (body, paths) => {
    const before = await api.deps.engine.counts(api.workspaceId);
    const refused = await start(body).expect(400);
    expect(refused.body.errors.map(({ path }: { path: string }) => path).sort()).toEqual(paths);
    expect(await api.deps.engine.counts(api.workspaceId)).toEqual(before);
  });

  test('a worker that declares no inputs accepts any object', async () => {
    const open = await createTestWorker(api);
    const id = await startRunId({ inputs: { anything: [1, { a: 'b' }], text: 'x\u0000y' } }, open);
    expect((await read(id)).input).toEqual({ anything: [1, { a: 'b' }], text: 'x\u0000y' });
  });

  test.each(['paused', 'archived'] as const)('a %s worker is a 409', async (status) => {
    const resting = await createTestWorker(api, { status });
    expect((await start({}, resting).expect(409)).body).toMatchObject({ code: status });
  });

  test('the same Idempotency-Key starts one run', async () => {
    const once = () => start().set('Idempotency-Key', 'one-run');
    const [first, second] = [await once().expect(201), await once().expect(201)];
    expect(second.body).toEqual(first.body);
  });

  test("runs over the worker's own rate limit are a 429 with Retry-After, for every caller", async () => {
    const limited = await createTestWorker(api, { definition: { limits: { runs_per_minute: 2 } } });
    await start({}, limited).expect(201);
    await start({}, limited).expect(201);
    const refused = await start({}, limited).expect(429);
    expect(refused.body.code).toBe('worker_rate_limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await start().expect(201);
  });

  test('an exhausted budget is a 409, counted once for each ended run', async () => {
    const dear = await createTestWorker(api, { definition: { limits: { budget_usd_per_month: 1 } } });
    for (const costUsd of [0.6, 0.5]) {
      const id = await startRunId({}, dear);
      const usage = { ...zeroUsage, costUsd };
      await (await executor.claimJob()).report({ type: 'started' }, { type: 'finished', status: 'completed', usage });
      await becomes(id, 'completed');
    }
    const refused = await waitUntil(async () => {
      const answer = await start({}, dear);
      return answer.status === 409 && answer;
    });
    expect(refused.body).toMatchObject({ code: 'budget_exceeded', detail: expect.stringContaining('1.1000 USD') });
    await cancelAll();
  });

  test('limits, retries and slots of the version reach the executor', async () => {
    const definition = {
      inputs: ['customer'],
      limits: { timeout_seconds: 7, memory_mb: 128, concurrency: 1, concurrency_key: 'customer' },
      retry: { max_attempts: 2, backoff_seconds: 0 },
    };
    const limited = await createTestWorker(api, { definition });
    const [a1, a2, b1] = [
      await startRunId({ inputs: { customer: 'a' } }, limited),
      await startRunId({ inputs: { customer: 'a' } }, limited),
      await startRunId({ inputs: { customer: 'b' } }, limited),
    ];
    const first = await executor.claimJob();
    expect(first).toMatchObject({ runId: a1, limits: { wallMs: 7_000, memoryBytes: 128 * 1024 * 1024 } });
    const second = await executor.claimJob();
    expect(second.runId).toBe(b1);
    await second.complete({});
    const error = { code: 'exception' as const, message: 'broke' };
    await first.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
    const again = await waitUntil(async () => {
      const job = await executor.claimJob();
      if (job.runId === a1) return job;
      await job.complete({});
      return null;
    });
    expect(again.tryNumber).toBe(2);
    await again.complete({});
    expect(await becomes(a1, 'completed')).toMatchObject({ attempt: 2 });
    const state = await read(a2);
    if (state.status !== 'completed') await (await executor.claim())?.complete({});
    await becomes(a2, 'completed');
  });

  test('the queue position follows priority, and within a limited slot counts the runs that share it', async () => {
    const single = await createTestWorker(api, { definition: { limits: { concurrency: 1 } } });
    const ids = [
      await startRunId(),
      await startRunId({ ...hello, priority: 5 }),
      await startRunId({}, single),
      await startRunId({}, single),
    ];
    const places = [];
    for (const id of ids) places.push((await read(id)).queue_position);
    expect(places).toEqual([2, 1, 1, 2]);
  });

  test('a worker whose runs need approval holds them', async () => {
    const careful = await createTestWorker(api, { definition: { approvals: { required: true } } });
    const { body } = await start({}, careful).expect(201);
    expect(body.status).toBe('queued');
    expect((await read(body.run_id)).approvals).toMatchObject([{ status: 'pending' }]);
    const cancelled = await me.post(`/api/runs/${body.run_id}/cancel`).expect(200);
    expect(cancelled.body.status).toBe('cancelled');
  });
});

describe('cancelling', () => {
  test('a queued run ends at once, an ended one is a 409, a running one is told to stop', async () => {
    const queued = await startRunId();
    const cancelled = await me.post(`/api/runs/${queued}/cancel`).expect(200);
    expect(cancelled.body).toMatchObject({ status: 'cancelled', error_code: 'cancelled' });
    expect((await me.post(`/api/runs/${queued}/cancel`).expect(409)).body.code).toBe('already_ended');
    const running = await startRunId();
    const job = await executor.claimJob();
    const asked = await me.post(`/api/runs/${running}/cancel`).expect(200);
    expect(asked.body).toMatchObject({ status: 'running', cancel_requested: true });
    if (job) expect(await executor.renew(job)).toMatchObject({ cancelled: [running] });
    const error = { code: 'cancelled' as const, message: 'stopped' };
    await job.report({ type: 'started' }, { type: 'finished', status: 'cancelled', error, usage: zeroUsage });
    await becomes(running, 'cancelled');
    const { rows } = await api.database.pool.query(
      "SELECT resource_id FROM audit_log WHERE action = 'run.cancelled' AND resource_id = ANY($1)",
      [[queued, running]],
    );
    expect(rows).toHaveLength(2);
  });
});

describe('visibility of a run', () => {
  test('runs of a private worker are visible to its owner and to admins only', async () => {
    const [owner, other, admin] = [
      await api.addMember('member'),
      await api.addMember('member'),
      await api.addMember('admin'),
    ];
    const hidden = await createTestWorker(api, { visibility: 'private', ownerId: owner.userId });
    const runId = await startRunId({}, hidden);
    const seenBy = async ({ jwt }: { jwt: string }) => {
      const caller = createCaller(api.url, jwt);
      const listed = (await caller.get('/api/runs').expect(200)).body.some(({ id }: { id: string }) => id === runId);
      const [run, ofWorker] = [
        await caller.get(`/api/runs/${runId}`),
        await caller.get(`/api/workers/${hidden.id}/runs`),
      ];
      return [listed, run.status, ofWorker.status];
    };
    expect(await seenBy(owner)).toEqual([true, 200, 200]);
    expect(await seenBy(admin)).toEqual([true, 200, 200]);
    expect(await seenBy(other)).toEqual([false, 404, 404]);
    const caller = createCaller(api.url, other.jwt);
    await caller.post(`/api/runs/${runId}/cancel`).expect(404);
    await start({}, hidden, caller).expect(404);
  });

  test("another workspace's run, worker and filter are not found", async () => {
    const runId = await startRunId();
    const stranger = createCaller(api.url, api.foreign.owner.jwt);
    await stranger.get(`/api/runs/${runId}`).expect(404);
    await stranger.get(`/api/runs?worker_id=${worker.id}`).expect(404);
    await start(hello, worker, stranger).expect(404);
    expect((await stranger.get('/api/runs').expect(200)).body).toEqual([]);
  });
});

test('context.call() runs another worker, and its result comes back without a process in between', async () => {
  const callee = await createTestWorker(api, { definition: { inputs: ['n'] } });
  const parentId = await startRunId();
  const job = await executor.claimJob();
  const step = { ordinal: 1, kind: 'call' as const, name: callee.id };
  const call = (inputs: Record<string, unknown>, workerId = callee.id) => ({
    type: 'finished' as const,
    status: 'suspended' as const,
    suspension: { kind: 'call' as const, step, workerId, inputs },
    usage: zeroUsage,
  });
  await job.report({ type: 'started' }, call({ n: '4' }));
  const waiting = await waitUntil(async () => {
    const run = await read(parentId);
    return run.waiting_for?.kind === 'call' && run;
  });
  expect(waiting).toMatchObject({ status: 'queued', queue_position: null, steps: [{ status: 'pending' }] });
  const childId = waiting.waiting_for.run_id;
  expect(await read(childId)).toMatchObject({ trigger: 'call', parent_run_id: parentId, input: { n: '4' } });
  const child = await executor.claimJob();
  expect(child.runId).toBe(childId);
  await child.complete({ doubled: 8 });
  const resumed = await executor.claimJob();
  expect(resumed).toMatchObject({ runId: parentId, attempt: 2 });
  expect(JSON.stringify(resumed.steps)).toContain('"doubled":8');
  await resumed.report(
    { type: 'started' },
    {
      ...call({}, 'no-such-worker'),
      suspension: { kind: 'call', step: { ...step, ordinal: 2 }, workerId: 'no-such-worker', inputs: {} },
    },
  );
  expect(await becomes(parentId, 'failed')).toMatchObject({
    error: expect.stringContaining('no such worker'),
    error_type: 'CallRefused',
  });
});

test('a call that cannot be made fails the caller with the reason, and leaves no run behind', async () => {
  const owner = await api.addMember('member');
  const hidden = await createTestWorker(api, { visibility: 'private', ownerId: owner.userId });
  const strict = await createTestWorker(api, {
    definition: { inputs: [{ name: 'n', type: 'integer', required: true }] },
  });
  const callFrom = async (callee: MadeWorker, depth = 0) => {
    const id = await startRunId();
    await api.database.pool.query('UPDATE runs SET depth = $2 WHERE id = $1', [id, depth]);
    const step = { ordinal: 1, kind: 'call' as const, name: callee.id };
    const suspension = { kind: 'call' as const, step, workerId: callee.id, inputs: {} };
    const job = await executor.claimJob();
    await job.report({ type: 'started' }, { type: 'finished', status: 'suspended', suspension, usage: zeroUsage });
    const { error, error_code } = await becomes(id, 'failed');
    expect((await me.get(`/api/workers/${callee.id}/runs`).expect(200)).body).toEqual([]);
    return `${error_code}: ${error}`;
  };
  expect(await callFrom(hidden)).toContain('no such worker');
  expect(await callFrom(strict)).toContain('invalid_inputs: context.call(');
  expect(await callFrom(await createTestWorker(api), 16)).toContain('at most 16 levels deep');
});

test('processor time is charged by the hour', () => {
  expect(createPriceCalculator(0.04)({ cpuMs: 1_800_000 })).toBeCloseTo(0.02);
  expect(createPriceCalculator(0)({ cpuMs: 1_800_000 })).toBe(0);
});

test('a version that is saved later does not change a queued run', async () => {
  const edited = await createTestWorker(api, { definition: { limits: { timeout_seconds: 5 } } });
  const id = await startRunId({}, edited);
  await addVersion(api, edited, { number: 2, definition: { limits: { timeout_seconds: 9 } } });
  const job = await executor.claimJob();
  expect(job).toMatchObject({ runId: id, limits: { wallMs: 5_000 } });
  await job.complete({});
  const next = await startRunId({}, edited);
  expect((await read(next)).worker_version).toBe(2);
});
