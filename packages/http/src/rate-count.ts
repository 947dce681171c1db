/**
 * Requests that each caller has spent, counted here and shared with the other replicas through PostgreSQL.
 *
 * A request costs a look into a map and nothing else. What was counted is told in one statement every EXCHANGE_MS, and
 * the answer says what all replicas together have counted. So a caller who spreads a burst over n replicas may spend up
 * to n budgets within the first EXCHANGE_MS; that is counted too, and paid back before anything more is let through.
 * Without PostgreSQL each replica counts for itself: a limit is never the reason for an outage.
 *
 * The budget slides: of the minute before counts what a window of 60 seconds still covers, as if it had been spent
 * evenly. What was refused is not counted, so somebody who keeps asking gets in as soon as somebody who waits.
 */
import type { Pool } from 'pg';
import type { Logger } from 'pino';

export const WINDOW_MS = 60_000;
export const EXCHANGE_MS = 200;
const RETRY_MS = 2_000;
const SWEEP_MS = 600_000;
/** Number of callers remembered at a time, about 200 bytes each; the one counted first is dropped first. */
const CALLERS_MAX = 50_000;
const CALLERS_PER_STATEMENT = 1_000;
/** Parts of a request that are an error of floating point, so that a caller who waited as told is not refused. */
const ROUNDING = 1e-6;

export interface Spent {
  allowed: boolean;
  /** Whole requests that may follow at once. */
  remaining: number;
  /** Until one more would be let through; until the window ends where that is now. */
  waitMs: number;
}

export type RateCount = ReturnType<typeof createRateCount>;

/** Windows are numbered from the epoch, so that all replicas cut time at the same places. */
interface Counted {
  window: number;
  /** Requests in this window, by all replicas, as far as known. */
  count: number;
  previous: number;
}

/** Spent here in that window, and not told yet. */
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
        // Bounded: three windows: older ones are forgotten below.
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

  /** Any replica may do it at any time. */
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
    /** Spends one of `limit` per minute, unless that is more than there is. */
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
    /** The answer of `spend`, without spending. */
    look(caller: string, limit: number): Spent {
      const at = now();
      const known = callers.get(caller);
      // A caller who never spent anything is not remembered for asking.
      const counted = known ? countedFor(caller, windowAt(at)) : NOTHING;
      const stands = standing(counted, limit, at);
      return { allowed: stands.remaining > 0, ...stands };
    },
    /** Tells and asks now. Tests use it; otherwise it happens by itself. */
    exchange,
  };
}

const NOTHING: Counted = { window: 0, count: 0, previous: 0 };

const windowAt = (at: number): number => Math.floor(at / WINDOW_MS);

/** Milliseconds until the part of the past that still counts is small enough for one more. */
function waitFor({ count, previous }: Counted, limit: number, fraction: number): number {
  if (count + 1 <= limit) return Math.max(0, 1 - (limit - 1 - count) / previous - fraction) * WINDOW_MS;
  return (1 - fraction + Math.max(0, 1 - (limit - 1) / count)) * WINDOW_MS;
}

/** In the order of callers, so that two replicas never wait for each other. */
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
