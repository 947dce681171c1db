/**
 * Delivers run events to the service; only the service's own confirmation counts as delivery.
 *
 * Each run's events are numbered here and sent in batches, in order. JetStream's acknowledgement is not sufficient: its
 * store may be full, deleted, or lose recently acknowledged messages. A run's ending is therefore kept here until the
 * service reports the lease as lost on renewal, which it does once the ending is in its table; until
 * then the lease is renewed. The preceding batches are kept with it, up to MEMORY_BYTES_MAX.
 *
 * If a batch fails, nothing new of its run is sent until everything before it has been acknowledged again. Duplicates
 * are dropped by JetStream by message id, and by the service by (run, attempt, seq).
 *
 * Batches not acknowledged within SPOOL_AFTER_MS are also written to disk, and the next process with this identity
 * resends them. Backpressure bounds the backlog to the runs that hold slots: no run is claimed while batches wait.
 */
import {
  type Bus,
  MESSAGE_BYTES_MAX,
  type RunEvent,
  type RunEventBatch,
  runSubjects,
  watchConnection,
} from '@gantry/events';
import { ErrorCode, type NatsError } from 'nats';
import type { Logger } from 'pino';
import type { Attempt } from './attempt';
import type { Spool } from './spool';

/** Batching delay for events while a run is in progress. */
const COALESCE_MS = 25;
const BATCH_BYTES_MAX = MESSAGE_BYTES_MAX - 16 * 1024;
const ACK_MS = 2_000;
const RESEND_MS = { first: 100, most: 2_000 };
/** A killed server may lose messages acknowledged shortly before; older ones are already written. */
const SURE_AFTER_MS = 3_000;
const SPOOL_AFTER_MS = 1_000;
/** Acknowledged batches of runs whose ending the service has not confirmed. */
const MEMORY_BYTES_MAX = 32 << 20;
/**
 * An ending that was stored but not confirmed for this long is resent, because its stream may have been lost. The wait
 * doubles in each round, since the service may only be slow; if it never accepts the ending, the lease expires.
 */
const CONFIRM_MS = 8_000;
const ROUNDS_MAX = 4;

type UnsequencedEvent<T> = T extends unknown ? Omit<T, 'seq' | 'at'> : never;
export type NewRunEvent = UnsequencedEvent<RunEvent>;

export type EventPublisher = ReturnType<typeof createEventPublisher>;
export type RunEvents = ReturnType<EventPublisher['open']>;

interface Batch {
  id: string;
  payload: Buffer;
  state: 'waiting' | 'stored';
  /** Time of the first send, or of storing once stored. */
  at: number;
  onStored?: () => void;
}

interface Report extends Attempt {
  subject: string;
  /** Every batch that may have to be resent, oldest first. */
  batches: Batch[];
  ended: boolean;
  /** Left by an earlier process that died during the run. */
  orphaned: boolean;
  /** Part of message ids: JetStream must not drop a resend of a lost message as a duplicate. */
  round: number;
  sending: boolean;
  spooled: boolean;
}

const toKey = ({ runId, attempt }: Pick<Attempt, 'runId' | 'attempt'>) => `${runId}/${attempt}`;

export function createEventPublisher(options: { bus: Bus; executorId: string; spool: Spool; log: Logger }) {
  const { bus, executorId, spool, log } = options;
  const reports = new Map<string, Report>();
  /** Stored batches, oldest first. */
  const storedBatches = new Map<Batch, Report>();
  let storedBytes = 0;
  /** Batches not yet stored, oldest first. */
  const waiting = new Set<Batch>();
  /** Sequence number of the latest acknowledgement by stream: a decrease means a new stream. */
  const lastSeq = new Map<string, number>();
  let failing = false;
  let stopped = false;

  const connection = watchConnection(bus.nc, (isUp) => {
    // Messages in flight when the connection broke may not have arrived.
    if (isUp) resend((batch) => batch.at > Date.now() - SURE_AFTER_MS);
  });
  /** Runs while batches are waiting. */
  let watch: NodeJS.Timeout | undefined;

  function addWaiting(batch: Batch) {
    waiting.add(batch);
    if (!stopped) watch ??= setInterval(spoolOverdueReports, SPOOL_AFTER_MS / 2);
  }

  function open(attempt: Attempt) {
    const subject = runSubjects.events(attempt.source, executorId, attempt.runId);
    const report = createReport(attempt, subject);
    reports.set(toKey(report), report);
    const head = JSON.stringify({ attempt: attempt.attempt, token: attempt.token }).slice(0, -1);
    let queued: string[] = [];
    let queuedBytes = 0;
    let firstSeq = 1;
    let seq = 0;
    let timer: NodeJS.Timeout | undefined;

    /** Queues an event, sent within COALESCE_MS. Nothing follows `finished`. */
    function push(event: NewRunEvent) {
      // An event that cannot be serialised must not consume a number: readers would wait for it.
      const text = JSON.stringify({ seq: seq + 1, at: Date.now(), ...event });
      seq++;
      const bytes = Buffer.byteLength(text) + 1;
      if (queuedBytes + bytes > BATCH_BYTES_MAX) flush();
      queued.push(text);
      queuedBytes += bytes;
      if (event.type === 'finished') report.ended = true;
      timer ??= setTimeout(flush, COALESCE_MS);
    }

    /** Sends everything queued now. */
    function flush() {
      clearTimeout(timer);
      timer = undefined;
      if (queued.length === 0 || !isOpen(report)) return;
      const payload = Buffer.from(`${head},"events":[${queued.join(',')}]}`);
      // Includes the token, known only to this executor and the service: JetStream deduplicates by id for all senders.
      addBatch(report, { id: `${report.token}/${firstSeq}`, payload });
      firstSeq += queued.length;
      queued = [];
      queuedBytes = 0;
    }

    return {
      push,
      flush,
      /** Resolves when the flushed events have been stored, or the run no longer belongs to this executor. */
      stored: () =>
        new Promise<void>((resolve) => {
          const last = report.batches.at(-1);
          if (last?.state !== 'waiting') resolve();
          else last.onStored = resolve;
        }),
      /** The run no longer belongs to this executor: nothing more is sent. */
      abandon() {
        clearTimeout(timer);
        discard(report);
      },
    };
  }

  const isOpen = (report: Report) => reports.get(toKey(report)) === report;

  function addBatch(report: Report, { id, payload }: Pick<Batch, 'id' | 'payload'>) {
    const batch: Batch = { id, payload, state: 'waiting', at: Date.now() };
    report.batches.push(batch);
    addWaiting(batch);
    if (report.spooled) spool.append(report, batch);
    if (!connection.isUp() || report.sending) return;
    // A single outstanding batch needs no loop.
    publish(report, batch).catch((err) => void send(report, err));
  }

  async function publish(report: Report, batch: Batch) {
    const id = report.round ? `${batch.id}/${report.round}` : batch.id;
    const ack = await bus.store(report.subject, batch.payload, id, ACK_MS);
    if (ack.seq < (lastSeq.get(ack.stream) ?? 0) && !ack.duplicate) handleLostStream(ack.stream);
    if (!ack.duplicate) lastSeq.set(ack.stream, ack.seq);
    if (batch.state === 'waiting') markStored(report, batch);
  }

  function markStored(report: Report, batch: Batch) {
    batch.state = 'stored';
    batch.at = Date.now();
    waiting.delete(batch);
    if (failing && !waiting.size) {
      failing = false;
      log.info('run events are being stored again');
    }
    batch.onStored?.();
    if (!isOpen(report)) return;
    if (report.orphaned && !findNextWaiting(report)) return discard(report);
    storedBatches.set(batch, report);
    storedBytes += batch.payload.length;
    for (const [oldest, { batches }] of storedBatches) {
      if (storedBytes <= MEMORY_BYTES_MAX) break;
      dropBatch(oldest);
      batches.splice(batches.indexOf(oldest), 1);
    }
  }

  function dropBatch(batch: Batch) {
    if (storedBatches.delete(batch)) storedBytes -= batch.payload.length;
  }

  /** Sends waiting batches one after another until none are left. */
  async function send(report: Report, cause?: Error) {
    if (report.sending || stopped) return;
    report.sending = true;
    if (cause) logFailure(cause);
    for (
      let pause = RESEND_MS.first;
      connection.isUp() && !stopped && isOpen(report);
      pause = Math.min(pause * 2, RESEND_MS.most)
    ) {
      try {
        for (let next = findNextWaiting(report); next; next = findNextWaiting(report)) await publish(report, next);
        break;
      } catch (err) {
        logFailure(err as NatsError);
        await new Promise((resolve) => setTimeout(resolve, pause).unref());
      }
    }
    report.sending = false;
  }

  const findNextWaiting = ({ batches }: Report) => batches.find(({ state }) => state === 'waiting');

  function logFailure(err: Error) {
    if (!failing) log.warn({ err }, 'run events are not being stored: resending until they are');
    failing = true;
    // No stream accepts the subject, so its messages are gone. A full stream refuses with a different error.
    const { code, api_error: refusal } = err as NatsError;
    if (code === ErrorCode.NoResponders && !refusal) resend(() => true);
  }

  function handleLostStream(stream: string) {
    log.warn({ stream }, 'the run event stream is new: resending everything that the service has not confirmed');
    resend(() => true);
  }

  function resend(shouldResend: (batch: Batch) => boolean) {
    for (const batch of storedBatches.keys()) if (shouldResend(batch)) markForResend(batch);
    for (const report of reports.values()) if (findNextWaiting(report)) void send(report);
  }

  function markForResend(batch: Batch) {
    dropBatch(batch);
    batch.state = 'waiting';
    batch.at = Date.now();
    addWaiting(batch);
  }

  function discard(report: Report) {
    if (!isOpen(report)) return;
    reports.delete(toKey(report));
    for (const batch of report.batches) {
      dropBatch(batch);
      waiting.delete(batch);
      batch.onStored?.();
    }
    if (report.spooled) spool.remove(report);
  }

  const getOldestWaitingTime = () => waiting.values().next().value?.at ?? Date.now();

  function spoolOverdueReports() {
    if (!waiting.size) {
      clearInterval(watch);
      watch = undefined;
      return;
    }
    const late = Date.now() - SPOOL_AFTER_MS;
    if (getOldestWaitingTime() >= late) return;
    for (const report of reports.values()) {
      if (report.spooled || !report.batches.some(({ state, at }) => state === 'waiting' && at < late)) continue;
      report.spooled = true;
      for (const batch of report.batches) spool.append(report, batch);
    }
  }

  for (const { attempt, subject, batches } of spool.recover()) {
    if (subject !== runSubjects.events(attempt.source, executorId, attempt.runId)) {
      log.warn(
        { runId: attempt.runId },
        'dropped a spooled report of another executor, since no service accepts it from this executor',
      );
      spool.remove(attempt);
      continue;
    }
    const ended = hasFinishedEvent(batches);
    const report = { ...createReport(attempt, subject), ended, orphaned: !ended, spooled: true };
    reports.set(toKey(report), report);
    for (const batch of batches) {
      const again: Batch = { ...batch, state: 'waiting', at: Date.now() };
      report.batches.push(again);
      addWaiting(again);
    }
    void send(report);
  }

  return {
    open,
    /** Attempts that have ended here but whose ending is not confirmed by the service. */
    unconfirmed: (): Attempt[] => [...reports.values()].filter(({ ended }) => ended),
    /** Discards the report: the service has the ending. */
    confirm: (attempt: Attempt) => {
      const report = reports.get(toKey(attempt));
      if (report?.ended) discard(report);
    },
    /** Resends the report if needed: the service does not have the ending yet. */
    remind: (attempt: Attempt) => {
      const report = reports.get(toKey(attempt));
      const last = report?.batches.at(-1);
      if (!report?.ended || last?.state !== 'stored' || last.at > Date.now() - CONFIRM_MS * 2 ** report.round) return;
      if (++report.round > ROUNDS_MAX) {
        log.error({ runId: report.runId }, 'the service has not confirmed the end of a run: giving up');
        return discard(report);
      }
      for (const batch of report.batches) if (storedBatches.has(batch)) markForResend(batch);
      void send(report);
    },
    /** False while batches are unacknowledged: further runs would only add to the backlog. */
    healthy: (): boolean => getOldestWaitingTime() >= Date.now() - ACK_MS,
    unacknowledged: (): number => waiting.size,
    /**
     * Resolves when everything has been acknowledged, or after `timeoutMs`.
     * @returns unacknowledged batches, which are in the spool
     */
    async settle(timeoutMs: number): Promise<number> {
      const deadline = Date.now() + timeoutMs;
      while (waiting.size > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
      return waiting.size;
    },
    stop: () => {
      stopped = true;
      clearInterval(watch);
    },
  };
}

const toAttempt = ({ runId, source, attempt, token }: Attempt): Attempt => ({ runId, source, attempt, token });

const createReport = (attempt: Attempt, subject: string): Report => ({
  ...toAttempt(attempt),
  subject,
  batches: [],
  ended: false,
  orphaned: false,
  round: 0,
  sending: false,
  spooled: false,
});

function hasFinishedEvent(batches: { payload: Buffer }[]): boolean {
  const { events } = JSON.parse(batches.at(-1)?.payload.toString() ?? '{"events":[]}') as Pick<RunEventBatch, 'events'>;
  return events.at(-1)?.type === 'finished';
}
