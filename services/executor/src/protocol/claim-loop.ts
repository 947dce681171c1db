/**
 * Asking services for work.
 *
 * For each source as many claims are outstanding as there are free slots; a service may hold a claim unanswered until
 * there is work. A run takes a slot and uses up one claim of its source, so nothing is left to do for that source; the
 * others then have a claim too many. It is withdrawn only if the slot stays taken for a while: most runs end before that,
 * and then nothing had to be said. A job that arrives on such a claim meanwhile waits here shortly, and else goes back.
 *
 * A claim that nobody hears can't be told from one that is held. So a source is first asked something that is answered at
 * once, and again whenever a claim was not held for its time: servers before 2.10 do not say across accounts that nobody is
 * there.
 */
import {
  type BoxKeys,
  type Bus,
  CLAIM_HOLD_MS,
  type ClaimRequest,
  createOpener,
  encode,
  type Job,
  type LeaseRenewal,
  newId,
  openJob,
  type RunSource,
  runSubjects,
} from '@gantry/events';
import { ErrorCode, type NatsError } from 'nats';
import type { Logger } from 'pino';

/** An answer that comes sooner, and brings no job, is that of a replica that stops. */
const HELD_MS = CLAIM_HOLD_MS - 1_000;
const PROBE_MS = 500;
/** A reply that takes longer than the service may hold a claim is not coming. */
const REPLY_MARGIN_MS = 2_000;
/** Slots that free up all the time would otherwise be asked for and withdrawn with each short run (6 % of its CPU). */
const WITHDRAW_AFTER_MS = 150;
const LOCAL_WAIT_MS = 1_000;
/** With nobody to answer, or an answer that makes no sense. */
const BACK_OFF_MS = { least: 500, most: 2_000 };

export interface ClaimLoop {
  /** Slots in use, jobs that wait here for one included. */
  busy(): number;
  start(): void;
  /** No new claims, the outstanding ones withdrawn; resolves when no job can arrive any more. */
  stop(): Promise<void>;
}

interface SourceClaims {
  source: RunSource;
  /** Wanted ones; a withdrawn claim leaves this set but may still bring a job. */
  standing: Set<string>;
  unanswered: number;
  /** Somebody has answered there lately. */
  open: boolean;
  probing: boolean;
  backOffUntil: number;
}

export function createClaimLoop(options: {
  bus: Bus;
  sources: RunSource[];
  slots: number;
  executorId: string;
  /** Those that this executor has. */
  runners: string[];
  /** Jobs are sealed to it. */
  keys: BoxKeys;
  log: Logger;
  /** Whether runs may be started at all at present. */
  mayClaim(): boolean;
  /** Starts a job in a free slot; calls release() once, when the slot is free again. */
  startJob(job: Job, release: () => void): void;
  /** Sends a job back to the queue. */
  returnJob(job: Job): void;
  onChange(): void;
}): ClaimLoop {
  const { bus, executorId, slots, runners } = options;
  const { publicKey, privateKey } = options.keys;
  const open = createOpener(privateKey);
  const claims = options.sources.map<SourceClaims>((source) => ({
    source,
    standing: new Set(),
    unanswered: 0,
    open: false,
    probing: false,
    backOffUntil: 0,
  }));
  const waiting: { job: Job; timer: NodeJS.Timeout }[] = [];
  let busy = 0;
  let running = false;
  let withdrawTimer: NodeJS.Timeout | undefined;
  let retryTimer: NodeJS.Timeout | undefined;

  const wanted = () => (running && options.mayClaim() ? Math.max(0, slots - busy - waiting.length) : 0);

  function fill() {
    const now = Date.now();
    for (const claim of claims) {
      if (claim.backOffUntil > now) continue;
      if (!claim.open && wanted()) void probe(claim);
      while (claim.open && claim.standing.size < wanted()) void ask(claim);
    }
    if (claims.some((claim) => claim.standing.size > wanted()))
      withdrawTimer ??= setTimeout(withdrawExcess, WITHDRAW_AFTER_MS);
    if (running) retryTimer ??= setTimeout(retry, BACK_OFF_MS.least);
  }

  /** For sources that are backing off, and for a time when nothing may be claimed. */
  function retry() {
    retryTimer = undefined;
    fill();
  }

  function withdrawExcess() {
    withdrawTimer = undefined;
    for (const claim of claims) {
      for (const claimId of claim.standing) {
        if (claim.standing.size <= wanted()) break;
        claim.standing.delete(claimId);
        bus.nc.publish(runSubjects.withdraw(claim.source, executorId), encode({ claimId }));
      }
    }
  }

  /** Renews no lease at all. */
  async function probe(claim: SourceClaims) {
    if (claim.probing) return;
    claim.probing = true;
    const nothing: LeaseRenewal = { runs: [] };
    try {
      await bus.nc.request(runSubjects.lease(claim.source, executorId), encode(nothing), { timeout: PROBE_MS });
      claim.open = true;
    } catch (err) {
      backOff(claim, err as NatsError);
    }
    claim.probing = false;
    fill();
  }

  /** Nobody answers such a question now: one message for all of them, not one for each. */
  function backOff(claim: SourceClaims, err: NatsError) {
    claim.open = false;
    if (err.code === ErrorCode.Timeout) return;
    claim.backOffUntil = Date.now() + BACK_OFF_MS.least + Math.random() * (BACK_OFF_MS.most - BACK_OFF_MS.least);
    if (err.code !== ErrorCode.NoResponders) options.log.warn({ err, source: claim.source }, 'claim failed');
  }

  async function ask(claim: SourceClaims) {
    const claimId = newId('clm_');
    const request: ClaimRequest = { claimId, publicKey, runners };
    const asked = Date.now();
    claim.standing.add(claimId);
    claim.unanswered++;
    try {
      const timeout = CLAIM_HOLD_MS + REPLY_MARGIN_MS;
      const subject = runSubjects.claim(claim.source, executorId);
      const reply = await bus.nc.request(subject, encode(request), { timeout });
      const withdrawn = !claim.standing.delete(claimId);
      const job = openJob(open, { executorId, claimId }, reply.data);
      if (job) accept(job);
      else if (!withdrawn && Date.now() - asked < HELD_MS) claim.open = false;
    } catch (err) {
      // One that was withdrawn is not answered.
      if (claim.standing.delete(claimId) || (err as NatsError).code !== ErrorCode.Timeout) {
        backOff(claim, err as NatsError);
      }
    } finally {
      claim.unanswered--;
      fill();
    }
  }

  function accept(job: Job) {
    if (!running) return options.returnJob(job);
    if (busy < slots) return begin(job);
    const entry = {
      job,
      timer: setTimeout(() => {
        waiting.splice(waiting.indexOf(entry), 1);
        options.returnJob(job);
      }, LOCAL_WAIT_MS),
    };
    waiting.push(entry);
  }

  function begin(job: Job) {
    busy++;
    options.startJob(job, () => {
      busy--;
      const next = waiting.shift();
      if (next) {
        clearTimeout(next.timer);
        begin(next.job);
      }
      fill();
      options.onChange();
    });
    options.onChange();
  }

  return {
    busy: () => busy + waiting.length,
    start() {
      running = true;
      fill();
    },
    async stop() {
      running = false;
      clearTimeout(retryTimer);
      clearTimeout(withdrawTimer);
      withdrawExcess();
      for (const { job, timer } of waiting.splice(0)) {
        clearTimeout(timer);
        options.returnJob(job);
      }
      const deadline = Date.now() + LOCAL_WAIT_MS;
      while (claims.some((claim) => claim.unanswered > 0) && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}
