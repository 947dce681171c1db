/**
 * Proof that an executor was handed this very attempt; it shows it to report on the run.
 *
 * A token is given with the job, which only its executor can open, and comes back with every event, step, artifact and
 * renewal. It is the HMAC of whom it was given to, so that it needs no table, any replica can check it, and a late event of
 * an earlier attempt still has the right one. Keys that are no longer current count as long as the ring has them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RunSource } from '@gantry/events';

export interface TokenKeys {
  /** Version that tokens are given with. */
  current: string;
  keys: ReadonlyMap<string, Buffer>;
}

export interface HandedOut {
  runId: string;
  attempt: number;
  executorId: string;
}

export type RunTokens = ReturnType<typeof createRunTokens>;

const TOKEN_BYTES = 16;

/** The answer to an executor that shows no token of the attempt, or one of an attempt that is over. */
export const NOT_HELD = { refused: 'this run is not held by this executor' };

export function createRunTokens(source: RunSource, { current, keys }: TokenKeys) {
  const currentKey = keys.get(current);
  if (!currentKey) throw new Error(`there is no key ${current} for run tokens`);
  const sign = (key: Buffer, { runId, attempt, executorId }: HandedOut): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([source, runId, attempt, executorId]))
      .digest()
      .subarray(0, TOKEN_BYTES);
  return {
    give: (to: HandedOut): string => sign(currentKey, to).toString('base64url'),
    /** Constant in time for tokens of the right length. */
    accepts({ token, ...claimed }: HandedOut & { token: string }): boolean {
      const given = Buffer.from(token, 'base64url');
      if (given.length !== TOKEN_BYTES) return false;
      // Every key is tried, so that the time does not tell which.
      let known = false;
      for (const key of keys.values()) known = timingSafeEqual(sign(key, claimed), given) || known;
      return known;
    },
  };
}
