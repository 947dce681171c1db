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
 *
 * A claim is for runs of the runners that it names, and for no other. Queued runs of the others are in nobody's way: which
 * queues are empty is known by runner.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Bus, createSealer, type RunError, type RunSource, runSubjects, sealJob } from '@gantry/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { type Claim, openClaimQueue } from './claim-queue';
import { claimRuns } from './claim-runs';
import type { BuiltJob } from './job';
import type { NewRun, Run } from './run';
import { type IsCurrent, insertRun, makeRun } from './run-row';

const POLL_MS = 500;
const SLOT_WAIT_MS = 60;
/** Executors may name anything. */
const RUNNERS_REMEMBERED_MAX = 1_000;

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
  /** Runners of which nothing was queued when the table was looked at, and no hint has come since. */
  const empty = new Set<string>();
  const mayHaveQueued = (runner: string) => !empty.has(runner);
  let filling: Promise<void> | null = null;

  /** Submitted runs that are not written yet, oldest first. */
  const waiting: { runner: string; give: (claim: Claim | undefined) => void }[] = [];

  const claims = openClaimQueue(bus, source, log, serve);
  const hints = bus.nc.subscribe(runSubjects.hint(source), {
    callback: (_err, { data }) => {
      if (data.length) empty.delete(Buffer.from(data).toString());
      else empty.clear();
      serve();
    },
  });
  const poll = setInterval(() => fill(), POLL_MS);

  function serve(): void {
    if (claims.some(mayHaveQueued)) fill();
    else
      for (const entry of [...waiting]) {
        const claim = claims.take(entry.runner);
        if (!claim) continue;
        waiting.splice(waiting.indexOf(entry), 1);
        entry.give(claim);
      }
  }

  /** Undefined: write it as queued. */
  function claimFor(runner: string): Promise<Claim | undefined> | Claim | undefined {
    if (mayHaveQueued(runner)) return undefined;
    const claim = claims.take(runner);
    if (claim) return claim;
    return new Promise((resolve) => {
      const entry = {
        runner,
        give: (given: Claim | undefined) => {
          clearTimeout(timer);
          resolve(given);
        },
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(entry), 1);
        resolve(undefined);
      }, SLOT_WAIT_MS);
      waiting.push(entry);
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
    const taken = claims.takeAll();
    if (empty.size > RUNNERS_REMEMBERED_MAX) empty.clear();
    // Before the query: a hint that comes while it runs must not be forgotten.
    for (const { runners } of taken) for (const runner of runners) empty.add(runner);
    const unused = new Set(taken);
    const handedOut: Promise<void>[] = [];
    try {
      for (const group of byRunners(taken)) {
        const claimed = await claimRuns(
          pool,
          group.claims.map((claim) => claim.executorId),
          group.runners,
          leaseMs,
        );
        if (claimed.length === group.claims.length) for (const runner of group.runners) empty.delete(runner);
        for (const { run, index } of claimed) {
          const claim = group.claims[index] as Claim;
          unused.delete(claim);
          handedOut.push(handOut(run, claim));
        }
      }
    } finally {
      [...unused].reverse().forEach(claims.putBack);
    }
    await Promise.all(handedOut);
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
      const claim = newRun.held || newRun.slot ? undefined : await claimFor(newRun.spec.runner);
      if (!claim) {
        const run = await insertRun(pool, newRun, null, deps.isCurrent);
        if (!run) throw new Error('a submitted run has no fire time');
        beforeHandOut(run.id);
        hint(newRun.spec.runner);
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
    hint: () => hint(),
    close: async () => {
      for (const { give } of waiting.splice(0)) give(undefined);
      clearInterval(poll);
      hints.unsubscribe();
      claims.close();
      await filling;
    },
  };

  /** @param runner of what is queued; absent: it may be any */
  function hint(runner = ''): void {
    // This replica hears its own hint as well.
    if (!bus.nc.isClosed()) bus.nc.publish(runSubjects.hint(source), Buffer.from(runner));
  }
}

/**
 * Claims that are for the same runners, in one group: as a rule there is one. Those for few runners come first, so that a
 * claim for several is not used up for a run that one of them could have had.
 */
function byRunners(claims: Claim[]): { runners: string[]; claims: Claim[] }[] {
  const groups = new Map<string, { runners: string[]; claims: Claim[] }>();
  for (const claim of claims) {
    const runners = [...new Set(claim.runners)].sort();
    const group = groups.get(runners.join()) ?? { runners, claims: [] };
    groups.set(runners.join(), group);
    group.claims.push(claim);
  }
  return [...groups.values()].sort((a, b) => a.runners.length - b.runners.length);
}
