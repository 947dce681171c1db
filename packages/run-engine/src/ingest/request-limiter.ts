/**
 * Limits the stored requests of an attempt. Executors stop at REQUESTS_MAX themselves; requests that an attacker
 * reports beyond it are not stored. Their numbers stay unused: readers of that run's stream wait there as for any lost
 * event.
 *
 * The first REQUESTS_MAX events of an attempt cannot exceed the limit, so they are all stored, and for nearly every run
 * nothing is counted. For later ones a replica counts the stored requests once per allocated share. So replicas that
 * write the same attempt may each store a share too many, and an attacker that sends its first events last twice as
 * many.
 */
import { REQUESTS_MAX, type RunEvent, type RunEventBatch } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import type { Logger } from 'pino';
import { ATTEMPT_SPAN } from '../run-events';

const SHARE_SIZE = 500;
/** Attempts whose shares are remembered; an evicted one is counted again. */
const ATTEMPTS_MAX = 1_000;

/** Marks the share of an attempt that has reached the limit. */
const EXHAUSTED = -1;

export type RequestLimiter = ReturnType<typeof createRequestLimiter>;

export function createRequestLimiter(sql: Sql, log: Logger) {
  /** Rest of each attempt's share, the most recently written last. */
  const shares = new Map<string, number>();

  function setShare(key: string, remaining: number): void {
    shares.delete(key);
    shares.set(key, remaining);
    const [oldest] = shares.keys();
    if (shares.size > ATTEMPTS_MAX && oldest !== undefined) shares.delete(oldest);
  }

  async function allocateShare(
    { runId, attempt }: RunEventBatch,
    ahead: number,
    requestCount: number,
  ): Promise<number> {
    const left = REQUESTS_MAX - ahead - (await countRequests(sql, runId, attempt));
    if (left > 0) return Math.min(left, Math.max(SHARE_SIZE, requestCount));
    log.warn({ runId, attempt }, 'an executor reported more requests than allowed: dropping the rest');
    return EXHAUSTED;
  }

  /** @param ahead requests of the attempt in earlier batches that are not written yet */
  async function limitBatch(batch: RunEventBatch, ahead: number): Promise<RunEventBatch> {
    const requestCount = batch.events.filter(isBeyondFreeRange).length;
    if (!requestCount) return batch;
    const key = buildAttemptKey(batch);
    let share = shares.get(key) ?? 0;
    if (share !== EXHAUSTED && share < requestCount) {
      const uncounted = batch.events.filter(isRequest).length - requestCount;
      share = await allocateShare(batch, ahead + uncounted, requestCount);
    }
    const keptCount = Math.max(0, Math.min(share, requestCount));
    setShare(key, share === EXHAUSTED ? EXHAUSTED : share - keptCount);
    let room = keptCount;
    return { ...batch, events: batch.events.filter((event) => !isBeyondFreeRange(event) || room-- > 0) };
  }

  /** @returns the batches to write, without excess requests */
  return async function boundRequests(batches: RunEventBatch[]): Promise<RunEventBatch[]> {
    const ahead = new Map<string, number>();
    const kept: RunEventBatch[] = [];
    for (const batch of batches) {
      const key = buildAttemptKey(batch);
      const before = ahead.get(key) ?? 0;
      const left = await limitBatch(batch, before);
      ahead.set(key, before + left.events.filter(isRequest).length);
      kept.push(left);
    }
    return kept;
  };
}

const buildAttemptKey = ({ runId, attempt }: RunEventBatch): string => `${runId} ${attempt}`;

const isRequest = ({ type }: RunEvent): boolean => type === 'request';
const isBeyondFreeRange = (event: RunEvent): boolean => isRequest(event) && event.seq > REQUESTS_MAX;

async function countRequests(sql: Sql, runId: string, attempt: number): Promise<number> {
  const { rows } = await sql.query(
    `SELECT count(*)::int AS count FROM run_events WHERE run_id = $1 AND seq >= $2 AND seq < $3 AND type = 'request'`,
    [runId, attempt * ATTEMPT_SPAN, (attempt + 1) * ATTEMPT_SPAN],
  );
  return rows[0].count;
}
