/** Reports a run's progress and costs, throttled. Texts are already masked. */
import type { RunEvent } from '@gantry/events';
import type { NewRunEvent } from './event-publisher';

/** Reporting interval for a run that reports progress in a tight loop. */
const PROGRESS_MS = 50;
const COST_EVENTS_MAX = 1_000;
const COST_USD_MAX = 1e12;

export type LiveReport = ReturnType<typeof createLiveReport>;

/** @param onFailure called if progress cannot be reported; a later flush() will not repeat it */
export function createLiveReport({
  emit,
  onFailure,
}: {
  emit(event: NewRunEvent): void;
  onFailure(err: unknown): void;
}) {
  let latest: Omit<Extract<RunEvent, { type: 'progress' }>, 'seq' | 'at'> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let costUsd = 0;
  let costEvents = 0;

  function flush() {
    clearTimeout(timer);
    timer = undefined;
    const pending = latest;
    latest = undefined;
    if (pending) emit(pending);
  }

  function flushOverdue() {
    try {
      flush();
    } catch (err) {
      onFailure(err);
    }
  }

  return {
    /** Reports the latest progress now unless it has been sent. */
    flush,
    /** The sum of all costs, including those no longer reported individually. */
    costUsd: (): number => costUsd,
    progress(fraction: number, message: string | null) {
      latest = { type: 'progress', fraction, message };
      timer ??= setTimeout(flushOverdue, PROGRESS_MS);
    },
    cost(usd: number, label: string | null) {
      costUsd = Math.min(costUsd + usd, COST_USD_MAX);
      if (++costEvents <= COST_EVENTS_MAX) emit({ type: 'cost', usd, label });
    },
  };
}
