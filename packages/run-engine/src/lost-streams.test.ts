/** A run begins once, whatever becomes of the stream that its executor reports to. */
import { connectBus, runEventsStream } from '@gantry/events';
import { until } from '@gantry/testing';
import { pino } from 'pino';
import { REQUEUES_MAX } from './requeue-runs';
import { aRun, claimed, startTestEngines, type TestEngines } from './test/engines';

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const LEASE_MS = 1_000;
const runOf = async (id: string) => (await engines.pool.query('SELECT * FROM runs WHERE id = $1', [id])).rows[0];

/** As if nobody had heard of the run since it was handed out. */
const leaseRanOut = (id: string) =>
  engines.pool.query("UPDATE runs SET lease_expires_at = now() - interval '1 second' WHERE id = $1", [id]);

test('a run whose start may have been lost with its stream ends as lost, and is not handed out again', async () => {
  const engine = await engines.replica({ leaseMs: LEASE_MS });
  const executor = await engines.executor();
  const run = await engine.submitAndWait(aRun());
  await claimed(executor);
  const bus = await connectBus({ ...engines.nats.spectator, name: 'test', log: pino({ level: 'silent' }) });
  const manager = await bus.nc.jetstreamManager();
  const { config, created } = await manager.streams.info(runEventsStream('worker'));
  const { config: consumer } = await manager.consumers.info(config.name, 'ingest');
  await manager.streams.delete(config.name);
  await manager.streams.add(config);
  await manager.consumers.add(config.name, consumer);
  expect((await manager.streams.info(config.name)).created).not.toBe(created);
  await leaseRanOut(run.id);
  const ended = await until(async () => (await runOf(run.id)).status !== 'running' && runOf(run.id));
  expect(ended).toMatchObject({ status: 'failed', attempt: 1, error: { code: 'executor_lost' } });
  await bus.nc.close();
});

test('a run that was never begun goes back to the queue, and not for ever', async () => {
  const engine = await engines.replica({ leaseMs: LEASE_MS });
  const executor = await engines.executor();
  const run = await engine.submitAndWait(aRun());
  await claimed(executor);
  await leaseRanOut(run.id);
  const again = await claimed(executor);
  expect(again).toMatchObject({ runId: run.id, attempt: 2 });
  expect((await runOf(run.id)).requeues).toBe(1);
  await engines.pool.query('UPDATE runs SET requeues = $2 WHERE id = $1', [run.id, REQUEUES_MAX]);
  await leaseRanOut(run.id);
  const ended = await until(async () => (await runOf(run.id)).status === 'failed' && runOf(run.id));
  expect(ended.error).toMatchObject({
    code: 'executor_lost',
    message: expect.stringContaining('no executor began it'),
  });
});

test('an executor that could not begin hands a run back although its start is known', async () => {
  const engine = await engines.replica();
  const executor = await engines.executor();
  const run = await engine.submitAndWait(aRun());
  const job = await claimed(executor);
  await job.report({ type: 'started' });
  await until(async () => (await runOf(run.id)).confirmed);
  await job.report({
    type: 'finished',
    status: 'returned',
    usage: { wallMs: 0, cpuMs: 0, maxRssBytes: 0, costUsd: 0 },
  });
  expect(await claimed(executor)).toMatchObject({ runId: run.id, attempt: 2 });
  expect(await runOf(run.id)).toMatchObject({ status: 'running', confirmed: false, requeues: 1 });
});
