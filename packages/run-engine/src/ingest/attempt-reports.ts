/** Extracts the end of an attempt from a batch of events. */
import type { RunError, RunEvent, RunEventBatch } from '@gantry/events';
import type { AttemptResult } from '../ending/settle-runs';
import { isClosingEvent, joinLogs, toSeq } from '../run-events';
import type { SuspensionReport } from '../waiting/suspend-run';

export type Usage = Extract<RunEvent, { type: 'finished' }>['usage'];

/** Computes the price of an attempt's usage in USD; costs that its code reported are added. */
export type ComputeCostUsd = (usage: Usage) => number;

const MISSING_SUSPENSION: RunError = {
  code: 'sandbox',
  message: 'the run was suspended, but did not say what it was waiting for',
};

type FinishedEvent = Extract<RunEvent, { type: 'finished' }>;

export const hasStarted = ({ events }: RunEventBatch): boolean => events.some(({ type }) => type === 'started');

export const isReturnedToQueue = ({ events }: RunEventBatch): boolean =>
  events.some((event) => event.type === 'finished' && event.status === 'returned');

/** Returns undefined unless the run ends with this batch. */
export function findAttemptResult(batch: RunEventBatch, computeCostUsd: ComputeCostUsd): AttemptResult | undefined {
  const last = findFinishedEvent(batch);
  if (!last) return undefined;
  const common = { ...buildAttemptUsage(batch, last, computeCostUsd), from: 'running' as const };
  if (last.status === 'suspended' && !last.suspension)
    return { ...common, status: 'failed', error: MISSING_SUSPENSION };
  if (!isClosingEvent(last)) return undefined;
  const { status, output, outputKey, error } = last;
  return { ...common, status, output, outputKey, error };
}

/** Returns undefined unless this batch suspends the run. */
export function findSuspension(batch: RunEventBatch, computeCostUsd: ComputeCostUsd): SuspensionReport | undefined {
  const last = findFinishedEvent(batch);
  if (last?.status !== 'suspended' || !last.suspension) return undefined;
  return { ...buildAttemptUsage(batch, last, computeCostUsd), suspension: last.suspension };
}

function findFinishedEvent({ events }: RunEventBatch): FinishedEvent | undefined {
  const last = events.at(-1);
  return last?.type === 'finished' ? last : undefined;
}

function buildAttemptUsage(
  { runId, attempt, executorId }: RunEventBatch,
  { seq, at, usage }: FinishedEvent,
  computeCostUsd: ComputeCostUsd,
) {
  const { cpuMs, maxRssBytes, costUsd, sandbox } = usage;
  return {
    runId,
    attempt,
    executorId,
    cpuMs,
    maxRssBytes,
    ...(sandbox && { sandbox }),
    costUsd: costUsd + computeCostUsd(usage),
    seq: toSeq(attempt, seq),
    at: new Date(at),
  };
}

/** Returns undefined unless these batches have every event of a run's only attempt. */
export function joinCompleteLogs(batches: RunEventBatch[]): string | undefined {
  if (batches.some(({ attempt }) => attempt > 1)) return undefined;
  const events = batches.flatMap((batch) => batch.events).sort((a, b) => a.seq - b.seq);
  // Number 1 is `started`, which is sent ahead.
  if (!events[0] || events[0].seq > 2) return undefined;
  if (events.some((event, i) => i > 0 && event.seq !== (events[i - 1]?.seq ?? 0) + 1)) return undefined;
  return joinLogs(events.flatMap((event) => (event.type === 'log' ? [event.text] : [])));
}
