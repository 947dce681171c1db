/**
 * Limits concurrency per credential, per address, and in total. Each replica counts for itself, since the limits
 * protect the memory and connections of one process.
 */

import { AppError, unavailable } from '@gantry/errors';
import type { Request } from 'express';
import { findCredentialKey, getAddressKey } from './rate-limit';

export interface SlotLimits {
  perCredential: number;
  perAddress: number;
  total?: number;
}

export type Slots = ReturnType<typeof createSlots>;

const RETRY_AFTER_SECONDS = 5;

/** @param what the limited things, in the plural */
export function createSlots(what: string, { perCredential, perAddress, total = Number.POSITIVE_INFINITY }: SlotLimits) {
  const counts = new Map<string, number>();
  let all = 0;

  const isFull = (holder: string, limit: number) => (counts.get(holder) ?? 0) >= limit;

  function changeCount(holder: string, by: 1 | -1) {
    const count = (counts.get(holder) ?? 0) + by;
    if (count) counts.set(holder, count);
    else counts.delete(holder);
  }

  return {
    /**
     * @param credential that the slot counts for; default: the request's credential
     * @returns a function that releases the slot; idempotent
     * @throws AppError 429 if the caller has reached its limit, 503 if all slots are taken
     */
    acquire(req: Request, credential = findCredentialKey(req)): () => void {
      const address = getAddressKey(req);
      if (credential && isFull(credential, perCredential)) throw tooManyError(what, perCredential, 'this credential');
      if (isFull(address, perAddress)) throw tooManyError(what, perAddress, 'your address');
      if (all >= total) throw unavailable(`capacity for more ${what}`);
      const holders = credential ? [credential, address] : [address];
      all++;
      for (const holder of holders) changeCount(holder, 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        all--;
        for (const holder of holders) changeCount(holder, -1);
      };
    },
  };
}

function tooManyError(what: string, limit: number, ownerLabel: string): AppError {
  const detail = `${ownerLabel} has reached the limit of ${limit} ${what} at a time; stop one of them, or try again later`;
  return new AppError('rate_limited', 'too_many_open', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
