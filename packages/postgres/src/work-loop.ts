/**
 * Works on items in tables, on every replica. All that has to be done is read from the tables, so that any replica does
 * it, and continues what another one left: the loop looks there twice a second while there is work, and sooner when it
 * is kicked.
 */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { pollForWork } from './poll-for-work';

/** Kicks within this time are coalesced. */
const KICK_DELAY_MS = 20;

interface WorkLoopOptions<Item> {
  pool: Pool;
  log: Pick<Logger, 'warn'>;
  /** Name of the work, for the log. */
  what: string;
  /** SQL expression: see `pollForWork`. */
  dueAt: string;
  /** False: only explicit calls of `tick()` start work. */
  auto: boolean;
  /** Concurrent items on one replica. */
  capacity: number;
  /** Does what takes no lease; returns between two items once the signal is aborted. */
  advance?: (signal: AbortSignal) => Promise<void>;
  /** Claims items that this replica works on under a lease. */
  claim: (limit: number, signal: AbortSignal) => Promise<Item[]>;
  /** Works on one item, and never rejects. */
  work: (item: Item, signal: AbortSignal) => Promise<void>;
}

export type WorkLoop = ReturnType<typeof startWorkLoop>;

export function startWorkLoop<Item>(options: WorkLoopOptions<Item>) {
  const { pool, log, what, dueAt, auto, capacity, advance, claim, work } = options;
  const ending = new AbortController();
  const inFlight = new Set<Promise<void>>();
  let round: Promise<void> | null = null;
  let again = false;
  let kicked: NodeJS.Timeout | undefined;

  /** One round at a time; a request during a round starts another one after it. */
  function wake(): Promise<void> {
    again = true;
    round ??= runUntilIdle().finally(() => {
      round = null;
    });
    return round;
  }

  async function runUntilIdle() {
    while (again && !ending.signal.aborted) {
      again = false;
      await runOnce().catch((err) => log.warn({ err }, `${what}: will try again`));
    }
  }

  async function runOnce() {
    await advance?.(ending.signal);
    const room = ending.signal.aborted ? 0 : capacity - inFlight.size;
    for (const item of room > 0 ? await claim(room, ending.signal) : []) start(item);
  }

  function start(item: Item) {
    const working = work(item, ending.signal).finally(() => {
      inFlight.delete(working);
      void wake();
    });
    inFlight.add(working);
  }

  const waitUntilIdle = async () => {
    while (round || inFlight.size) await Promise.all([round, ...inFlight]);
  };
  const polling = auto ? pollForWork({ pool, dueAt, work: wake, what, log }) : undefined;

  return {
    /** Advances and claims what can be now. */
    tick: wake,
    /** Requests a round soon instead of at the next poll. */
    kick: () => {
      if (!auto || ending.signal.aborted || kicked) return;
      kicked = setTimeout(() => {
        kicked = undefined;
        void wake();
      }, KICK_DELAY_MS).unref();
    },
    /** Resolves once nothing is worked on here. */
    waitUntilIdle,
    /** Aborts the work, which other replicas continue. */
    stop: async () => {
      ending.abort();
      clearTimeout(kicked);
      await polling?.stop();
      await waitUntilIdle();
    },
  };
}
