/**
 * Takes what executors report out of JetStream and into the tables.
 *
 * The replicas share one durable consumer, so a run's batches may be written by different replicas and in any order:
 * events conflict on their number and an ending is a compare-and-set, which makes every batch safe to write twice and
 * in any order. A message is acknowledged after its commit. While PostgreSQL is away, messages wait here and in the stream.
 */
import {
  type Bus,
  decode,
  RUN_EVENTS_STREAM,
  type RunEventBatch,
  type RunSource,
  runEventBatch,
  runSubjects,
} from '@gantry/events';
import { isDependencyDown } from '@gantry/http';
import { AckPolicy, type ConsumerMessages, DeliverPolicy, type JsMsg } from 'nats';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Run } from './run';
import { joinLogs, toNewEvents } from './run-events';
import { type Ending, settleRuns } from './settle-runs';

const BATCH_MAX = 100;
/** Nobody waits for a batch without an ending: several commit together. */
const UNHURRIED_MS = 25;
const RETRY_MS = 500;
const ACK_WAIT_NS = 30_000_000_000;
const IN_FLIGHT_MAX = 500;

interface Received {
  message: JsMsg;
  batch: RunEventBatch;
}

export interface Ingest {
  /** True when everything that executors have reported so far is in the tables. */
  caughtUp(): Promise<boolean>;
  stop(): Promise<void>;
}

export interface Settled {
  run: Run;
  /** Where one message told the whole run, its logs, so that nobody has to read them back. */
  logs: string | undefined;
}

export async function startIngest(deps: {
  bus: Bus;
  pool: Pool;
  source: RunSource;
  log: Logger;
  onSettled: (settled: Settled) => void;
  onReturned: () => void;
}): Promise<Ingest> {
  const { bus, pool, source, log } = deps;
  const durable = `${source}-ingest`;
  const manager = await bus.nc.jetstreamManager({ checkAPI: false });
  await manager.consumers.add(RUN_EVENTS_STREAM, {
    durable_name: durable,
    filter_subject: runSubjects.events(source, '*'),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: ACK_WAIT_NS,
    max_ack_pending: IN_FLIGHT_MAX * 4,
  });
  const consumer = await bus.js.consumers.get(RUN_EVENTS_STREAM, durable);
  const messages: ConsumerMessages = await consumer.consume({ max_messages: IN_FLIGHT_MAX });

  const waiting: Received[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | null = null;
  let stopped = false;

  const reading = (async () => {
    for await (const message of messages) {
      let batch: RunEventBatch;
      try {
        batch = decode(runEventBatch, message.data);
      } catch (err) {
        log.error({ err, subject: message.subject }, 'run events break their schema: terminated');
        message.term();
        continue;
      }
      waiting.push({ message, batch });
      if (batch.events.at(-1)?.type === 'finished' || waiting.length >= BATCH_MAX) write();
      else timer ??= setTimeout(write, UNHURRIED_MS);
    }
  })();

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll().finally(() => {
      writing = null;
      if (waiting.length) write();
    });
  }

  async function writeAll(): Promise<void> {
    while (waiting.length) {
      const batch = waiting.splice(0, BATCH_MAX);
      try {
        await writeBatch(batch);
      } catch (err) {
        if (stopped) return;
        if (isDependencyDown(err)) {
          log.warn({ err }, 'run events wait for PostgreSQL');
          waiting.unshift(...batch);
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        } else await writeOneByOne(batch, err);
      }
    }
  }

  /** One message that can't be written must not hold up the others. Its run ends by the sweeper. */
  async function writeOneByOne(batch: Received[], cause: unknown): Promise<void> {
    log.error({ err: cause }, 'run events not written together: one by one');
    for (const received of batch) {
      await writeBatch([received]).catch((err) => {
        log.error({ err, runId: received.batch.runId }, 'run events can not be written: terminated');
        received.message.term();
      });
    }
  }

  async function writeBatch(received: Received[]): Promise<void> {
    const batches = received.map(({ batch }) => batch);
    const endings = batches.flatMap(endingOf);
    const ending = new Set(endings.map(({ runId }) => runId));
    const begun = batches.filter(({ runId, events }) => !ending.has(runId) && events[0]?.type === 'started');
    await insertArtifacts(pool, batches);
    const reports = batches.map((batch) => ({
      runId: batch.runId,
      attempt: batch.attempt,
      events: toNewEvents(batch),
    }));
    const runs = await settleRuns(pool, source, reports, endings, begun);
    for (const { message } of received) message.ack();
    for (const run of runs) deps.onSettled({ run, logs: wholeLogs(batches.filter(({ runId }) => runId === run.id)) });
    if (await returnRuns(pool, batches)) deps.onReturned();
  }

  return {
    caughtUp: async () => {
      if (waiting.length || writing) return false;
      const info = await manager.consumers.info(RUN_EVENTS_STREAM, durable);
      return info.num_pending === 0 && info.num_ack_pending === 0;
    },
    stop: async () => {
      stopped = true;
      await messages.close();
      await reading;
      write();
      await writing;
    },
  };
}

function endingOf({ runId, attempt, events }: RunEventBatch): Ending[] {
  const last = events.at(-1);
  if (last?.type !== 'finished' || last.status === 'returned') return [];
  const { status, output, outputKey, error, usage, at } = last;
  const { cpuMs, maxRssBytes, costUsd } = usage;
  return [
    {
      runId,
      attempt,
      from: 'running',
      status,
      output,
      outputKey,
      error,
      costUsd,
      cpuMs,
      maxRssBytes,
      at: new Date(at),
    },
  ];
}

/** Undefined unless these batches hold every event from the attempt's first to its last. */
function wholeLogs(batches: RunEventBatch[]): string | undefined {
  const events = batches.flatMap((batch) => batch.events).sort((a, b) => a.seq - b.seq);
  // Number 1 is `started`, which travels ahead.
  if (!events[0] || events[0].seq > 2) return undefined;
  if (events.some((event, i) => i > 0 && event.seq !== (events[i - 1]?.seq ?? 0) + 1)) return undefined;
  return joinLogs(events.flatMap((event) => (event.type === 'log' ? [event.text] : [])));
}

async function insertArtifacts(pool: Pool, batches: RunEventBatch[]): Promise<void> {
  const rows = batches.flatMap(({ runId, attempt, events }) =>
    events.flatMap((event) => (event.type === 'artifact' ? [{ ...event, runId, attempt }] : [])),
  );
  if (!rows.length) return;
  await pool.query(
    `INSERT INTO run_artifacts (id, run_id, workspace_id, name, content_type, size, sha256, key)
     SELECT a.id, r.id, r.workspace_id, a.name, a.content_type, a.size, a.sha256, a.key
     FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[])
       AS a(id, run_id, attempt, name, content_type, size, sha256, key)
     JOIN runs r ON r.id = a.run_id AND r.attempt = a.attempt AND starts_with(a.key, r.workspace_id || '/runs/' || r.id || '/')
     ON CONFLICT DO NOTHING`,
    [
      rows.map((r) => r.artifactId),
      rows.map((r) => r.runId),
      rows.map((r) => r.attempt),
      rows.map((r) => r.name),
      rows.map((r) => r.contentType),
      rows.map((r) => r.size),
      rows.map((r) => r.sha256),
      rows.map((r) => r.key),
    ],
  );
}

/** Runs that an executor handed back unstarted go to the front of the queue: they keep their place in time. */
async function returnRuns(pool: Pool, batches: RunEventBatch[]): Promise<number> {
  const returned = batches.filter(({ events }) =>
    events.some((event) => event.type === 'finished' && event.status === 'returned'),
  );
  if (!returned.length) return 0;
  const { rowCount } = await pool.query(
    `UPDATE runs r SET status = 'queued', executor_id = NULL, lease_expires_at = NULL, started_at = NULL
     FROM unnest($1::text[], $2::int[]) AS b(run_id, attempt)
     WHERE r.id = b.run_id AND r.attempt = b.attempt AND r.status = 'running' AND NOT r.confirmed`,
    [returned.map((b) => b.runId), returned.map((b) => b.attempt)],
  );
  return rowCount ?? 0;
}
