/**
 * Queues the standing claims of executors, oldest first.
 *
 * A standing claim gets one reply: a job, or an empty one before its requester times out. If the executor dies just as
 * it gets a job, the lease expires; nothing is lost.
 */
import { getAlignedDelay } from '@gantry/env';
import {
  type Bus,
  CLAIM_HOLD_MS,
  CLAIM_HOLD_MS_MIN,
  type Claimant,
  claimRequest,
  claimWithdrawal,
  EMPTY_REPLY,
  listen,
  parseExecutorId,
  type RunSource,
  runSubjects,
} from '@gantry/events';
import type { Logger } from 'pino';

export interface Claim extends Claimant {
  /** Replies with a sealed job. */
  answer: (box: Uint8Array) => void;
  expiresAt: number;
}

/** A claim that is about to expire is not worth a commit: it is released early. */
const EXPIRY_MARGIN_MS = 300;

/** Claims of idle executors soon expire together, at multiples of CLAIM_HOLD_MS. */
const getHoldMs = () => Math.max(CLAIM_HOLD_MS_MIN + EXPIRY_MARGIN_MS, getAlignedDelay(CLAIM_HOLD_MS));

export function createClaimQueue(bus: Bus, source: RunSource, log: Logger, onClaim: () => void) {
  let claims: Claim[] = [];
  let releaseTimer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const release = (claim: Claim) => claim.answer(EMPTY_REPLY);

  const subscriptions = [
    listen(
      bus,
      runSubjects.claim(source, '*'),
      claimRequest,
      (request, message) => {
        claims.push({
          ...request,
          executorId: parseExecutorId(message.subject),
          answer: (box) => void message.respond(box),
          expiresAt: Date.now() + getHoldMs(),
        });
        scheduleRelease();
        onClaim();
      },
      { queue: 'claims', log },
    ),
    listen(
      bus,
      runSubjects.withdraw(source, '*'),
      claimWithdrawal,
      ({ claimId }, { subject }) => {
        const executorId = parseExecutorId(subject);
        claims = claims.filter((claim) => claim.claimId !== claimId || claim.executorId !== executorId);
      },
      { log },
    ),
  ];

  function scheduleRelease() {
    const firstAt = claims[0]?.expiresAt;
    if (firstAt !== undefined) releaseTimer ??= setTimeout(releaseExpired, firstAt - Date.now());
  }

  function releaseExpired() {
    releaseTimer = undefined;
    const now = Date.now();
    const [expired, open] = [claims.filter((c) => c.expiresAt <= now), claims.filter((c) => c.expiresAt > now)];
    claims = open;
    expired.forEach(release);
    scheduleRelease();
  }

  /** Takes the oldest matching claim, and releases those that expire. */
  function takeOldest(predicate: (claim: Claim) => boolean): Claim | undefined {
    // Bounded: claims of executors, one for each of their free slots; each is taken out once.
    for (let at = claims.findIndex(predicate); at >= 0; at = claims.findIndex(predicate)) {
      // Bounded: the same claims.
      const [claim] = claims.splice(at, 1);
      if (claim && claim.expiresAt > Date.now() + EXPIRY_MARGIN_MS) return claim;
      if (claim) release(claim);
    }
    return undefined;
  }

  return {
    get size() {
      return claims.length;
    },
    /** Returns whether a standing claim has a matching runner. */
    some: (predicate: (runner: string) => boolean): boolean => claims.some(({ runners }) => runners.some(predicate)),
    /** Removes the oldest claim for this runner from the queue; the caller puts it back if it is not used. */
    take: (runner: string): Claim | undefined => takeOldest(({ runners }) => runners.includes(runner)),
    /** Removes all claims, oldest first. */
    takeAll: (): Claim[] => {
      const taken: Claim[] = [];
      for (let claim = takeOldest(() => true); claim; claim = takeOldest(() => true)) taken.push(claim);
      return taken;
    },
    putBack: (claim: Claim) => {
      if (isClosed || claim.expiresAt <= Date.now()) return release(claim);
      claims.unshift(claim);
      scheduleRelease();
    },
    /** Releases all claims and accepts no more: their executors claim from another replica. */
    close: () => {
      isClosed = true;
      clearTimeout(releaseTimer);
      for (const subscription of subscriptions) subscription.unsubscribe();
      claims.splice(0).forEach(release);
    },
  };
}
