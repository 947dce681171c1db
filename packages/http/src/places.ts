/**
 * Limits concurrency per credential, per address, and in total. Each replica counts for itself, since the limits
 * protect the memory and connections of one process.
 */
import type { Request } from 'express';
import { AppError, unavailable } from './errors';
import { addressOf, credentialOf } from './rate-limit';

export interface PlaceLimits {
  perCredential: number;
  perAddress: number;
  total?: number;
}

export type Places = ReturnType<typeof places>;

const RETRY_AFTER_SECONDS = 5;

/** @param what the limited things, in the plural */
export function places(what: string, { perCredential, perAddress, total = Number.POSITIVE_INFINITY }: PlaceLimits) {
  const taken = new Map<string, number>();
  let all = 0;

  const isFull = (who: string, most: number) => (taken.get(who) ?? 0) >= most;

  function change(who: string, by: 1 | -1) {
    const count = (taken.get(who) ?? 0) + by;
    if (count) taken.set(who, count);
    else taken.delete(who);
  }

  return {
    /**
     * @param credential that the slot counts for; default: the request's credential
     * @returns a function that releases the slot; idempotent
     * @throws AppError 429 if the caller has reached its limit, 503 if all slots are taken
     */
    take(req: Request, credential = credentialOf(req)): () => void {
      const address = addressOf(req);
      if (credential && isFull(credential, perCredential)) throw tooMany(what, perCredential, 'this credential');
      if (isFull(address, perAddress)) throw tooMany(what, perAddress, 'your address');
      if (all >= total) throw unavailable(`room for more ${what}`);
      const holders = credential ? [credential, address] : [address];
      all++;
      for (const who of holders) change(who, 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        all--;
        for (const who of holders) change(who, -1);
      };
    },
  };
}

function tooMany(what: string, most: number, whose: string): AppError {
  const detail = `${whose} has ${most} ${what} open, which is as many as it may; end one of them or try again later`;
  return new AppError('rate_limited', 'too_many_open', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
