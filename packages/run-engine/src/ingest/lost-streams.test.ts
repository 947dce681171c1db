/** Tests that a run starts once, even if the stream of its executor's reports is lost. */
import fs from 'node:fs';
import path from 'node:path';
import { ensureStreams, getRunEventsStreamName } from '@gantry/events';
import { createTemporaryDir, type FakeExecutor, waitUntil } from '@gantry/testing';
import { pino } from 'pino';
import type { RunEngine } from '../engine';
import { REQUEUES_MAX } from '../queue/requeue-runs';
import { buildTestRun, startTestEngines, type TestEngines } from '../test/engines';

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const LEASE_MS = 1_000;
const STREAM = getRunEventsStreamName('worker');
const log = pino({ level: 'silent' });
const getRunRow = async (id: string) => (await engines.pool.query('SELECT * FROM runs WHERE id = $1', [id])).rows[0];

/** Expires the lease as if the executor had not renewed it. */
const expireLease = (id: string) =>
  engines.pool.query("UPDATE runs SET lease_expires_at = now() - interval '1 second' WHERE id = $1", [id]);

/** Maintains streams like worker-api, until `stop`. */
async function maintainStreams() {
  const bus = await engines.connect('worker-api');
  return ensureStreams({ bus, log });
}

/** Updates the stream as earlier releases did at start: the next server restart then changes its creation time. */
async function updateStream() {
  const { nc } = await engines.connect('spectator');
  const manager = await nc.jetstreamManager();
  const { config } = await manager.streams.info(STREAM);
  await manager.streams.update(STREAM, { ...config, max_bytes: config.max_bytes - 1 });
}

/** Reports another run, so that the stream has earlier messages. */
async function reportSomeRun(engine: RunEngine, executor: FakeExecutor) {
  const run = await engine.submitAndWait(buildTestRun());
  await (await executor.claimJob()).complete({ done: true });
  await waitUntil(async () => (await getRunRow(run.id)).status === 'completed');
}

const restarts: [string, () => Promise<void>][] = [
  ['restarted', () => engines.nats.restart()],
  ['killed', () => engines.nats.kill().then(() => engines.nats.restart())],
];

test.each(restarts)('an unstarted run is requeued when NATS was %s', async (_, restart) => {
  const streams = await maintainStreams();
  const engine = await engines.replica({ leaseMs: LEASE_MS });
  const executor = await engines.executor();
  await reportSomeRun(engine, executor);
  const run = await engine.submitAndWait(buildTestRun());
  await executor.claimJob();
  for (let round = 0; round < 2; round++) {
    await updateStream();
    await restart();
  }
  await expireLease(run.id);
  expect(await executor.claimJob()).toMatchObject({ runId: run.id, attempt: 2 });
  streams.stop();
});

const losses: [string, (copy: string) => Promise<void>][] = [
  [
    'deleted',
    async () => void (await (await engines.connect('spectator')).nc.jetstreamManager()).streams.delete(STREAM),
  ],
  ['lost with the whole store', () => engines.nats.loseStore()],
  [
    'replaced by an older copy of it',
    async (copy) => {
      await engines.nats.kill();
      fs.rmSync(engines.nats.storeDir, { recursive: true });
      fs.cpSync(copy, engines.nats.storeDir, { recursive: true });
      await engines.nats.restart();
    },
  ],
];

test.each(losses)('a run whose start may have been reported to a stream that was %s ends as lost', async (_, lose) => {
  const streams = await maintainStreams();
  const engine = await engines.replica({ leaseMs: LEASE_MS });
  const executor = await engines.executor();
  await engines.nats.restart();
  const copy = path.join(createTemporaryDir('streams'), 'older');
  fs.cpSync(engines.nats.storeDir, copy, { recursive: true });
  await waitUntil(() => reportSomeRun(engine, executor).then(() => true));
  const run = await engine.submitAndWait(buildTestRun());
  await executor.claimJob();
  await lose(copy);
  await expireLease(run.id);
  const ended = await waitUntil(async () => (await getRunRow(run.id)).status !== 'running' && getRunRow(run.id));
  expect(ended).toMatchObject({ status: 'failed', attempt: 1, error: { code: 'executor_lost' } });
  streams.stop();
});

test('a lease that is renewed while the run is being ended keeps the run', async () => {
  const engine = await engines.replica({ leaseMs: LEASE_MS });
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  const job = await executor.claimJob();
  await job.report({ type: 'started' });
  await waitUntil(async () => (await getRunRow(run.id)).confirmed);
  await expireLease(run.id);
  await engines.tx(async (tx) => {
    await tx.query("UPDATE runs SET lease_expires_at = now() + interval '1 hour' WHERE id = $1", [run.id]);
    await waitUntil(isWaitingForLock, { what: 'the sweeper waits for the row' });
  });
  await job.complete({ done: true });
  await waitUntil(async () => (await getRunRow(run.id)).status === 'completed');
});

async function isWaitingForLock(): Promise<boolean> {
  const { rowCount } = await engines.pool.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return Boolean(rowCount);
}

test('a run that was never started is requeued a limited number of times', async () => {
  const engine = await engines.replica({ leaseMs: LEASE_MS });
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  await executor.claimJob();
  await expireLease(run.id);
  const again = await executor.claimJob();
  expect(again).toMatchObject({ runId: run.id, attempt: 2 });
  expect((await getRunRow(run.id)).requeues).toBe(1);
  await engines.pool.query('UPDATE runs SET requeues = $2 WHERE id = $1', [run.id, REQUEUES_MAX]);
  await expireLease(run.id);
  const ended = await waitUntil(async () => (await getRunRow(run.id)).status === 'failed' && getRunRow(run.id));
  expect(ended.error).toMatchObject({
    code: 'executor_lost',
    message: expect.stringContaining('no executor started it'),
  });
});

test('an executor can return a run that it could not start, although its start was reported', async () => {
  const engine = await engines.replica();
  const executor = await engines.executor();
  const run = await engine.submitAndWait(buildTestRun());
  const job = await executor.claimJob();
  await job.report({ type: 'started' });
  await waitUntil(async () => (await getRunRow(run.id)).confirmed);
  await job.report({
    type: 'finished',
    status: 'returned',
    usage: { wallMs: 0, cpuMs: 0, maxRssBytes: 0, costUsd: 0 },
  });
  expect(await executor.claimJob()).toMatchObject({ runId: run.id, attempt: 2 });
  expect(await getRunRow(run.id)).toMatchObject({ status: 'running', confirmed: false, requeues: 1 });
});
