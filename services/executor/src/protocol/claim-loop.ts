/**
 * Claims work from services.
 *
 * Each source has as many outstanding claims as there are free slots; a service may hold a claim unanswered until
 * there is work. A run takes a slot and consumes one claim of its source, so the count for that source is right; the
 * others then have one claim too many. It is withdrawn only if the slot stays taken for a while: most runs end earlier,
 * which saves the message. A job that arrives on such a surplus claim waits here briefly, and is otherwise returned.
 *
 * A claim without a responder looks like one that is held. A source is therefore first sent a request that is answered
 * at once, and again whenever a claim was not held for its full time: servers before 2.10 do not report "no responders"
 * across accounts.
 */
import {
  type BoxKeys,
  type Bus,
  CLAIM_HOLD_MS,
  CLAIM_HOLD_MS_MIN,
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

const PROBE_MS = 500;
/** Beyond the hold time plus this margin, no reply will come. */
const REPLY_MARGIN_MS = 2_000;
/** Without this delay, frequently freed slots would be claimed and withdrawn with each short run (6 % of its CPU). */
const WITHDRAW_AFTER_MS = 150;
const LOCAL_WAIT_MS = 1_000;
/** After no responders, or an invalid reply. */
const BACK_OFF_MS = { least: 500, most: 2_000 };

export type ClaimLoop = ReturnType<typeof createClaimLoop>;

interface SourceClaims {
  source: RunSource;
  /** Outstanding claims; a withdrawn one leaves this set but may still receive a job. */
  standing: Set<string>;
  unanswered: number;
  /** The source has replied recently. */
  open: boolean;
  probing: boolean;
  backOffUntil: number;
}

export function createClaimLoop(options: {
  bus: Bus;
  sources: RunSource[];
  slots: number;
  executorId: string;
  /** The executor's runners. */
  runners: string[];
  /** Jobs are sealed to this key. */
  keys: BoxKeys;
  log: Logger;
  /** Returns whether runs may be started at present. */
  canClaim(): boolean;
  /** Returns whether reports wait for an acknowledgement: `canClaim` turns false when that takes long. */
  isReporting(): boolean;
  /** Starts a job in a free slot; calls release() once, when the slot is free again. */
  startJob(job: Job, release: () => void): void;
  /** Returns a job to the queue. */
  returnJob(job: Job): void;
  onChange(): void;
}) {
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

  const countNeededClaims = () => (running && options.canClaim() ? Math.max(0, slots - busy - waiting.length) : 0);

  function fillClaims() {
    const now = Date.now();
    for (const claim of claims) {
      if (claim.backOffUntil > now) continue;
      if (!claim.open && countNeededClaims()) void probe(claim);
      while (claim.open && claim.standing.size < countNeededClaims()) void claimJob(claim);
    }
    if (claims.some((claim) => claim.standing.size > countNeededClaims()))
      withdrawTimer ??= setTimeout(withdrawExcessClaims, WITHDRAW_AFTER_MS);
    if (running && !isSettled()) retryTimer ??= setTimeout(retry, BACK_OFF_MS.least);
  }

  /** Returns whether every needed claim stands, and only a reply can change which are needed. */
  const isSettled = () =>
    busy === 0 &&
    options.canClaim() &&
    !options.isReporting() &&
    claims.every((claim) => claim.open && claim.standing.size >= countNeededClaims());

  /** Retries sources that are backing off, and claims that were not allowed. */
  function retry() {
    retryTimer = undefined;
    fillClaims();
  }

  function withdrawExcessClaims() {
    withdrawTimer = undefined;
    for (const claim of claims) {
      for (const claimId of claim.standing) {
        if (claim.standing.size <= countNeededClaims()) break;
        claim.standing.delete(claimId);
        bus.nc.publish(runSubjects.withdraw(claim.source, executorId), encode({ claimId }));
      }
    }
  }

  /** Sends a renewal without any leases as a probe. */
  async function probe(claim: SourceClaims) {
    if (claim.probing) return;
    claim.probing = true;
    const nothing: LeaseRenewal = { runs: [] };
    try {
      await bus.request(runSubjects.lease(claim.source, executorId), encode(nothing), PROBE_MS);
      claim.open = true;
    } catch (err) {
      backOff(claim, err as NatsError);
    }
    claim.probing = false;
    fillClaims();
  }

  /** Backs off: until a reply arrives, a single probe is sent instead of every claim. */
  function backOff(claim: SourceClaims, err: NatsError) {
    claim.open = false;
    if (err.code === ErrorCode.Timeout) return;
    claim.backOffUntil = Date.now() + BACK_OFF_MS.least + Math.random() * (BACK_OFF_MS.most - BACK_OFF_MS.least);
    if (running && err.code !== ErrorCode.NoResponders) options.log.warn({ err, source: claim.source }, 'claim failed');
  }

  async function claimJob(claim: SourceClaims) {
    const claimId = newId('clm_');
    const request: ClaimRequest = { claimId, publicKey, runners };
    const requestedAt = Date.now();
    claim.standing.add(claimId);
    claim.unanswered++;
    try {
      const timeout = CLAIM_HOLD_MS + REPLY_MARGIN_MS;
      const subject = runSubjects.claim(claim.source, executorId);
      const reply = await bus.request(subject, encode(request), timeout);
      const withdrawn = !claim.standing.delete(claimId);
      const job = openJob(open, { executorId, claimId }, reply.data);
      if (job) acceptJob(job);
      else if (!withdrawn && Date.now() - requestedAt < CLAIM_HOLD_MS_MIN) claim.open = false;
    } catch (err) {
      // A withdrawn claim gets no reply.
      if (claim.standing.delete(claimId) || (err as NatsError).code !== ErrorCode.Timeout) {
        backOff(claim, err as NatsError);
      }
    } finally {
      claim.unanswered--;
      fillClaims();
    }
  }

  function acceptJob(job: Job) {
    if (!running) return options.returnJob(job);
    if (busy < slots) return startJob(job);
    const entry = {
      job,
      timer: setTimeout(() => {
        waiting.splice(waiting.indexOf(entry), 1);
        options.returnJob(job);
      }, LOCAL_WAIT_MS),
    };
    waiting.push(entry);
  }

  function startJob(job: Job) {
    busy++;
    options.startJob(job, () => {
      busy--;
      const next = waiting.shift();
      if (next) {
        clearTimeout(next.timer);
        startJob(next.job);
      }
      fillClaims();
      options.onChange();
    });
    options.onChange();
  }

  return {
    /** Slots in use, including jobs that wait here for one. */
    busy: (): number => busy + waiting.length,
    start() {
      running = true;
      fillClaims();
    },
    /** Stops claiming and withdraws outstanding claims; resolves when no job can arrive any more. */
    async stop() {
      running = false;
      clearTimeout(retryTimer);
      clearTimeout(withdrawTimer);
      withdrawExcessClaims();
      for (const { job, timer } of waiting.splice(0)) {
        clearTimeout(timer);
        options.returnJob(job);
      }
      const deadline = Date.now() + LOCAL_WAIT_MS;
      // Bounded: one check of two sources every 10 ms.
      while (claims.some((claim) => claim.unanswered > 0) && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}
