/**
 * Issues tokens that prove that an executor was assigned an attempt; it sends them with its reports.
 *
 * A token is given with the job, which only its executor can open, and comes back with every event, step, artifact and
 * renewal. It is the HMAC of its assignment, so that it needs no table, any replica can check it, and a late event of
 * an earlier attempt still has the right one. Keys that are no longer current count as long as the ring has them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RunSource } from '@gantry/events';

export interface TokenKeys {
  /** Version of the key that signs new tokens. */
  current: string;
  keys: ReadonlyMap<string, Buffer>;
}

export interface RunAssignment {
  runId: string;
  attempt: number;
  executorId: string;
}

export type RunTokens = ReturnType<typeof createRunTokens>;

const TOKEN_BYTES = 16;

/** Reply to an executor without a valid token of the current attempt. */
export const NOT_HELD = { refused: 'this run is not held by this executor' };

export function createRunTokens(source: RunSource, { current, keys }: TokenKeys) {
  const currentKey = keys.get(current);
  if (!currentKey) throw new Error(`there is no run token key ${current}`);
  const sign = (key: Buffer, { runId, attempt, executorId }: RunAssignment): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([source, runId, attempt, executorId]))
      .digest()
      .subarray(0, TOKEN_BYTES);
  return {
    issue: (assignment: RunAssignment): string => sign(currentKey, assignment).toString('base64url'),
    /** Runs in constant time for tokens of the right length. */
    isValid({ token, ...assignment }: RunAssignment & { token: string }): boolean {
      const tokenBytes = Buffer.from(token, 'base64url');
      if (tokenBytes.length !== TOKEN_BYTES) return false;
      // Every key is tried, so that the time does not reveal which one matched.
      let isKnown = false;
      for (const key of keys.values()) isKnown = timingSafeEqual(sign(key, assignment), tokenBytes) || isKnown;
      return isKnown;
    },
  };
}
