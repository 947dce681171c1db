/** Whatever happens to JetStream, code begins once, and its result counts. Built services, under load. */
import { type Bus, connectBus, EVENTS_STREAM, getRunEventsStreamName } from '@gantry/events';
import { Pool } from 'pg';
import { pino } from 'pino';
import { type ApiCall, createApiClient } from './api-client';
import { type Stack, startStack } from './stack';
import { waitUntil } from './wait-until';

const STREAM = getRunEventsStreamName('worker');
const CHATTY = `
def run(n):
    for line in range(150):
        print("line", line, "x" * 60)
    return {"n": n}
`;

let stack: Stack;
let call: ApiCall;
let pool: Pool;
/** Connected as a user that may do anything. */
let bus: Bus;

beforeAll(async () => {
  stack = await startStack({ workerApis: 2 });
  call = createApiClient(stack.workerUrls[0] as string, stack.token);
  pool = new Pool({ connectionString: stack.databaseUrls.worker });
  bus = await connectBus({ ...stack.parts.nats.spectator, name: 'test', log: pino({ level: 'silent' }) });
  const files = [{ path: 'main.py', content: CHATTY }];
  const worker = { id: 'chatty', name: 'Chatty', inputs: [{ name: 'n', type: 'integer' }], files };
  expect((await call('POST', '/api/workers', worker)).status).toBe(201);
});

afterAll(async () => {
  await bus?.nc.close();
  await pool?.end();
  await stack?.stop();
});

/** Starts runs while `work` goes on. @returns how many were accepted */
async function underLoad(work: () => Promise<void>): Promise<number> {
  let going = true;
  let accepted = 0;
  const clients = Array.from({ length: 2 }, async (_, client) => {
    for (let n = client; going; n += 2) {
      const { status } = await call('POST', '/api/workers/chatty/runs', { inputs: { n } });
      if (status === 201) accepted++;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  });
  try {
    await work();
  } finally {
    going = false;
    await Promise.all(clients);
  }
  return accepted;
}

/** Runs whose code the executor has run to its end. */
async function countExecuted(): Promise<number> {
  const metrics = await (await fetch(`${stack.executorUrls[0]}/metrics`)).text();
  return Number(/gantry_executor_phase_seconds_count\{phase="run"\} (\d+)/.exec(metrics)?.[1] ?? 0);
}

async function byStatus(): Promise<Record<string, number>> {
  const { rows } = await pool.query(
    `SELECT status, count(*)::int AS runs FROM runs WHERE subject_ref = 'chatty' GROUP BY status`,
  );
  return Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
}

const storeSize = async () => (await (await bus.nc.jetstreamManager()).streams.info(STREAM)).state;

async function limitStore(bytesMax: number): Promise<void> {
  const manager = await bus.nc.jetstreamManager();
  const { config } = await manager.streams.info(STREAM);
  await manager.streams.update(STREAM, { ...config, max_bytes: bytesMax });
}

/**
 * One fault under load; afterwards every accepted run has ended, and no code has run twice.
 * @returns how many failed
 */
async function survives(fault: () => Promise<void>): Promise<number> {
  const [before, done] = [await byStatus(), await countExecuted()];
  const accepted = await underLoad(async () => {
    await waitUntil(async () => (await countExecuted()) > done + 10, { what: 'runs complete' });
    await fault();
  });
  const listEnded = async () => {
    const { completed = 0, failed = 0, ...others } = await byStatus();
    return Object.keys(others).length ? null : { completed, failed };
  };
  const now = await waitUntil(listEnded, { everyMs: 250, what: 'every run has ended' });
  const completed = now.completed - (before.completed ?? 0);
  const failed = now.failed - (before.failed ?? 0);
  expect(completed + failed).toBe(accepted);
  const times = (await countExecuted()) - done;
  expect(times).toBeGreaterThanOrEqual(completed);
  expect(times).toBeLessThanOrEqual(accepted);
  return failed;
}

test('a full store stops only new code: running code ends, and work continues once there is space', async () => {
  const failed = await survives(async () => {
    await limitStore(1);
    const begun = await countExecuted();
    await waitUntil(async () => (await metric('gantry_executor_spool_bytes')) > 0);
    await waitUntil(async () => (await metric('gantry_executor_slots_busy')) > 0);
    expect((await countExecuted()) - begun).toBeLessThanOrEqual(8);
    await limitStore(1 << 30);
  });
  expect(failed).toBe(0);
});

test('deleted streams are recreated automatically, and no code runs again', async () => {
  const failed = await survives(async () => {
    const manager = await bus.nc.jetstreamManager();
    await manager.streams.delete(STREAM);
    await manager.streams.delete(EVENTS_STREAM);
    await waitUntil(() => storeSize().catch(() => null), { what: 'the stream is back' });
  });
  expect(failed).toBe(0);
});

test('a store that is lost while NATS is down, and again, loses no result', async () => {
  const failed = await survives(async () => {
    await stack.parts.nats.loseStore();
    await waitUntil(() => storeSize().catch(() => null), { what: 'the stream is back' });
    await stack.parts.nats.loseStore();
  });
  // Jobs that were on their way to the executor: whether they arrived is unknown.
  expect(failed).toBeLessThanOrEqual(8);
});

test('an executor that is killed while nothing can be stored reports the results after its restart', async () => {
  const { failed: before = 0 } = await byStatus();
  const [executor] = stack.parts.executors as [(typeof stack.parts.executors)[0]];
  await underLoad(async () => {
    await limitStore(1);
    await waitUntil(async () => (await metric('gantry_executor_spool_bytes')) > 0);
  });
  await executor.kill();
  await executor.start();
  await limitStore(1 << 30);
  await waitUntil(
    async () => Object.keys(await byStatus()).every((status) => status !== 'running' && status !== 'queued'),
    {
      everyMs: 250,
      deadlineMs: 120_000,
    },
  );
  const { rows } = await pool.query(`SELECT error ->> 'code' AS code FROM runs WHERE status <> 'completed'`);
  // Runs that were in the middle of their code have ended as lost, and were not begun again.
  expect(rows.every(({ code }) => code === 'executor_lost')).toBe(true);
  expect(rows.length - before).toBeLessThanOrEqual(4);
});

async function metric(name: string): Promise<number> {
  const metrics = await (await fetch(`${stack.executorUrls[0]}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(metrics)?.[1] ?? 0);
}
