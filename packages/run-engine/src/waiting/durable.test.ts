import { newId, runSubjects, type Suspension } from '@gantry/events';
import { type FakeEvent, type FakeJob, terminateConnections, waitUntil, zeroUsage } from '@gantry/testing';
import { settleRuns } from '../ending/settle-runs';
import type { RunEngine } from '../engine';
import type { Run } from '../run';
import { buildTestRun, startTestEngines, type TestEngines } from '../test/engines';
import { buildApproval, buildCall, buildSleep, startCallingReplica } from '../test/suspensions';

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const waitForStatus = (engine: RunEngine, run: Run, status: Run['status']) =>
  waitUntil(async () => {
    const now = await engine.get(run.workspaceId, run.id);
    return now.status === status && now;
  });

/** Lists each event of a run as its status or type. */
async function listEventSummaries(run: Run): Promise<string[]> {
  const { rows } = await engines.pool.query('SELECT type, data FROM run_events WHERE run_id = $1 ORDER BY seq', [
    run.id,
  ]);
  return rows.map(({ type, data }) => data.status ?? type);
}

/** Lists the platform's own log lines. */
async function listPlatformLogs(run: Run): Promise<string[]> {
  const { rows } = await engines.pool.query(
    `SELECT data ->> 'text' AS text FROM run_events WHERE run_id = $1 AND type = 'log' AND data ->> 'stream' = 'platform' ORDER BY seq`,
    [run.id],
  );
  return rows.map(({ text }) => text);
}

/** Makes every sleep due. */
const wakeAll = () => engines.pool.query(`UPDATE runs SET wake_at = now() WHERE status = 'suspended'`);
const LONG_MS = 3_600_000;

const answer = { approved_by: 'Ada', data: null };
const approveRun = (engine: RunEngine, run: Run) =>
  engines.tx((tx) =>
    engine.resumeInTransaction(tx, run.id, { from: 'pending_approval', step: { ordinal: 1, result: answer } }),
  );

test('an artifact that is saved again after a pause replaces the earlier one of that name', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  const artifactEvent = (id: string, attempt: number, name = 'report.csv'): FakeEvent => {
    const file = { name, contentType: 'text/csv', size: 1, sha256: 'a'.repeat(64) };
    return { type: 'artifact', artifactId: id, ...file, key: `ws_a/runs/${run.id}/${attempt}/${id}` };
  };
  const first = await executor.claimJob();
  await first.report({ type: 'started' }, artifactEvent('art_1', 1), artifactEvent('art_2', 1, 'only-before.csv'));
  await first.suspend(buildSleep(1, LONG_MS));
  await waitForStatus(engine, run, 'suspended');
  await wakeAll();
  const second = await executor.claimJob();
  await second.report({ type: 'started' }, artifactEvent('art_3', 2), artifactEvent('art_4', 2));
  await second.report({ type: 'finished', status: 'completed', output: null, usage: zeroUsage });
  const ended = await waitForStatus(engine, run, 'completed');
  const ids = (await engine.artifacts(ended)).map(({ id }) => id);
  expect(ids.sort()).toEqual(['art_2', 'art_3', 'art_4']);
  expect(await engine.findArtifact(ended, 'art_1')).toMatchObject({ name: 'report.csv' });
});

test('an artifact that is stored after the run was handed out again is kept', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  const first = await executor.claimJob();
  await first.suspend(buildSleep(1, LONG_MS));
  await waitForStatus(engine, run, 'suspended');
  await wakeAll();
  const second = await executor.claimJob();
  // Of two batches of one attempt, the replicas may write the second first.
  const file = { name: 'early.csv', contentType: 'text/csv', size: 1, sha256: 'a'.repeat(64) };
  await first.report({ type: 'artifact', artifactId: 'art_early', ...file, key: `ws_a/runs/${run.id}/1/art_early` });
  await second.complete('done');
  const ended = await waitForStatus(engine, run, 'completed');
  await waitUntil(async () => (await engine.artifacts(ended)).some(({ id }) => id === 'art_early'));
});

test('a run sleeps for the requested duration, whatever its executor’s clock', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  const wakeAt = Date.now() - 3 * LONG_MS;
  await (await executor.claimJob()).suspend({ ...buildSleep(1, 0), wakeAt, forMs: LONG_MS } as Suspension);
  const asleep = await waitForStatus(engine, run, 'suspended');
  expect(asleep.wakeAt?.getTime()).toBeGreaterThan(Date.now() + LONG_MS / 2);
});

test('a run sleeps without an executor, and resumes with its recorded steps', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  const first = await executor.claimJob();
  expect(await first.step(1, 'charge', { id: 7 })).toEqual({ id: 7 });
  await first.suspend(buildSleep(2, LONG_MS));
  const asleep = await waitForStatus(engine, run, 'suspended');
  expect(asleep).toMatchObject({ suspension: { kind: 'sleep', step: { ordinal: 2 } }, wakeAt: expect.any(Date) });
  expect(await engine.counts('ws_a')).toEqual({ queued: 0, running: 0, suspended: 1, pending_approval: 0 });
  expect(asleep.wakeAt?.getTime()).toBeGreaterThan(Date.now() + LONG_MS / 2);
  await wakeAll();
  const second = await executor.claimJob();
  expect(second).toMatchObject({
    runId: run.id,
    attempt: 2,
    steps: [
      { ordinal: 1, kind: 'step', name: 'charge', result: { id: 7 } },
      { ordinal: 2, kind: 'sleep', name: 'sleep', result: null },
    ],
  });
  expect(second.tryNumber ?? 1).toBe(1);
  expect(await listPlatformLogs(run)).toEqual(['Resumed: the sleep is over.']);
  await second.complete('done');
  const ended = await engine.waitForEnd(run, 5_000);
  expect(ended).toMatchObject({ status: 'completed', output: 'done', tries: 1, suspension: null, wakeAt: null });
  expect(ended.startedAt).toEqual(asleep.startedAt);
  expect(await listEventSummaries(run)).toEqual(['running', 'queued', 'log', 'step', 'running', 'output', 'completed']);
});

test('of two replicas, one wakes a run', async () => {
  const replicas = [await startCallingReplica(engines), await startCallingReplica(engines)];
  const executor = await engines.executor();
  const runs = await Promise.all(
    Array.from({ length: 30 }, () => replicas[0]?.submitAndWait(buildTestRun()) as Promise<Run>),
  );
  for (const _ of runs) await (await executor.claimJob()).suspend(buildSleep(1, LONG_MS));
  await waitUntil(async () => (await replicas[0]?.counts('ws_a'))?.suspended === runs.length);
  await wakeAll();
  for (const _ of runs) {
    const job = await executor.claimJob();
    expect(job).toMatchObject({ attempt: 2, steps: [{ kind: 'sleep' }] });
    await job.complete(job.runId);
  }
  const ended = await Promise.all(runs.map((run) => replicas[1]?.waitForEnd(run, 5_000)));
  expect(ended.map((run) => [run?.output, run?.attempt])).toEqual(runs.map(({ id }) => [id, 2]));
});

test('a run waits for approval and resumes with the decision, which counts once', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  await (await executor.claimJob()).suspend(buildApproval(1));
  await waitForStatus(engine, run, 'pending_approval');
  expect(await engine.steps(run)).toMatchObject([{ status: 'pending', ref: expect.stringMatching(/^apr_/) }]);
  const both = await Promise.all([approveRun(engine, run), approveRun(engine, run)]);
  expect(both.filter(Boolean)).toMatchObject([{ status: 'queued' }]);
  const job = await executor.claimJob();
  expect(job.steps).toEqual([{ ordinal: 1, kind: 'approve', name: 'Publish?', result: answer }]);
  await job.complete(1);
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'completed' });
  expect(await approveRun(engine, run)).toBeNull();
});

test('a result for a step that the run does not wait for changes nothing', async () => {
  const engine = await startCallingReplica(engines);
  const run = await engine.submitAndWait(buildTestRun());
  await (await (await engines.executor()).claimJob()).suspend(buildApproval(1));
  await waitForStatus(engine, run, 'pending_approval');
  const resume = (options: Parameters<RunEngine['resumeInTransaction']>[2]) =>
    engines.tx((tx) => engine.resumeInTransaction(tx, run.id, options));
  expect(await resume({ from: 'pending_approval', step: { ordinal: 2, result: 1 } })).toBeNull();
  expect(await resume({ from: 'pending_approval' })).toBeNull();
  expect(await resume({ from: 'suspended', step: { ordinal: 1, result: 1 } })).toBeNull();
  expect(await engine.get('ws_a', run.id)).toMatchObject({ status: 'pending_approval' });
});

test('a held run is not handed out until it is released', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun({ held: true }));
  expect(run.status).toBe('pending_approval');
  const other = await engine.submitAndWait(buildTestRun());
  expect((await executor.claimJob()).runId).toBe(other.id);
  await engines.tx((tx) => engine.resumeInTransaction(tx, run.id, { from: 'pending_approval' }));
  expect(await executor.claimJob()).toMatchObject({ runId: run.id, attempt: 1 });
});

test('a suspension that is reported twice, or by an earlier attempt, creates one approval', async () => {
  const approvalIds: string[] = [];
  const engine = await engines.replica({
    onSuspended: async () => {
      approvalIds.push(newId('apr_'));
      return { ref: approvalIds.at(-1) as string };
    },
  });
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  const job = await executor.claimJob();
  await job.suspend(buildApproval(1));
  await waitForStatus(engine, run, 'pending_approval');
  await job.report({ type: 'finished', status: 'suspended', suspension: buildApproval(1), usage: zeroUsage });
  await approveRun(engine, run);
  const second = await executor.claimJob();
  await job.report({ type: 'finished', status: 'suspended', suspension: buildApproval(1), usage: zeroUsage });
  await second.complete(1);
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'completed' });
  expect(approvalIds).toHaveLength(1);
});

test('if an approval cannot be created, its transaction is rolled back and retried, then the run fails', async () => {
  let failures = 1;
  const engine = await engines.replica({
    onSuspended: async (tx) => {
      await tx.query("INSERT INTO outbox (id, type, workspace_id, data) VALUES ($1, 'test', 'ws_a', '{}')", [
        newId('evt_'),
      ]);
      if (failures-- > 0) throw new Error('a bug');
      return { ref: newId('apr_') };
    },
  });
  const countOutboxRows = async () => (await engines.pool.query("SELECT 1 FROM outbox WHERE type = 'test'")).rowCount;
  const executor = await engines.executor();
  const lucky = await engine.submitAndWait(buildTestRun());
  await (await executor.claimJob()).suspend(buildApproval(1));
  await waitForStatus(engine, lucky, 'pending_approval');
  expect(await countOutboxRows()).toBe(1);

  failures = 100;
  const unlucky = await engine.submitAndWait(buildTestRun());
  await (await executor.claimJob()).suspend(buildApproval(1));
  expect(await engine.waitForEnd(unlucky, 10_000)).toMatchObject({ status: 'failed', error: { code: 'sandbox' } });
  expect(await countOutboxRows()).toBe(1);
  expect(await engine.steps(unlucky)).toEqual([]);
});

test('a run whose suspension is refused fails with the reason', async () => {
  const refused = { code: 'invalid_inputs', message: 'there is no worker child' } as const;
  const engine = await engines.replica({ onSuspended: async () => ({ refused }) });
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  await (await executor.claimJob()).suspend(buildCall(1));
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'failed', error: refused });
  expect(await listEventSummaries(run)).toEqual(['running', 'failed', 'failed']);
});

describe('a run that calls another', () => {
  async function startCall() {
    const engine = await startCallingReplica(engines);
    const executor = await engines.executor();
    const parent = await engine.submitAndWait(buildTestRun());
    await (await executor.claimJob()).suspend(buildCall(1));
    const suspended = await waitForStatus(engine, parent, 'suspended');
    const [child] = await engine.list('ws_a', { limit: 1, parentRunId: parent.id });
    return { engine, executor, parent, suspended, child: child as Run };
  }

  test('gets its output when that ends', async () => {
    const { engine, executor, parent, suspended, child } = await startCall();
    expect(suspended.suspension).toMatchObject({ kind: 'call', runId: child.id });
    expect(child).toMatchObject({ depth: 1, parentRunId: parent.id });
    await (await executor.claimJob()).complete({ n: 5, nul: '\u0000' });
    const again = await executor.claimJob();
    expect(again.runId).toBe(parent.id);
    expect(again.steps?.[0]?.result).toEqual({ status: 'completed', output: { n: 5, nul: '\u0000' }, error: null });
    await again.complete(6);
    expect(await engine.waitForEnd(parent, 5_000)).toMatchObject({ status: 'completed', output: 6 });
  });

  test.each([
    [
      'failed',
      () => ({ error: { code: 'exception', message: 'no\u0000' } }),
      { status: 'failed', error: { message: 'no\u0000' } },
    ],
    ['completed', () => ({ output: 'x'.repeat(70_000) }), { status: 'failed', error: { code: 'output_too_large' } }],
    ['completed', (run: Run) => ({ outputKey: `ws_a/runs/${run.id}/1/out` }), { error: { code: 'output_too_large' } }],
  ] as const)(
    'gets the reason of a %s one, also if its output is too large for a step',
    async (status, ending, result) => {
      const { executor, parent, child } = await startCall();
      const job = await executor.claimJob();
      await job.report({ type: 'started' }, {
        type: 'finished',
        status,
        ...ending(child),
        usage: zeroUsage,
      } as FakeEvent);
      const again = await executor.claimJob();
      expect(again.runId).toBe(parent.id);
      expect(again.steps?.[0]?.result).toMatchObject({ output: null, ...result });
    },
  );

  test('resumes although the replica that stored the end died after its commit', async () => {
    const { executor, parent, engine } = await startCall();
    const child = await executor.claimJob();
    await engine.drain();
    await engine.stop();
    // Commits the end of a run as an engine does that dies right afterwards.
    const usage = { costUsd: 0, cpuMs: 0, maxRssBytes: 0 };
    const ending = {
      from: 'running',
      status: 'completed',
      output: 3,
      at: new Date(),
      seq: 1_000_002,
      ...usage,
    } as const;
    await settleRuns(engines.pool, 'worker', [], [{ ...child, executorId: executor.id, ...ending }], []);
    await engines.replica();
    const again = await executor.claimJob();
    expect(again).toMatchObject({ runId: parent.id, steps: [{ result: { status: 'completed', output: 3 } }] });
  });

  test('can be cancelled, or resumes, although the called run was deleted', async () => {
    const one = await startCall();
    await engines.pool.query('DELETE FROM runs WHERE id = $1', [one.child.id]);
    expect(await one.engine.cancel('ws_a', one.parent.id)).toMatchObject({ status: 'cancelled' });

    const other = await startCall();
    await engines.pool.query('DELETE FROM runs WHERE id = $1', [other.child.id]);
    await wakeAll();
    expect((await other.executor.claimJob()).steps?.[0]?.result).toMatchObject({ status: 'failed' });
  });

  test('cancels the called run with it, queued or running', async () => {
    const queued = await startCall();
    const waited = queued.engine.waitForEnd(queued.child, 5_000);
    expect(await queued.engine.cancel('ws_a', queued.parent.id)).toMatchObject({ status: 'cancelled' });
    expect(await waited).toMatchObject({ status: 'cancelled' });

    const running = await startCall();
    const job = await running.executor.claimJob();
    const { bus, id } = running.executor;
    const cancelReceived = new Promise((resolve) =>
      bus.nc.subscribe(runSubjects.cancel(id, running.child.id), { callback: resolve }),
    );
    await bus.nc.flush();
    await running.engine.cancel('ws_a', running.parent.id);
    await cancelReceived;
    expect((await running.executor.renew(job)).cancelled).toEqual([running.child.id]);
    await job.report({ type: 'finished', status: 'cancelled', usage: zeroUsage });
    expect(await running.engine.waitForEnd(running.child, 5_000)).toMatchObject({ status: 'cancelled' });
    expect(await running.engine.get('ws_a', running.parent.id)).toMatchObject({ status: 'cancelled', attempt: 1 });
  });
});

describe('ending', () => {
  test('a run that waits for approval can be rejected once, and all waiters are notified', async () => {
    const engine = await startCallingReplica(engines);
    const run = await engine.submitAndWait(buildTestRun());
    await (await (await engines.executor()).claimJob()).suspend(buildApproval(1));
    const waiting = await waitForStatus(engine, run, 'pending_approval');
    const waited = engine.waitForEnd(run, 5_000);
    const error = { code: 'approval_rejected', message: 'not today' } as const;
    const reject = () => engines.tx((tx) => engine.endInTransaction(tx, waiting, { status: 'rejected', error }));
    await reject();
    expect(await waited).toMatchObject({ status: 'rejected', error });
    expect(await reject()).toBeNull();
    expect(await approveRun(engine, run)).toBeNull();
    const { rows } = await engines.pool.query('SELECT data FROM outbox');
    expect(rows).toMatchObject([
      { data: { status: 'rejected', errorCode: 'approval_rejected', errorMessage: 'not today' } },
    ]);
    expect(await listEventSummaries(run)).toEqual(['running', 'pending_approval', 'rejected', 'rejected']);
  });

  test('of a simultaneous cancel and approval, one wins', async () => {
    const [one, two] = [await startCallingReplica(engines), await startCallingReplica(engines)];
    const executor = await engines.executor();
    for (let round = 0; round < 8; round++) {
      const run = await one.submitAndWait(buildTestRun());
      await (await executor.claimJob()).suspend(buildApproval(1));
      await waitForStatus(one, run, 'pending_approval');
      const [cancelled, resumed] = await Promise.all([two.cancel('ws_a', run.id), approveRun(one, run)]);
      // An earlier approval only queues the run, and a queued run is cancelled too.
      expect(cancelled.status).toBe('cancelled');
      const events = await listEventSummaries(run);
      expect(events.filter((event) => event === 'cancelled')).toHaveLength(2);
      expect(events.includes('queued')).toBe(resumed !== null);
    }
  });

  test('a run that was asked to stop and came back unstarted is not handed out again', async () => {
    const engine = await startCallingReplica(engines);
    const executor = await engines.executor();
    const run = await engine.submitAndWait(buildTestRun());
    const job = await executor.claimJob();
    await engine.cancel('ws_a', run.id);
    await job.report({ type: 'finished', status: 'returned', usage: zeroUsage });
    void executor.claim().catch(() => null);
    expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'cancelled' });
  });

  test('a run that was asked to stop is not suspended', async () => {
    const engine = await startCallingReplica(engines);
    const run = await engine.submitAndWait(buildTestRun());
    const job = await (await engines.executor()).claimJob();
    await engine.cancel('ws_a', run.id);
    await job.suspend(buildApproval(1));
    expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'cancelled' });
    expect(await engine.steps(run)).toEqual([]);
  });
});

test('a list is newest first in pages, and by status, worker, parent and time', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const [a, b] = [
    await engine.submitAndWait(buildTestRun({ subjectId: 'wrk_a' })),
    await engine.submitAndWait(buildTestRun({ trigger: 'webhook' })),
  ];
  await (await executor.claimJob()).suspend(buildSleep(1, 60_000));
  await (await executor.claimJob()).complete(1);
  await waitForStatus(engine, a, 'suspended');
  await waitForStatus(engine, b, 'completed');
  const c = await engine.submitAndWait(buildTestRun({ parentRunId: b.id }));
  // Times are compared by the millisecond.
  await waitUntil(() => Date.now() > c.createdAt.getTime());
  const d = await engine.submitAndWait(buildTestRun({ held: true, subjectId: 'wrk_a' }));
  const list = async (filter: Partial<Parameters<RunEngine['list']>[1]>) =>
    (await engine.list('ws_a', { limit: 10, ...filter })).map(({ id }) => id);
  expect(await list({})).toEqual([d.id, c.id, b.id, a.id]);
  expect(await list({ limit: 2, before: c })).toEqual([b.id, a.id]);
  expect(await list({ status: ['queued', 'suspended'] })).toEqual([c.id, a.id]);
  expect(await list({ status: ['queued', 'suspended'], limit: 1, before: c })).toEqual([a.id]);
  expect(await list({ status: ['completed', 'pending_approval'], limit: 1 })).toEqual([d.id]);
  expect(await list({ status: [] })).toEqual([]);
  expect(await list({ subjectId: 'wrk_a', status: ['pending_approval'] })).toEqual([d.id]);
  expect(await list({ parentRunId: b.id })).toEqual([c.id]);
  expect(await list({ trigger: 'webhook' })).toEqual([b.id]);
  expect(await list({ since: b.createdAt, until: d.createdAt })).toEqual([c.id, b.id]);
  expect(await engine.counts('ws_a')).toEqual({ queued: 1, running: 0, suspended: 1, pending_approval: 1 });
});

test('NATS is killed and PostgreSQL drops every connection while runs work, sleep and call: each step runs once', async () => {
  // A job whose reply was lost is requeued when its lease expires.
  const engine = await startCallingReplica(engines, { leaseMs: 4_000 });
  const executor = await engines.executor();
  const effects = new Map<string, number>();
  const patient = { everyMs: 100 };
  let serving = true;

  async function runJob(job: FakeJob) {
    const [charged, , called] = job.steps ?? [];
    if (!job.inputs?.parent) return job.complete('child');
    if (called) return job.complete(called.result);
    if (charged) return job.suspend(job.steps?.[1] ? buildCall(3) : buildSleep(2, 50));
    effects.set(job.runId, (effects.get(job.runId) ?? 0) + 1);
    await waitUntil(() => job.step(1, 'charge', 'paid'), patient);
    await job.suspend(buildSleep(2, 50));
  }
  const slots = Array.from({ length: 4 }, async () => {
    while (serving) {
      const job = await executor.claim().catch(() => null);
      if (job) await runJob(job);
    }
  });

  const runs: Run[] = [];
  for (let n = 0; n < 20; n++) runs.push(await engine.submitAndWait(buildTestRun({ inputs: { parent: true } })));
  await waitUntil(() => effects.size >= 5);
  await terminateConnections(engines.database);
  await waitUntil(() => effects.size >= 10, patient);
  await engines.nats.kill();
  await engines.nats.restart();
  const ended = await Promise.all(
    runs.map((run) =>
      waitUntil(async () => {
        const now = await engine.get('ws_a', run.id);
        return now.finishedAt && now;
      }, patient),
    ),
  );
  serving = false;
  await Promise.all(slots);
  expect(ended.map(({ status, output }) => ({ status, output }))).toEqual(
    runs.map(() => ({ status: 'completed', output: { status: 'completed', output: 'child', error: null } })),
  );
  expect([...effects.values()]).toEqual(runs.map(() => 1));
  const { rows } = await engines.pool.query('SELECT count(*)::int AS n FROM runs');
  expect(rows[0].n).toBe(40);
});
