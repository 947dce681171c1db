/**
 * Events of runs on their way to the service.
 *
 * Each run's events are numbered here and travel in batches, in order. A batch is kept until JetStream has acknowledged
 * it. If one fails, nothing new of its run is sent until everything before it has been acknowledged again; batches that
 * JetStream has already are dropped there by their message id, and by the service by (run, attempt, seq). So nothing is
 * lost or reordered while this process lives, however often NATS goes away. JetStream acknowledges before it has written to
 * disk, so what it acknowledged in the last moments before it died is sent again too. What is buffered is bounded by the log limits
 * of the runs that hold slots, since no new run starts without NATS.
 */
import { type Bus, type Job, MESSAGE_BYTES_MAX, type RunEvent, runSubjects } from '@gantry/events';
import type { Logger } from 'pino';

/** How long events wait for company while a run goes on. */
const COALESCE_MS = 25;
const BATCH_BYTES_MAX = MESSAGE_BYTES_MAX - 16 * 1024;
const ACK_MS = 2_000;
const RESEND_MS = { first: 100, most: 2_000 };

type Unnumbered<T> = T extends unknown ? Omit<T, 'seq' | 'at'> : never;
export type NewRunEvent = Unnumbered<RunEvent>;

export interface RunEvents {
  /** Queues an event; it leaves within COALESCE_MS. */
  push(event: NewRunEvent): void;
  /** Hands everything queued to the connection now. */
  flush(): void;
  /** The run is not ours any more: nothing is sent from now on. */
  abandon(): void;
}

export interface EventPublisher {
  open(job: Pick<Job, 'runId' | 'source' | 'attempt'>): RunEvents;
  /** Resolves when everything has been acknowledged, or after `timeoutMs`. @returns batches not acknowledged. */
  settle(timeoutMs: number): Promise<number>;
  stop(): void;
}

interface Batch {
  id: string;
  payload: Buffer;
}

interface SendingRun {
  resend(): void;
  count(): number;
  /** Takes an acknowledged batch back, in front of all others. */
  takeBack(batch: Batch): void;
}

/** The server writes within milliseconds of acknowledging. */
const REMEMBER_MS = 3_000;
const REMEMBER_BYTES_MAX = 8 << 20;

export function createEventPublisher(options: { bus: Bus; executorId: string; log: Logger }): EventPublisher {
  const { bus, executorId, log } = options;
  const unsettled = new Set<SendingRun>();
  /** Acknowledged lately, oldest first. */
  let remembered: { run: SendingRun; batch: Batch; at: number }[] = [];
  let rememberedBytes = 0;
  let stopped = false;

  let connected = true;
  void (async () => {
    for await (const { type } of bus.nc.status()) {
      if (type === 'disconnect') connected = false;
      if (type !== 'reconnect') continue;
      connected = true;
      for (const { run, batch } of remembered.reverse()) run.takeBack(batch);
      remembered = [];
      rememberedBytes = 0;
      // Whatever was under way when the connection broke may not have arrived.
      for (const run of unsettled) run.resend();
    }
  })();

  function remember(run: SendingRun, batch: Batch) {
    const now = Date.now();
    remembered.push({ run, batch, at: now });
    rememberedBytes += batch.payload.length;
    for (let oldest = remembered[0]; oldest; oldest = remembered[0]) {
      if (oldest.at >= now - REMEMBER_MS && rememberedBytes <= REMEMBER_BYTES_MAX) return;
      rememberedBytes -= oldest.batch.payload.length;
      remembered.shift();
    }
  }

  function open(job: Pick<Job, 'runId' | 'source' | 'attempt'>): RunEvents {
    const subject = runSubjects.events(job.source, job.runId);
    const head = JSON.stringify({ runId: job.runId, source: job.source, attempt: job.attempt, executorId }).slice(
      0,
      -1,
    );
    const unacknowledged: Batch[] = [];
    let queued: string[] = [];
    let queuedBytes = 0;
    let firstSeq = 1;
    let seq = 0;
    let timer: NodeJS.Timeout | undefined;
    /** Grows with each new round of sending again; the rounds before it end. */
    let round = 0;
    let resending = false;
    let abandoned = false;
    const self: SendingRun = {
      resend: () => void resend(),
      count: () => unacknowledged.length,
      takeBack(batch) {
        if (abandoned) return;
        unacknowledged.unshift(batch);
        unsettled.add(self);
      },
    };

    function push(event: NewRunEvent) {
      // An event that can't be written takes no number: readers would wait for it.
      const text = JSON.stringify({ seq: seq + 1, at: Date.now(), ...event });
      seq++;
      const bytes = Buffer.byteLength(text) + 1;
      if (queuedBytes + bytes > BATCH_BYTES_MAX) flush();
      queued.push(text);
      queuedBytes += bytes;
      timer ??= setTimeout(flush, COALESCE_MS);
    }

    function flush() {
      clearTimeout(timer);
      timer = undefined;
      if (queued.length === 0 || abandoned) return;
      const payload = Buffer.from(`${head},"events":[${queued.join(',')}]}`);
      const batch = { id: `${job.runId}/${job.attempt}/${firstSeq}`, payload };
      firstSeq += queued.length;
      queued = [];
      queuedBytes = 0;
      unacknowledged.push(batch);
      unsettled.add(self);
      if (!resending && connected) send(batch).catch((err) => resendUnless(batch, err));
    }

    async function send(batch: Batch) {
      await bus.js.publish(subject, batch.payload, { msgID: batch.id, timeout: ACK_MS });
      const at = unacknowledged.indexOf(batch);
      if (at >= 0) {
        unacknowledged.splice(at, 1);
        remember(self, batch);
      }
      if (unacknowledged.length === 0) unsettled.delete(self);
    }

    /** A newer round may have taken care of it already. */
    function resendUnless(batch: Batch, err: Error) {
      if (!resending && unacknowledged.includes(batch)) void resend(err);
    }

    async function resend(cause?: Error) {
      const mine = ++round;
      const current = () => mine === round && connected && !stopped && unacknowledged.length > 0;
      resending = true;
      if (cause) log.warn({ runId: job.runId, err: cause }, 'run events not acknowledged: sending them again');
      for (let pause = RESEND_MS.first; current(); pause = Math.min(pause * 2, RESEND_MS.most)) {
        try {
          while (current() && unacknowledged[0]) await send(unacknowledged[0]);
        } catch {
          await new Promise((resolve) => setTimeout(resolve, pause).unref());
        }
      }
      if (mine === round) resending = false;
    }

    return {
      push,
      flush,
      abandon() {
        abandoned = true;
        clearTimeout(timer);
        unacknowledged.length = 0;
        unsettled.delete(self);
      },
    };
  }

  return {
    open,
    async settle(timeoutMs) {
      const deadline = Date.now() + timeoutMs;
      while (unsettled.size > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
      return [...unsettled].reduce((sum, run) => sum + run.count(), 0);
    },
    stop: () => {
      stopped = true;
    },
  };
}
