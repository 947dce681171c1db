/**
 * Polls tables for work. The loops of a process share one statement per pool, which returns when each of them will have
 * work: otherwise, an idle process would spend most of its time on statements that find nothing.
 *
 * The next poll takes place when work becomes due, half a second after a commit of this process, which may have added
 * some, and otherwise at the next multiple of five seconds: every replica polls after its own commits, but may die before
 * it does.
 */
import { getAlignedDelay } from '@gantry/env';
import type { Pool } from 'pg';
import { type RepeatingTask, runAndLogError, type TaskOptions } from './repeating-task';

const SOON_MS = 500;
/** Minimum between two polls, for work that becomes due at many different times. */
const SPACING_MS = 100;
const IDLE_MS = 5_000;
/** The connection is free by then if another task of the process has its statement at the same multiple. */
const IDLE_OFFSET_MS = 20;

interface WatchedWork {
  /** SQL expression. */
  dueAt: string;
  start: () => void;
  onUnreachable: (() => void) | undefined;
}

const polls = new WeakMap<Pool, ReturnType<typeof createWorkPoll>>();

/**
 * Calls `work` when it is due, and twice a second for as long as it stays due, without overlap.
 * An error is logged, and the work retried at the next poll.
 * @param options.dueAt SQL expression without parameters, of type `timestamptz`: the time from which on there is work,
 * null if there is none
 * @param options.onUnreachable called when a poll has failed; it is repeated twice a second
 */
export function pollForWork(
  options: TaskOptions & { pool: Pool; dueAt: string; onUnreachable?: () => void },
): RepeatingTask {
  const { pool, dueAt, onUnreachable, ...work } = options;
  let running: Promise<void> | undefined;
  const poll = polls.get(pool) ?? createWorkPoll(pool);
  polls.set(pool, poll);

  const watch: WatchedWork = {
    dueAt,
    onUnreachable,
    start: () => {
      running ??= runAndLogError(work).finally(() => {
        running = undefined;
      });
    },
  };
  poll.add(watch);
  return {
    stop: async () => {
      poll.delete(watch);
      await running;
    },
  };
}

/** Polls within half a second: there may be work that the last poll has not seen. */
export const pollSoon = (pool: Pool): void => polls.get(pool)?.schedule(SOON_MS);

let statements = 0;

function createWorkPoll(pool: Pool) {
  let watches: WatchedWork[] = [];
  let statement = { name: '', text: '', rowMode: 'array' as const };
  let timer: NodeJS.Timeout | undefined;
  let nextAt = Number.POSITIVE_INFINITY;
  let isPolling = false;

  function setWatches(next: WatchedWork[]) {
    watches = next;
    // Prepared once per connection.
    const text = `SELECT ${watches.map(({ dueAt }) => `extract(epoch FROM ${dueAt} - now())::float8 * 1000`).join(', ')}`;
    statement = { ...statement, name: `poll-for-work-${++statements}`, text };
    schedule(SOON_MS);
  }

  async function poll() {
    isPolling = true;
    nextAt = Number.POSITIVE_INFINITY;
    const polled = watches;
    let waitMs = getAlignedDelay(IDLE_MS) + IDLE_OFFSET_MS;
    try {
      const { rows } = await pool.query<(number | null)[]>(statement);
      for (const [index, watch] of polled.entries()) {
        const dueMs = rows[0]?.[index] ?? waitMs;
        waitMs = Math.min(waitMs, dueMs > 0 ? Math.max(dueMs, SPACING_MS) : SOON_MS);
        // Bounded: the loops of a process.
        if (dueMs <= 0 && watches.includes(watch)) watch.start();
      }
    } catch {
      // While PostgreSQL is away there is nothing to do; the service's health says so.
      for (const { onUnreachable } of polled) onUnreachable?.();
      waitMs = SOON_MS;
    }
    isPolling = false;
    schedule(waitMs);
  }

  /** Brings the next poll forward, or makes it follow sooner on the one in progress. */
  function schedule(waitMs: number) {
    const now = performance.now();
    nextAt = Math.min(nextAt, now + waitMs);
    clearTimeout(timer);
    // A timer may fire a millisecond early.
    if (watches.length && !isPolling) timer = setTimeout(poll, Math.ceil(nextAt - now) + 1);
  }

  return {
    schedule,
    add: (watch: WatchedWork) => setWatches([...watches, watch]),
    delete: (watch: WatchedWork) => setWatches(watches.filter((one) => one !== watch)),
  };
}
