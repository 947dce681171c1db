/**
 * Counts each caller's requests, and shares the counts with other replicas through PostgreSQL.
 *
 * A request costs one map lookup. One statement every EXCHANGE_MS writes the new counts and returns those of all
 * replicas. So a caller who spreads a burst over n replicas may use up to n budgets within the first EXCHANGE_MS; the
 * excess is counted too, and is charged before further requests are allowed.
 * Without PostgreSQL each replica counts for itself: a limit is never the reason for an outage.
 *
 * The window slides: of the previous minute counts the share that 60 seconds still cover, as if its requests were
 * spread evenly. Refused requests are not counted, so a caller who keeps retrying is allowed as soon as one who waits.
 */
import type { Pool } from 'pg';
import type { Logger } from 'pino';

export const WINDOW_MS = 60_000;
export const EXCHANGE_MS = 200;
const RETRY_MS = 2_000;
const SWEEP_MS = 600_000;
/** Number of tracked callers, about 200 bytes each; the oldest is evicted first. */
const CALLERS_MAX = 50_000;
const CALLERS_PER_STATEMENT = 1_000;
/** Tolerance for floating-point errors, so that a caller who waited as told is not refused. */
const ROUNDING_TOLERANCE = 1e-6;

export interface BudgetState {
  allowed: boolean;
  /** Requests that are allowed at once. */
  remaining: number;
  /** Time until one more is allowed, or until the window ends if one is allowed now. */
  waitMs: number;
}

export type RateCount = ReturnType<typeof createRateCounter>;

/** Windows are numbered from the epoch, so that all replicas share their borders. */
interface CallerCount {
  window: number;
  /** Requests in this window, by all replicas, as far as known. */
  count: number;
  previous: number;
}

/** Requests in that window that are not yet shared. */
interface PendingCount {
  caller: string;
  window: number;
  spent: number;
}

interface RateCountRow {
  caller: string;
  window_number: number;
  count: number;
  previous: number;
}

const buildPendingKey = (caller: string, window: number): string => `${window} ${caller}`;

export function createRateCounter(options: { pool: Pool; log: Logger; now?: () => number }) {
  const { pool, log, now = Date.now } = options;
  const callers = new Map<string, CallerCount>();
  let pendingCounts = new Map<string, PendingCount>();
  let timer: NodeJS.Timeout | undefined;
  let exchanging: Promise<void> | undefined;
  let isDown = false;
  let sweepAt = 0;

  function getCallerCount(caller: string, window: number): CallerCount {
    const counted = callers.get(caller);
    if (counted?.window === window) return counted;
    if (counted) {
      const previous = counted.window === window - 1 ? counted.count : 0;
      return Object.assign(counted, { window, count: 0, previous });
    }
    const created = { window, count: 0, previous: 0 };
    callers.set(caller, created);
    if (callers.size > CALLERS_MAX) callers.delete(callers.keys().next().value as string);
    return created;
  }

  function addPending(caller: string, window: number, cost: number): void {
    const name = buildPendingKey(caller, window);
    const pending = pendingCounts.get(name);
    if (pending) pending.spent += cost;
    else if (pendingCounts.size < CALLERS_MAX) pendingCounts.set(name, { caller, window, spent: cost });
    scheduleSync();
  }

  function scheduleSync(): void {
    if (timer || exchanging) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        void sync();
      },
      isDown ? RETRY_MS : EXCHANGE_MS,
    ).unref();
  }

  function sync(): Promise<void> {
    exchanging ??= syncAll().finally(() => {
      exchanging = undefined;
      if (pendingCounts.size && !pool.ending) scheduleSync();
    });
    return exchanging;
  }

  async function syncAll(): Promise<void> {
    const sent = [...pendingCounts.values()];
    pendingCounts = new Map();
    try {
      // The older window first, and never two of one caller in one statement.
      for (const window of [...new Set(sent.map((one) => one.window))].sort((a, b) => a - b)) {
        // Bounded: three windows: older ones are dropped below.
        const windowCounts = sent.filter((one) => one.window === window && one.spent);
        for (let first = 0; first < windowCounts.length; first += CALLERS_PER_STATEMENT) {
          await syncBatch(windowCounts.slice(first, first + CALLERS_PER_STATEMENT));
        }
      }
      await sweep();
      if (isDown) log.info('replicas share rate limits again');
      isDown = false;
    } catch (err) {
      if (pool.ending) return;
      if (!isDown) log.warn({ err }, 'each replica enforces rate limits on its own');
      isDown = true;
      const oldestWindow = getWindow(now()) - 1;
      for (const { caller, window, spent } of sent)
        if (spent && window >= oldestWindow) addPending(caller, window, spent);
    }
  }

  async function syncBatch(batch: PendingCount[]): Promise<void> {
    const { rows } = await pool.query<RateCountRow>(ADD_COUNTS, [
      batch.map((one) => one.caller),
      batch.map((one) => one.window),
      batch.map((one) => one.spent),
    ]);
    for (const one of batch) one.spent = 0;
    for (const { caller, window_number, count, previous } of rows) {
      const counted = callers.get(caller);
      if (counted?.window !== window_number) continue;
      counted.count = count + (pendingCounts.get(buildPendingKey(caller, window_number))?.spent ?? 0);
      counted.previous = previous;
    }
  }

  /** Deletes old windows. Any replica may call it at any time. */
  async function sweep(): Promise<void> {
    const at = now();
    if (at < sweepAt) return;
    sweepAt = at + SWEEP_MS;
    const window = getWindow(at);
    for (const [caller, counted] of callers) if (counted.window < window - 1) callers.delete(caller);
    await pool.query('DELETE FROM rate_counts WHERE window_number < $1', [window - 1]);
  }

  function computeBudget(counted: CallerCount, limit: number, at: number): Omit<BudgetState, 'allowed'> {
    const fraction = (at % WINDOW_MS) / WINDOW_MS;
    const used = counted.count + counted.previous * (1 - fraction);
    const remaining = Math.max(0, Math.floor(limit - used + ROUNDING_TOLERANCE));
    return { remaining, waitMs: remaining ? (1 - fraction) * WINDOW_MS : computeWaitMs(counted, limit, fraction) };
  }

  return {
    /** Spends one of `limit` requests per minute, if one is left. */
    spend(caller: string, limit: number): BudgetState {
      const at = now();
      const counted = getCallerCount(caller, getWindow(at));
      const allowed = computeBudget(counted, limit, at).remaining > 0;
      if (allowed) {
        counted.count++;
        addPending(caller, counted.window, 1);
      }
      return { allowed, ...computeBudget(counted, limit, at) };
    },
    /** Returns the result of `spend` without spending. */
    peek(caller: string, limit: number): BudgetState {
      const at = now();
      const known = callers.get(caller);
      // Looking does not track a caller.
      const counted = known ? getCallerCount(caller, getWindow(at)) : EMPTY_COUNT;
      const budget = computeBudget(counted, limit, at);
      return { allowed: budget.remaining > 0, ...budget };
    },
    /** Exchanges counts now, for tests; otherwise a timer does. */
    exchange: sync,
  };
}

const EMPTY_COUNT: CallerCount = { window: 0, count: 0, previous: 0 };

const getWindow = (at: number): number => Math.floor(at / WINDOW_MS);

/** Returns the milliseconds until the counted share of the past allows one more request. */
function computeWaitMs({ count, previous }: CallerCount, limit: number, fraction: number): number {
  if (count + 1 <= limit) return Math.max(0, 1 - (limit - 1 - count) / previous - fraction) * WINDOW_MS;
  return (1 - fraction + Math.max(0, 1 - (limit - 1) / count)) * WINDOW_MS;
}

/** Ordered by caller, so that two replicas never deadlock. */
const ADD_COUNTS = `
  INSERT INTO rate_counts AS known (caller, window_number, count, previous)
  SELECT caller, window_number, spent, 0
    FROM unnest($1::text[], $2::int[], $3::int[]) AS told (caller, window_number, spent) ORDER BY caller
  ON CONFLICT (caller) DO UPDATE SET
    count = CASE WHEN excluded.window_number > known.window_number THEN excluded.count
                 WHEN excluded.window_number = known.window_number THEN known.count + excluded.count
                 ELSE known.count END,
    previous = CASE WHEN excluded.window_number = known.window_number THEN known.previous
                    WHEN excluded.window_number = known.window_number - 1 THEN known.previous + excluded.count
                    WHEN excluded.window_number < known.window_number THEN known.previous
                    WHEN excluded.window_number = known.window_number + 1 THEN known.count ELSE 0 END,
    window_number = greatest(known.window_number, excluded.window_number)
  RETURNING caller, window_number, count, previous`;
