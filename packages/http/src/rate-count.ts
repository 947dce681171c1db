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
const ROUNDING = 1e-6;

export interface Spent {
  allowed: boolean;
  /** Requests that are allowed at once. */
  remaining: number;
  /** Time until one more is allowed, or until the window ends if one is allowed now. */
  waitMs: number;
}

export type RateCount = ReturnType<typeof createRateCount>;

/** Windows are numbered from the epoch, so that all replicas share their borders. */
interface Counted {
  window: number;
  /** Requests in this window, by all replicas, as far as known. */
  count: number;
  previous: number;
}

/** Requests in that window that are not yet shared. */
interface Untold {
  caller: string;
  window: number;
  spent: number;
}

interface Known {
  caller: string;
  window_number: number;
  count: number;
  previous: number;
}

const nameOf = (caller: string, window: number): string => `${window} ${caller}`;

export function createRateCount(options: { pool: Pool; log: Logger; now?: () => number }) {
  const { pool, log, now = Date.now } = options;
  const callers = new Map<string, Counted>();
  let untold = new Map<string, Untold>();
  let timer: NodeJS.Timeout | undefined;
  let exchanging: Promise<void> | undefined;
  let away = false;
  let sweepAt = 0;

  function countedFor(caller: string, window: number): Counted {
    const counted = callers.get(caller);
    if (counted?.window === window) return counted;
    if (counted) {
      const previous = counted.window === window - 1 ? counted.count : 0;
      return Object.assign(counted, { window, count: 0, previous });
    }
    const made = { window, count: 0, previous: 0 };
    callers.set(caller, made);
    if (callers.size > CALLERS_MAX) callers.delete(callers.keys().next().value as string);
    return made;
  }

  function note(caller: string, window: number, spent: number): void {
    const name = nameOf(caller, window);
    const noted = untold.get(name);
    if (noted) noted.spent += spent;
    else if (untold.size < CALLERS_MAX) untold.set(name, { caller, window, spent });
    soon();
  }

  function soon(): void {
    if (timer || exchanging) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        void exchange();
      },
      away ? RETRY_MS : EXCHANGE_MS,
    ).unref();
  }

  function exchange(): Promise<void> {
    exchanging ??= tellAll().finally(() => {
      exchanging = undefined;
      if (untold.size && !pool.ending) soon();
    });
    return exchanging;
  }

  async function tellAll(): Promise<void> {
    const telling = [...untold.values()];
    untold = new Map();
    try {
      // The older window first, and never two of one caller in one statement.
      for (const window of [...new Set(telling.map((one) => one.window))].sort((a, b) => a - b)) {
        // Bounded: three windows: older ones are dropped below.
        const ofWindow = telling.filter((one) => one.window === window && one.spent);
        for (let first = 0; first < ofWindow.length; first += CALLERS_PER_STATEMENT) {
          await tell(ofWindow.slice(first, first + CALLERS_PER_STATEMENT));
        }
      }
      await sweep();
      if (away) log.info('rate limits are shared again');
      away = false;
    } catch (err) {
      if (pool.ending) return;
      if (!away) log.warn({ err }, 'rate limits are counted by each replica for itself');
      away = true;
      const stillCounts = windowAt(now()) - 1;
      for (const { caller, window, spent } of telling) if (spent && window >= stillCounts) note(caller, window, spent);
    }
  }

  async function tell(told: Untold[]): Promise<void> {
    const { rows } = await pool.query<Known>(COUNT_TOGETHER, [
      told.map((one) => one.caller),
      told.map((one) => one.window),
      told.map((one) => one.spent),
    ]);
    for (const one of told) one.spent = 0;
    for (const { caller, window_number, count, previous } of rows) {
      const counted = callers.get(caller);
      if (counted?.window !== window_number) continue;
      counted.count = count + (untold.get(nameOf(caller, window_number))?.spent ?? 0);
      counted.previous = previous;
    }
  }

  /** Deletes old windows. Any replica may call it at any time. */
  async function sweep(): Promise<void> {
    const at = now();
    if (at < sweepAt) return;
    sweepAt = at + SWEEP_MS;
    const window = windowAt(at);
    for (const [caller, counted] of callers) if (counted.window < window - 1) callers.delete(caller);
    await pool.query('DELETE FROM rate_counts WHERE window_number < $1', [window - 1]);
  }

  function standing(counted: Counted, limit: number, at: number): Omit<Spent, 'allowed'> {
    const fraction = (at % WINDOW_MS) / WINDOW_MS;
    const used = counted.count + counted.previous * (1 - fraction);
    const remaining = Math.max(0, Math.floor(limit - used + ROUNDING));
    return { remaining, waitMs: remaining ? (1 - fraction) * WINDOW_MS : waitFor(counted, limit, fraction) };
  }

  return {
    /** Spends one of `limit` requests per minute, if one is left. */
    spend(caller: string, limit: number): Spent {
      const at = now();
      const counted = countedFor(caller, windowAt(at));
      const allowed = standing(counted, limit, at).remaining > 0;
      if (allowed) {
        counted.count++;
        note(caller, counted.window, 1);
      }
      return { allowed, ...standing(counted, limit, at) };
    },
    /** Returns the result of `spend` without spending. */
    look(caller: string, limit: number): Spent {
      const at = now();
      const known = callers.get(caller);
      // Looking does not track a caller.
      const counted = known ? countedFor(caller, windowAt(at)) : NOTHING;
      const stands = standing(counted, limit, at);
      return { allowed: stands.remaining > 0, ...stands };
    },
    /** Exchanges counts now, for tests; otherwise a timer does. */
    exchange,
  };
}

const NOTHING: Counted = { window: 0, count: 0, previous: 0 };

const windowAt = (at: number): number => Math.floor(at / WINDOW_MS);

/** Returns the milliseconds until the counted share of the past allows one more request. */
function waitFor({ count, previous }: Counted, limit: number, fraction: number): number {
  if (count + 1 <= limit) return Math.max(0, 1 - (limit - 1 - count) / previous - fraction) * WINDOW_MS;
  return (1 - fraction + Math.max(0, 1 - (limit - 1) / count)) * WINDOW_MS;
}

/** Ordered by caller, so that two replicas never deadlock. */
const COUNT_TOGETHER = `
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
