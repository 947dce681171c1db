/**
 * Brings queued runs and waiting executors together.
 *
 * Two ways lead to an executor. A run that is submitted while a claim stands here is written already leased to that
 * executor and answered at once: one commit between the request and the code. Any other run is queued, and a hint tells
 * all replicas; whichever holds a claim takes it. Hints may be lost: while claims stand, the table is looked at
 * every POLL_MS anyway.
 *
 * Where every executor is busy but nothing is queued, a submitted run waits SLOT_WAIT_MS for a claim before it is written:
 * short runs end all the time, and a run that is queued costs a second commit and a search. Nothing has been promised to
 * its caller yet. Runs that are queued always go first. A run with a slot is always queued: see claim-runs.ts.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Bus, createSealer, type RunError, type RunSource, runSubjects, sealJob } from '@gantry/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { type Claim, openClaimQueue } from './claim-queue';
import { type Claimed, claimRuns } from './claim-runs';
import type { BuiltJob } from './job';
import type { NewRun, Run } from './run';
import { type IsCurrent, insertRun, makeRun } from './run-row';

const POLL_MS = 500;
const SLOT_WAIT_MS = 60;

export interface Dispatcher {
  submit(run: NewRun, beforeHandOut: (runId: string) => void): Promise<Run>;
  hint(): void;
  close(): Promise<void>;
}

export function startDispatcher(deps: {
  bus: Bus;
  pool: Pool;
  source: RunSource;
  leaseMs: number;
  isCurrent?: IsCurrent;
  log: Logger;
  /** @param written before that, nothing may be stored for the run */
  build: (run: Run, executorId: string, written?: Promise<unknown>) => Promise<BuiltJob>;
  refuse: (run: Run, error: RunError) => Promise<void>;
  /** Somebody asked for its end before it was handed back to the queue. */
  cancel: (run: Run) => Promise<void>;
}): Dispatcher {
  const { bus, pool, source, leaseMs, log } = deps;
  const seal = createSealer();
  let mayHaveQueued = true;
  let filling: Promise<void> | null = null;

  /** Submitted runs that are not written yet, oldest first. */
  const waiting: ((claim: Claim | undefined) => void)[] = [];

  const claims = openClaimQueue(bus, source, log, serve);
  const hints = bus.nc.subscribe(runSubjects.hint(source), {
    callback: () => {
      mayHaveQueued = true;
      fill();
    },
  });
  const poll = setInterval(() => fill(), POLL_MS);

  function serve(): void {
    if (mayHaveQueued) fill();
    else while (waiting.length && claims.size) waiting.shift()?.(claims.take());
  }

  /** Undefined: write it as queued. */
  function claimFor(): Promise<Claim | undefined> | Claim | undefined {
    if (mayHaveQueued) return undefined;
    const claim = claims.take();
    if (claim) return claim;
    return new Promise((resolve) => {
      const give = (given: Claim | undefined) => {
        clearTimeout(timer);
        resolve(given);
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(give), 1);
        resolve(undefined);
      }, SLOT_WAIT_MS);
      waiting.push(give);
    });
  }

  function fill(): void {
    if (filling || !claims.size) return;
    filling = handOutQueued()
      .catch((err) => log.warn({ err }, 'queued runs not handed out: will try again'))
      .finally(() => {
        filling = null;
        setImmediate(serve);
      });
  }

  async function handOutQueued(): Promise<void> {
    // Before the query: a hint that comes while it runs must not be forgotten.
    mayHaveQueued = false;
    const taken: Claim[] = [];
    for (let claim = claims.take(); claim; claim = claims.take()) taken.push(claim);
    let claimed: Claimed[] = [];
    try {
      claimed = await claimRuns(
        pool,
        taken.map((claim) => claim.executorId),
        leaseMs,
      );
    } finally {
      const used = new Set(claimed.map(({ index }) => index));
      taken
        .filter((_, index) => !used.has(index))
        .reverse()
        .forEach(claims.putBack);
    }
    if (claimed.length === taken.length) mayHaveQueued = true;
    await Promise.all(claimed.map(({ run, index }) => handOut(run, taken[index] as Claim)));
  }

  /** A failure here leaves the run to the sweeper: its lease runs out unconfirmed and it is queued again. */
  async function handOut(run: Run, claim: Claim, building?: Promise<BuiltJob>): Promise<void> {
    try {
      if (run.cancelRequestedAt) await deps.cancel(run);
      else {
        const built = await (building ?? deps.build(run, claim.executorId));
        if ('job' in built) return claim.answer(sealJob(seal, claim, built.job));
        await deps.refuse(run, built.refused);
      }
    } catch (err) {
      log.error({ err, runId: run.id }, 'run not handed out');
    }
    claims.putBack(claim);
  }

  return {
    async submit(newRun, beforeHandOut) {
      const claim = newRun.held || newRun.slot ? undefined : await claimFor();
      if (!claim) {
        const run = await insertRun(pool, newRun, null, deps.isCurrent);
        if (!run) throw new Error('a submitted run has no fire time');
        beforeHandOut(run.id);
        hintAll();
        return run;
      }
      const lease = { executorId: claim.executorId, expiresAt: new Date(Date.now() + leaseMs) };
      const run = makeRun(newRun, lease);
      const inserted = insertRun(pool, newRun, lease, deps.isCurrent, run);
      // While PostgreSQL writes; once the question is on its way.
      const built = nextTurn().then(() => deps.build(run, claim.executorId, inserted));
      built.catch(() => {});
      try {
        if (!(await inserted)) throw new Error('a submitted run has no fire time');
      } catch (err) {
        claims.putBack(claim);
        throw err;
      }
      beforeHandOut(run.id);
      void handOut(run, claim, built);
      return run;
    },
    hint: hintAll,
    close: async () => {
      for (const give of waiting.splice(0)) give(undefined);
      clearInterval(poll);
      hints.unsubscribe();
      claims.close();
      await filling;
    },
  };

  function hintAll(): void {
    // This replica hears its own hint as well.
    if (!bus.nc.isClosed()) bus.nc.publish(runSubjects.hint(source));
  }
}
