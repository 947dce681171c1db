/**
 * Ingests the reports of executors from JetStream into the tables.
 *
 * The replicas share one durable consumer, so a run's batches may be written by different replicas and in any order:
 * events conflict on their number and an ending is a compare-and-set, which makes every batch safe to write twice and
 * in any order. An ending waits a moment for what was reported before it (ending-order.ts). A message is acknowledged
 * after its commit. While PostgreSQL is away, messages wait here and in the stream.
 */
import {
  type Bus,
  consumeDurable,
  decodeRunEvents,
  getRunEventsStreamName,
  INGEST_DURABLE,
  type RunEventBatch,
} from '@gantry/events';
import type { RunTokens } from '../run-tokens';
import { createEndingOrder } from './ending-order';
import { createReportQueue } from './report-queue';
import { createRequestLimiter } from './request-limiter';
import { watchStream } from './watch-stream';
import { type ReportDeps, rejectReport, writeReports } from './write-reports';

const IN_FLIGHT_MAX = 500;

export type Ingest = ReturnType<typeof startIngest>;

export function startIngest(options: Omit<ReportDeps, 'boundRequests'> & { bus: Bus; tokens: RunTokens }) {
  const { bus, pool, source, tokens, log } = options;
  const deps: ReportDeps = { ...options, boundRequests: createRequestLimiter(pool, log) };
  const stream = getRunEventsStreamName(source);
  const watch = watchStream({ bus, pool, stream, log });
  const queue = createReportQueue({
    write: (received) => writeReports(deps, received),
    refuse: (received, err) => rejectReport(deps, received, err),
    log,
  });
  const order = createEndingOrder({ pool, push: queue.push });

  const fetching = consumeDurable({
    bus,
    stream,
    log,
    durable: INGEST_DURABLE,
    messagesMax: IN_FLIGHT_MAX,
    onOpen: async () => void (await watch.checkStream()),
    onMessage(message) {
      let batch: RunEventBatch;
      try {
        batch = decodeRunEvents(message);
      } catch (err) {
        log.error({ err, subject: message.subject }, 'discarded run events that violate their schema');
        return message.term();
      }
      watch.onRead(message.seq);
      if (!tokens.isValid(batch)) {
        log.warn({ subject: message.subject, attempt: batch.attempt }, 'discarded run events with an invalid token');
        return message.term();
      }
      order.push({ message, batch });
    },
  });

  return {
    /** Returns whether everything that executors have reported so far is in the tables, and nothing was lost. */
    caughtUp: async (): Promise<boolean> => order.isIdle && queue.isIdle && watch.isConsumed(),
    stop: async () => {
      await fetching.stop();
      await watch.stop();
      order.stop();
      await queue.stop();
    },
  };
}
