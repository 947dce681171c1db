/**
 * Workers while everything below them is killed at random.
 *
 * Runs by API, webhook and cron; executors, replicas of worker-api, NATS and PostgreSQL are killed one after the other,
 * at times and in an order that the seed decides. `npm run test:chaos` is the long suite: ten seeds of a thousand runs.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildDurableName, connectBus, EVENTS_STREAM, runFinished } from '@gantry/events';
import { Pool } from 'pg';
import { pino } from 'pino';
import { type ApiCall, type ApiResponse, createApiClient } from './api-client';
import { createSeededRandom } from './seeded-random';
import { type Stack, startStack } from './stack';
import { waitUntil } from './wait-until';

const SEEDS = Number(process.env.CHAOS_SEEDS ?? 1);
const FIRST_SEED = Number(process.env.CHAOS_FIRST_SEED ?? 1);
const RUNS = Number(process.env.CHAOS_RUNS ?? 300);
const BY_API = 0.6 * RUNS;
const BLOWS = 10;
const RUNS_PER_BLOW = RUNS / BLOWS;
/** Slots of each executor. */
const SLOTS = 4;

/** Its effect is told from another's by a number that no other call of it gives. */
const LEDGER = `
import random
from gantry import context

def run(n=0):
    first = context.step("charge", lambda: {"n": n, "receipt": random.getrandbits(53)})
    second = context.step("ship", lambda: {"of": first["receipt"], "parcel": random.getrandbits(53)})
    print("done", n)
    return {"n": n, "receipt": first["receipt"], "parcel": second["parcel"]}
`;

/** Records each attempt that ends as lost, with the executor that held it: a retry clears it from the run. */
const RECORD_LOSSES = `
  CREATE TABLE recorded_losses (subject_id text, run_id text, executor_id text, at timestamptz DEFAULT clock_timestamp());
  CREATE FUNCTION record_loss() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO recorded_losses (subject_id, run_id, executor_id) VALUES (OLD.subject_id, OLD.id, OLD.executor_id);
    RETURN NULL;
  END $$;
  CREATE TRIGGER record_loss AFTER UPDATE ON runs FOR EACH ROW
    WHEN (OLD.status = 'running' AND coalesce(NEW.error, NEW.suspension -> 'error') ->> 'code' = 'executor_lost')
    EXECUTE FUNCTION record_loss()`;

let stack: Stack;
let pool: Pool;
let receiver: Server;
/** Alert bodies by webhook-id. */
const alerted = new Map<string, { type: string; data: { run_id: string } }>();

beforeAll(async () => {
  receiver = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      alerted.set(String(req.headers['webhook-id']), JSON.parse(Buffer.concat(chunks).toString()));
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  stack = await startStack({
    workerApis: 2,
    automationApis: 0,
    executors: 2,
    env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32', LOG_LEVEL: 'info', EXECUTOR_SLOTS: String(SLOTS) },
  });
  pool = new Pool({ connectionString: stack.databaseUrls.worker });
  pool.on('error', () => {});
  await pool.query(RECORD_LOSSES);
});

afterAll(async () => {
  await pool?.end();
  await stack?.stop();
  receiver?.close();
});

async function startWorker(call: ApiCall, seed: number) {
  const id = `ledger-${seed}`;
  const created = await call('POST', '/api/workers', {
    id,
    name: 'Ledger',
    runner: 'python',
    entrypoint: 'main.py',
    files: [{ path: 'main.py', content: LEDGER }],
    inputs: [{ name: 'n', type: 'integer' }],
    outputs: ['n', 'receipt', 'parcel'],
    retry: { max_attempts: 10, backoff_seconds: 0, backoff: 'fixed' },
    triggers: [{ type: 'webhook' }, { type: 'cron', cron: '* * * * * *', misfire: 'catch_up' }],
  });
  if (created.status !== 201) throw new Error(`worker: ${created.status} ${JSON.stringify(created.body)}`);
  const { port } = receiver.address() as AddressInfo;
  const alert = await call('POST', `/api/workers/${id}/alerts`, {
    on: ['run.completed', 'run.failed', 'run.timed_out', 'run.cancelled'],
    url: `http://127.0.0.1:${port}/`,
  });
  if (alert.status !== 201) throw new Error(`alert: ${alert.status} ${JSON.stringify(alert.body)}`);
  return { id, webhookSecret: created.body.webhook_secret as string };
}

interface Kill {
  name: string;
  /** Where the part was an executor. */
  executorId: string | undefined;
  /** When it had ended. */
  at: number;
}

/** Kills one part after another and brings it back, until told to stop: each once before any of them again. */
function havoc(random: () => number): { killed: Kill[]; stop(): Promise<void> } {
  const { executors, workerApis, nats, postgres } = stack.parts;
  const parts = [
    ...executors.map(({ name, kill, start }, i) => ({ name, kill, start, executorId: stack.executorIds[i] })),
    ...[...workerApis, postgres].map(({ name, kill, start }) => ({ name, kill, start, executorId: undefined })),
    { name: 'nats', kill: nats.kill, start: nats.restart, executorId: undefined },
  ];
  const killed: Kill[] = [];
  let round: typeof parts = [];
  let going = true;
  const done = (async () => {
    while (going) {
      if (round.length === 0) round = [...parts];
      const [victim] = round.splice(Math.floor(random() * round.length), 1) as [(typeof parts)[number]];
      await pause(200 + random() * 1_500);
      await victim.kill();
      killed.push({ name: victim.name, executorId: victim.executorId, at: Date.now() });
      await pause(random() * 1_500);
      await victim.start();
    }
  })();
  return {
    killed,
    stop: async () => {
      going = false;
      await done;
    },
  };
}

/** The last log lines about requests that the services could not answer. */
const failures = () =>
  stack
    .output()
    .split('\n')
    .filter((line) => line.includes('request failed') && !line.includes('"status":503'))
    .slice(-3)
    .join('\n');

/** A run, and what the services logged about it. */
const describeRun = (run: { id: string }) =>
  [
    JSON.stringify(run),
    ...stack
      .output()
      .split('\n')
      .filter((line) => line.includes(run.id)),
  ].join('\n');

/** Retries would hide attempts that fail: only those may whose executor was killed while it ran them. */
async function assertLossesByKills(worker: string, kills: Kill[]): Promise<void> {
  const { rows: failed } = await pool.query(
    `SELECT e.data -> 'error' AS error FROM run_events e JOIN runs r ON r.id = e.run_id
     WHERE r.subject_id = $1 AND e.type = 'status' AND e.data -> 'error' ->> 'code' IS NOT NULL`,
    [worker],
  );
  expect(failed.filter(({ error }) => error.code !== 'executor_lost')).toEqual([]);
  const { rows: lost } = await pool.query(
    `SELECT l.run_id, l.executor_id, l.at AS lost_at, (
       SELECT max(b.at) FROM run_events b
       WHERE b.run_id = l.run_id AND b.at <= l.at AND b.type = 'status' AND b.data ->> 'status' = 'running'
     ) AS began_at
     FROM recorded_losses l WHERE l.subject_id = $1`,
    [worker],
  );
  expect(lost).toHaveLength(failed.length);
  const isExplained = ({ executor_id, began_at, lost_at }: (typeof lost)[number]) =>
    kills.some(({ executorId, at }) => executorId === executor_id && Number(began_at) <= at && at <= Number(lost_at));
  expect(lost.filter((loss) => !isExplained(loss))).toEqual([]);
  // Those that run, and as many whose last report was not stored yet.
  expect(lost.length).toBeLessThanOrEqual(kills.length * 2 * SLOTS);
}

/** Where the announcement of a run's end got to: published, received, made a delivery. */
async function describeEvent(runId: string): Promise<string> {
  const { rows: published } = await pool.query(
    `SELECT p.id, p.created_at, p.published_at, p.server, (SELECT json_agg(i) FROM inbox i WHERE i.event_id = p.id) AS received
     FROM published_events p WHERE p.type = $1 AND p.data ->> 'runId' = $2`,
    [runFinished.type, runId],
  );
  const { rows: deliveries } = await pool.query(
    `SELECT status, attempts_made, created_at, attempts -> -1 AS last FROM alert_deliveries
     WHERE payload -> 'data' ->> 'run_id' = $1`,
    [runId],
  );
  const bus = await connectBus({ ...stack.parts.nats.spectator, name: 'test', log: pino({ level: 'silent' }) });
  const manager = await bus.nc.jetstreamManager();
  const { state } = await manager.streams.info(EVENTS_STREAM);
  const consumer = await manager.consumers.info(EVENTS_STREAM, buildDurableName('worker-api', runFinished));
  await bus.nc.close();
  return JSON.stringify({ runId, published, deliveries, state, consumer }, null, 2);
}

/** Not waiting for anything: the time between two blows. */
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const seeds = Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i);

test.each(seeds)(
  `seed %i: each of ${RUNS} runs ends once, with each step recorded once and its alert delivered`,
  async (seed) => {
    const random = createSeededRandom(seed);
    const calls = stack.workerUrls.map((url) => createApiClient(url, stack.token));
    const anyReplica = async (...request: Parameters<ApiCall>): Promise<ApiResponse> => {
      const order = random() < 0.5 ? calls : [...calls].reverse();
      for (const call of order) {
        const answer = await call(...request);
        if (answer.status !== 0) return answer;
      }
      return { status: 0, body: null };
    };
    const { id, webhookSecret } = await startWorker(calls[0] as ApiCall, seed);
    const acknowledged = new Map<string, number>();
    const blows = havoc(random);

    /** Asks until it is acknowledged; an answer that was lost on its way may have started a run as well. */
    async function submit(n: number) {
      for (;;) {
        const { status, body } = await (n < BY_API
          ? anyReplica('POST', `/api/workers/${id}/runs`, { inputs: { n } })
          : anyReplica('POST', `/api/webhooks/${id}?token=${webhookSecret}`, { n }));
        if (body?.run_id) return void acknowledged.set(body.run_id, n);
        if (status !== 0 && status !== 503) throw new Error(`${status} ${JSON.stringify(body)}\n${failures()}`);
        await pause(50);
      }
    }
    let next = 0;
    const client = async () => {
      for (let n = next++; n < RUNS; n = next++) {
        // However fast the machine is, there are blows all along.
        while (n > (blows.killed.length + 1) * RUNS_PER_BLOW) await pause(50);
        await submit(n);
      }
    };
    await Promise.all(Array.from({ length: 8 }, client)).finally(blows.stop);
    expect(blows.killed.length).toBeGreaterThanOrEqual(BLOWS - 2);
    expect(blows.killed.map(({ name }) => name)).toContain('nats');
    await waitUntil(async () => (await anyReplica('POST', `/api/workers/${id}/pause`)).status === 200);

    const worker = (await pool.query('SELECT uid FROM workers WHERE id = $1', [id])).rows[0].uid;
    const open = `SELECT id, status, attempt, requeues, confirmed, executor_id, lease_expires_at, available_at FROM runs WHERE subject_id = $1
    AND status IN ('queued', 'running', 'suspended', 'pending_approval')`;
    const isDrained = async () => (await pool.query(open, [worker])).rowCount === 0;
    await waitUntil(isDrained, { deadlineMs: 120_000, everyMs: 500 }).catch(async (err) => {
      const { rows: left } = await pool.query(open, [worker]);
      throw new Error(`${left.length} runs are left, the first: ${describeRun(left[0])}`, { cause: err });
    });

    const { rows } = await pool.query(
      `SELECT r.id, r.status, r.trigger, r.inputs, r.output, r.error, r.scheduled_for,
       (SELECT count(*)::int FROM run_events e WHERE e.run_id = r.id AND e.type = 'done') AS dones,
       (SELECT count(*)::int FROM run_events e WHERE e.run_id = r.id AND e.type = 'output') AS outputs,
       (SELECT json_agg(s.result ORDER BY s.ordinal) FROM run_steps s WHERE s.run_id = r.id) AS steps
     FROM runs r WHERE r.subject_id = $1`,
      [worker],
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const [runId, n] of acknowledged) expect(byId.get(runId)?.inputs).toEqual({ n });
    for (const { status, error, dones, outputs, output, steps } of rows) {
      expect({ status, error, dones, outputs }).toEqual({ status: 'completed', error: null, dones: 1, outputs: 1 });
      expect(steps).toEqual([
        { n: output.n, receipt: output.receipt },
        { of: output.receipt, parcel: output.parcel },
      ]);
    }
    await assertLossesByKills(
      worker,
      blows.killed.filter(({ executorId }) => executorId),
    );
    const fires = rows
      .filter(({ trigger }) => trigger === 'schedule')
      .map(({ scheduled_for }) => Number(scheduled_for));
    expect(fires.length).toBeGreaterThan(3);
    const seconds = fires.sort((a, b) => a - b);
    // Every second from the first to the last has its run.
    expect(seconds).toEqual(seconds.map((_, i) => (seconds[0] as number) + i * 1_000));

    const pending = `SELECT 1 FROM alert_deliveries d JOIN alerts a ON a.id = d.alert_id
    WHERE a.worker_uid = $1 AND d.status = 'pending'`;
    await waitUntil(async () => (await pool.query('SELECT 1 FROM outbox')).rowCount === 0);
    await waitUntil(async () => (await pool.query(pending, [worker])).rowCount === 0, {
      deadlineMs: 90_000,
      everyMs: 500,
    });
    // Events that have left the outbox may not have become deliveries yet.
    const withoutAlert = () => {
      const told = new Set([...alerted.values()].map(({ data }) => data.run_id));
      return rows.filter((row) => !told.has(row.id)).map((row) => row.id);
    };
    await waitUntil(() => withoutAlert().length === 0).catch(async () => {
      const missing = withoutAlert();
      throw new Error(`${missing.length} runs without alert, the first: ${await describeEvent(missing[0])}`);
    });
  },
  600_000,
);
