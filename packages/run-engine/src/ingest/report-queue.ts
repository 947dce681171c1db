/**
 * Queues reports for writing, in order of arrival.
 *
 * Waiting batches are written together, at once if one ends a run. While PostgreSQL is down all batches stay queued. If
 * a group cannot be written for another reason, its batches are written one by one, so that none blocks the others.
 */

import { isDependencyDown } from '@gantry/errors';
import { ACK_WAIT_MS, type RunEventBatch } from '@gantry/events';
import type { JsMsg } from 'nats';
import type { Logger } from 'pino';

const BATCH_MAX = 100;
/** No request waits for a batch without an ending: several commit together. */
const BATCH_DELAY_MS = 25;
const RETRY_MS = 500;

export interface ReceivedBatch {
  message: Pick<JsMsg, 'ack' | 'nak' | 'term' | 'working'> & { info: Pick<JsMsg['info'], 'deliveryCount'> };
  batch: RunEventBatch;
}

export function createReportQueue(deps: {
  /** Writes and acknowledges all of them together, or throws. */
  write: (received: ReceivedBatch[]) => Promise<void>;
  /** Handles a batch that cannot be written alone. @param err the reason */
  refuse: (received: ReceivedBatch, err: unknown) => Promise<void>;
  log: Logger;
}) {
  const { log } = deps;
  const waiting: ReceivedBatch[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | null = null;
  let stopped = false;
  let extendedAt = 0;

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
      // Bounded: 2,000 batches (UNACKNOWLEDGED_MAX of the stream), a hundred at a time.
      const batch = waiting.splice(0, BATCH_MAX);
      try {
        await deps.write(batch);
      } catch (err) {
        if (stopped) return;
        if (isTransient(err)) {
          log.warn({ err }, 'run events are waiting for PostgreSQL');
          // Bounded: once every RETRY_MS.
          waiting.unshift(...batch);
          extendAckWait();
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        } else await writeOneByOne(batch, err);
      }
    }
  }

  /** Extends the ack wait of queued messages: another replica could not write them either. */
  function extendAckWait(): void {
    const now = Date.now();
    if (now - extendedAt < ACK_WAIT_MS / 3) return;
    extendedAt = now;
    for (const { message } of waiting) message.working();
  }

  async function writeOneByOne(batch: ReceivedBatch[], cause: unknown): Promise<void> {
    log.error({ err: cause }, 'run events could not be written as a batch: writing them one by one');
    for (const received of batch) {
      await deps
        .write([received])
        .catch((err) => deps.refuse(received, err))
        // The message is redelivered.
        .catch((err) => log.error({ err, runId: received.batch.runId }, 'run events could not be written or rejected'));
    }
  }

  return {
    /** Returns whether no batch waits or is being written. */
    get isIdle() {
      return !waiting.length && !writing;
    },
    push(report: ReceivedBatch) {
      waiting.push(report);
      if (report.batch.events.at(-1)?.type === 'finished' || waiting.length >= BATCH_MAX) write();
      else timer ??= setTimeout(write, BATCH_DELAY_MS);
    },
    /** Resolves when all waiting batches are written; while PostgreSQL is down they are left to another replica. */
    async stop() {
      stopped = true;
      write();
      await writing;
    },
  };
}

/** Returns whether PostgreSQL is down, or aborted this transaction to resolve a conflict. */
export const isTransient = (err: unknown): boolean =>
  isDependencyDown(err) || ['40P01', '40001'].includes(String((err as { code?: unknown }).code));
