/**
 * Takes what executors report out of JetStream and into the tables.
 *
 * The replicas share one durable consumer, so a run's batches may be written by different replicas and in any order:
 * events conflict on their number and an ending is a compare-and-set, which makes every batch safe to write twice and
 * in any order. A message is acknowledged after its commit. While PostgreSQL is away, messages wait here and in the stream.
 *
 * A stream that was lost has taken reports along that nobody has read: that a run has begun may have been one of them. So
 * every run that an executor holds counts as begun from then on, and none is begun a second time.
 */
import {
  ACK_WAIT_MS,
  type Bus,
  consumeDurable,
  decodeRunEvents,
  hasConsumedAll,
  INGEST_DURABLE,
  type RunError,
  type RunEvent,
  type RunEventBatch,
  type RunSource,
  runEventsStream,
  streamState,
} from '@gantry/events';
import { isDependencyDown } from '@gantry/http';
import type { JsMsg } from 'nats';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { CANCELLED } from './end-run';
import { requeueRuns } from './requeue-runs';
import type { Run } from './run';
import { isClosing, joinLogs, seqOf, serviceClosing, serviceFloor, toNewEvents } from './run-events';
import { streamChanged } from './run-stream';
import type { RunTokens } from './run-tokens';
import { type Ending, settleRuns } from './settle-runs';
import { type OnSuspended, type SuspensionReport, suspendRun } from './suspend-run';

const BATCH_MAX = 100;
/** Nobody waits for a batch without an ending: several commit together. */
const UNHURRIED_MS = 25;
const RETRY_MS = 500;
const IN_FLIGHT_MAX = 500;
/** How often a run that can't be suspended is tried before it fails. */
const SUSPEND_TRIES = 4;
const SUSPEND_RETRY_MS = 500;

interface Received {
  message: JsMsg;
  batch: RunEventBatch;
}

export interface Ingest {
  /** True when everything that executors have reported so far is in the tables, and nothing of it was lost. */
  caughtUp(): Promise<boolean>;
  stop(): Promise<void>;
}

export type Usage = Extract<RunEvent, { type: 'finished' }>['usage'];

export interface Settled {
  /** It has ended, or is suspended until its next try. */
  run: Run;
  /** Where one message told the whole run, its logs, so that nobody has to read them back. */
  logs: string | undefined;
}

export function startIngest(deps: {
  bus: Bus;
  pool: Pool;
  source: RunSource;
  tokens: RunTokens;
  log: Logger;
  onSettled: (settled: Settled) => void;
  onReturned: () => void;
  /** It had ended, or was suspended, before: perhaps by a commit whose answer was lost, so that nobody was told. */
  onRepeated: (runId: string) => void;
  onSuspended: OnSuspended | undefined;
  /** A run has been suspended; its process is gone, and what it waits for may be queued. */
  onWaiting: (run: Run) => void;
  /** Price of what an attempt used, in USD; what its code reported comes on top. */
  computeCostUsd: (usage: Usage) => number;
}): Ingest {
  const { bus, pool, source, tokens, log } = deps;
  const stream = runEventsStream(source);

  const waiting: Received[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | null = null;
  let stopped = false;

  /** Of this stream, as this replica has seen it. */
  let lastSeq = 0;
  let created: Date | undefined;
  let claimedAt = 0;

  async function noteStream(): Promise<void> {
    const state = await streamState(bus, stream);
    const isCut = state.created.getTime() === created?.getTime() && state.lastSeq < lastSeq;
    if (await streamChanged(pool, state, isCut)) {
      log.error(
        { stream, created: state.created },
        'the stream of run events is a new one: what is under way counts as begun',
      );
    }
    created = state.created;
    lastSeq = Math.min(lastSeq, state.lastSeq);
  }

  const fetching = consumeDurable({
    ...{ bus, stream, log },
    durable: INGEST_DURABLE,
    messagesMax: IN_FLIGHT_MAX,
    onOpen: noteStream,
    onMessage(message) {
      let batch: RunEventBatch;
      try {
        batch = decodeRunEvents(message);
      } catch (err) {
        log.error({ err, subject: message.subject }, 'run events break their schema: terminated');
        return message.term();
      }
      lastSeq = Math.max(lastSeq, message.seq);
      if (!tokens.accepts(batch)) {
        log.warn({ subject: message.subject, attempt: batch.attempt }, 'run events of a stranger: terminated');
        return message.term();
      }
      waiting.push({ message, batch });
      if (batch.events.at(-1)?.type === 'finished' || waiting.length >= BATCH_MAX) write();
      else timer ??= setTimeout(write, UNHURRIED_MS);
    },
  });

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
        if (isPassing(err)) {
          log.warn({ err }, 'run events wait for PostgreSQL');
          waiting.unshift(...batch);
          stayOwner();
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        } else await writeOneByOne(batch, err);
      }
    }
  }

  /** Of what waits here: it must not be delivered to another replica as well, which would do no better. */
  function stayOwner(): void {
    const now = Date.now();
    if (now - claimedAt < ACK_WAIT_MS / 3) return;
    claimedAt = now;
    for (const { message } of waiting) message.working();
  }

  /** One message that can't be written must not hold up the others. Its run ends by the sweeper. */
  async function writeOneByOne(batch: Received[], cause: unknown): Promise<void> {
    log.error({ err: cause }, 'run events not written together: one by one');
    for (const received of batch) {
      await writeBatch([received]).catch((err) => {
        const { runId } = received.batch;
        if (isPassing(err) || (suspensionOf(received.batch) && received.message.info.deliveryCount < SUSPEND_TRIES)) {
          log.warn({ err, runId }, 'run events not written: will try again');
          return received.message.nak(SUSPEND_RETRY_MS);
        }
        log.error({ err, runId }, 'run events can not be written: terminated');
        return giveUp(received);
      });
    }
  }

  async function giveUp({ message, batch }: Received): Promise<void> {
    const suspension = suspensionOf(batch);
    if (suspension) await end(suspension, 'failed', NOT_SUSPENDED);
    message.term();
  }

  async function writeBatch(received: Received[]): Promise<void> {
    const batches = received.map(({ batch }) => batch);
    const endings = batches.flatMap((batch) => endingOf(batch, deps.computeCostUsd));
    const ending = new Set(endings.map(({ runId }) => runId));
    const begun = batches.filter(({ runId, events }) => !ending.has(runId) && events.some(isStarted));
    await insertArtifacts(pool, batches);
    const reports = batches.map((batch) => ({
      runId: batch.runId,
      attempt: batch.attempt,
      events: toNewEvents(batch),
    }));
    const runs = await settleRuns(pool, source, reports, endings, begun);
    for (const batch of batches) {
      const suspension = suspensionOf(batch);
      if (suspension) await suspend(suspension);
    }
    for (const { message } of received) message.ack();
    for (const run of runs) deps.onSettled({ run, logs: wholeLogs(batches.filter(({ runId }) => runId === run.id)) });
    for (const { id } of runs) ending.delete(id);
    ending.forEach(deps.onRepeated);
    await takeBack(batches);
  }

  /** Of executors that could not begin them. */
  async function takeBack(batches: RunEventBatch[]): Promise<void> {
    const returned = batches.filter(({ events }) => events.some(isReturned));
    if (returned.length && (await requeueRuns(pool, returned, 'returned'))) deps.onReturned();
  }

  async function suspend(report: SuspensionReport): Promise<void> {
    const suspended = await suspendRun(pool, report, deps.onSuspended);
    if (suspended === 'none') deps.onRepeated(report.runId);
    else if (suspended === 'cancelled') await end(report, 'cancelled', CANCELLED);
    else if ('refused' in suspended) await end(report, 'failed', suspended.refused);
    else deps.onWaiting(suspended.run);
  }

  /** Instead of suspending it. */
  async function end(report: SuspensionReport, status: 'failed' | 'cancelled', error: RunError): Promise<void> {
    const { suspension, ...place } = report;
    const { runId, attempt } = report;
    const events = serviceClosing(serviceFloor(attempt), report.at, { status, error });
    const ending = { ...place, from: 'running' as const, status, error };
    const [run] = await settleRuns(pool, source, [{ runId, attempt, events }], [ending], []);
    if (run) deps.onSettled({ run, logs: undefined });
  }

  function suspensionOf({ runId, attempt, executorId, events }: RunEventBatch): SuspensionReport | undefined {
    const last = events.at(-1);
    if (last?.type !== 'finished' || last.status !== 'suspended' || !last.suspension) return undefined;
    return {
      runId,
      attempt,
      executorId,
      ...usageOf(last, deps.computeCostUsd),
      ...placeOf(attempt, last),
      suspension: last.suspension,
    };
  }

  return {
    caughtUp: async () => {
      if (waiting.length || writing) return false;
      const state = await streamState(bus, stream);
      const isSame = state.created.getTime() === created?.getTime() && state.lastSeq >= lastSeq;
      if (isSame) return hasConsumedAll(bus, stream, INGEST_DURABLE);
      await noteStream();
      return false;
    },
    stop: async () => {
      stopped = true;
      await fetching.stop();
      write();
      await writing;
    },
  };
}

const NOT_SUSPENDED: RunError = { code: 'sandbox', message: 'the platform failed to put this run to wait' };
const UNEXPLAINED: RunError = {
  code: 'sandbox',
  message: 'the run ended to wait for something, and did not say for what',
};

/** PostgreSQL is away, or chose this transaction to break a deadlock. */
const isPassing = (err: unknown): boolean =>
  isDependencyDown(err) || ['40P01', '40001'].includes(String((err as { code?: unknown }).code));

type Finished = Extract<RunEvent, { type: 'finished' }>;

const isStarted = (event: RunEvent) => event.type === 'started';
const isReturned = (event: RunEvent) => event.type === 'finished' && event.status === 'returned';

const placeOf = (attempt: number, { seq, at }: Finished) => ({ seq: seqOf(attempt, seq), at: new Date(at) });

function usageOf({ usage }: Finished, computeCostUsd: (usage: Usage) => number) {
  const { cpuMs, maxRssBytes, costUsd } = usage;
  return { cpuMs, maxRssBytes, costUsd: costUsd + computeCostUsd(usage) };
}

function endingOf(
  { runId, attempt, executorId, events }: RunEventBatch,
  computeCostUsd: (usage: Usage) => number,
): Ending[] {
  const last = events.at(-1);
  if (last?.type !== 'finished') return [];
  const common = {
    runId,
    attempt,
    executorId,
    from: 'running' as const,
    ...usageOf(last, computeCostUsd),
    ...placeOf(attempt, last),
  };
  if (last.status === 'suspended' && !last.suspension) return [{ ...common, status: 'failed', error: UNEXPLAINED }];
  if (!isClosing(last)) return [];
  const { status, output, outputKey, error } = last;
  return [{ ...common, status, output, outputKey, error }];
}

/** Undefined unless these batches hold every event of a run's only attempt, from its first to its last. */
function wholeLogs(batches: RunEventBatch[]): string | undefined {
  if (batches.some(({ attempt }) => attempt > 1)) return undefined;
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
