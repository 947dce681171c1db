/**
 * Executors that wait for work: their unanswered requests, oldest first.
 *
 * A standing claim is answered once: with a job, or with "nothing" before its asker gives up. One that is answered with a
 * job just as its executor dies leaves a lease that runs out; nothing is lost.
 */
import {
  type Bus,
  CLAIM_HOLD_MS,
  type Claimant,
  claimRequest,
  claimWithdrawal,
  executorOf,
  listen,
  NOTHING_TO_DO,
  type RunSource,
  runSubjects,
} from '@gantry/events';
import type { Logger } from 'pino';

export interface Claim extends Claimant {
  /** With a sealed job. */
  answer: (box: Uint8Array) => void;
  expiresAt: number;
}

const SWEEP_MS = 250;
/** A claim that is about to expire is not worth a commit. */
const MARGIN_MS = 300;

export function openClaimQueue(bus: Bus, source: RunSource, log: Logger, onClaim: () => void) {
  let claims: Claim[] = [];
  const release = (claim: Claim) => claim.answer(NOTHING_TO_DO);

  const subscriptions = [
    listen(
      bus,
      runSubjects.claim(source, '*'),
      claimRequest,
      (request, message) => {
        claims.push({
          ...request,
          executorId: executorOf(message.subject),
          answer: (box) => void message.respond(box),
          expiresAt: Date.now() + CLAIM_HOLD_MS,
        });
        onClaim();
      },
      { queue: 'claims', log },
    ),
    listen(
      bus,
      runSubjects.withdraw(source, '*'),
      claimWithdrawal,
      ({ claimId }, { subject }) => {
        const executorId = executorOf(subject);
        claims = claims.filter((claim) => claim.claimId !== claimId || claim.executorId !== executorId);
      },
      { log },
    ),
  ];
  const sweep = setInterval(() => {
    const now = Date.now();
    const [expired, open] = [claims.filter((c) => c.expiresAt <= now), claims.filter((c) => c.expiresAt > now)];
    claims = open;
    expired.forEach(release);
  }, SWEEP_MS);

  /** The oldest of these, without those that expire. */
  function takeFirst(which: (claim: Claim) => boolean): Claim | undefined {
    // Bounded: claims of executors, one for each of their free slots; each is taken out once.
    for (let at = claims.findIndex(which); at >= 0; at = claims.findIndex(which)) {
      // Bounded: the same claims.
      const [claim] = claims.splice(at, 1);
      if (claim && claim.expiresAt > Date.now() + MARGIN_MS) return claim;
      if (claim) release(claim);
    }
    return undefined;
  }

  return {
    get size() {
      return claims.length;
    },
    /** Whether a claim stands that takes a runner of which this holds. */
    some: (which: (runner: string) => boolean): boolean => claims.some(({ runners }) => runners.some(which)),
    /** The oldest claim that takes this runner, taken out of the queue; put it back if it is not used. */
    take: (runner: string): Claim | undefined => takeFirst(({ runners }) => runners.includes(runner)),
    /** All of them in the same way, oldest first. */
    takeAll: (): Claim[] => {
      const taken: Claim[] = [];
      for (let claim = takeFirst(() => true); claim; claim = takeFirst(() => true)) taken.push(claim);
      return taken;
    },
    putBack: (claim: Claim) => {
      if (claim.expiresAt > Date.now()) claims.unshift(claim);
      else release(claim);
    },
    /** Answers all with "nothing" and takes no more: their executors turn to another replica. */
    close: () => {
      clearInterval(sweep);
      for (const subscription of subscriptions) subscription.unsubscribe();
      claims.splice(0).forEach(release);
    },
  };
}
