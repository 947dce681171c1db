/**
 * Dispatches runs to waiting executors.
 *
 * Two ways lead to an executor. A run that is submitted while a claim stands here is written already leased to that
 * executor and answered at once: one commit between the request and the code (see submit-run.ts). Any other run is
 * queued, and a hint tells all replicas; one that holds a claim takes it. A hint may be lost with the connection: the
 * table is polled once that is back, and otherwise as described in poll-for-work.ts.
 *
 * Where every executor is busy but nothing is queued, a submitted run waits SLOT_WAIT_MS for a claim before it is
 * written: short runs end all the time, and a run that is queued costs a second commit and a search. Its caller has no
 * response yet; a caller that waits for the run's end loses nothing by a longer wait. Queued runs always go first.
 *
 * A claim takes only runs of the runners that it names. Queued runs of other runners block no run: empty queues are
 * tracked by runner.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  addChangeHint,
  type Bus,
  createSealer,
  type RunSource,
  runSubjects,
  sealJob,
  watchConnection,
} from '@gantry/events';
import { pollForWork, pollSoon } from '@gantry/postgres';
import { startSpan, toTraceFields } from '@gantry/tracing';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { CANCELLED, type EndRun } from '../ending/end-run';
import type { BuiltJob } from '../job';
import type { Run } from '../run';
import { recordClaimedRun, timeClaim } from '../run-metrics';
import { type Claim, createClaimQueue } from './claim-queue';
import { claimRuns } from './claim-runs';
import { createEmptyQueueCache } from './empty-queue-cache';

/** Also where a limit holds back all of them: they become free without a hint. */
const QUEUED_RUNS_DUE_AT = "(SELECT now() FROM runs WHERE status = 'queued' LIMIT 1)";
const SLOT_WAIT_MS = { answeredAtOnce: 60, answeredAtEnd: 250 };

export type Dispatcher = ReturnType<typeof startDispatcher>;

export function startDispatcher(deps: {
  bus: Bus;
  pool: Pool;
  source: RunSource;
  leaseMs: number;
  log: Logger;
  /** @param insertion until it resolves, nothing may be stored for the run */
  build: (run: Run, executorId: string, insertion?: Promise<unknown>) => Promise<BuiltJob>;
  end: EndRun;
}) {
  const { bus, pool, source, leaseMs, log } = deps;
  const seal = createSealer();
  const queues = createEmptyQueueCache();
  let dispatching: Promise<void> | null = null;

  /** Submitted runs that are not written yet, oldest first. */
  const waiting = new Set<{ runner: string; resolve: (claim: Claim | undefined) => void }>();

  const claims = createClaimQueue(bus, source, log, serveWaitingClaims);
  const hints = bus.nc.subscribe(runSubjects.hint(source), {
    callback: (_err, { data }) => {
      queues.markQueued(Buffer.from(data).toString());
      serveWaitingClaims();
    },
  });
  const connection = watchConnection(bus.nc, () => pollSoon(pool));
  const polling = pollForWork({ pool, dueAt: QUEUED_RUNS_DUE_AT, work: startDispatch, what: 'queued runs', log });

  function serveWaitingClaims(): void {
    if (claims.some(queues.canHaveRuns)) startDispatch();
    else
      for (const entry of waiting) {
        const claim = claims.take(entry.runner);
        if (!claim) continue;
        waiting.delete(entry);
        entry.resolve(claim);
      }
  }

  function acquireClaim(
    runner: string,
    wait: keyof typeof SLOT_WAIT_MS,
  ): Promise<Claim | undefined> | Claim | undefined {
    if (queues.canHaveRuns(runner)) return undefined;
    const claim = claims.take(runner);
    if (claim) return claim;
    return new Promise((resolve) => {
      const entry = {
        runner,
        resolve: (given: Claim | undefined) => {
          clearTimeout(timer);
          resolve(given);
        },
      };
      const timer = setTimeout(() => {
        waiting.delete(entry);
        resolve(undefined);
      }, SLOT_WAIT_MS[wait]);
      waiting.add(entry);
    });
  }

  function startDispatch(): void {
    if (dispatching || !claims.size) return;
    dispatching = dispatchQueued()
      .catch((err) => log.warn({ err }, 'could not hand out queued runs: will try again'))
      .finally(() => {
        dispatching = null;
        setImmediate(serveWaitingClaims);
      });
  }

  async function dispatchQueued(): Promise<void> {
    const takenClaims = claims.takeAll();
    queues.markEmpty(takenClaims.flatMap(({ runners }) => runners));
    const unused = new Set(takenClaims);
    const dispatches: Promise<void>[] = [];
    try {
      for (const group of groupByRunners(takenClaims)) {
        const executorIds = group.claims.map((claim) => claim.executorId);
        const claimed = await timeClaim(source, claimRuns(pool, executorIds, group.runners, leaseMs));
        if (claimed.length === group.claims.length) group.runners.forEach(queues.markQueued);
        for (const { run, index } of claimed) {
          const claim = group.claims[index] as Claim;
          unused.delete(claim);
          dispatches.push(dispatch(run, claim));
        }
      }
    } finally {
      [...unused].reverse().forEach(claims.putBack);
    }
    await Promise.all(dispatches);
  }

  /** A failure leaves the run to the sweeper: its lease expires unconfirmed and it is requeued. */
  async function dispatch(run: Run, claim: Claim, building?: Promise<BuiltJob>): Promise<void> {
    const span = startSpan('claim', {
      kind: 'producer',
      parent: run.traceparent,
      attributes: { 'gantry.run.id': run.id, 'gantry.attempt': run.attempt },
    });
    try {
      // Its cancellation was requested before it was returned to the queue.
      if (run.cancelRequestedAt) await deps.end(run, 'cancelled', CANCELLED);
      else {
        const built = await (building ?? deps.build(run, claim.executorId));
        if ('job' in built) {
          if (span) built.job.traceparent = span.traceparent;
          claim.answer(sealJob(seal, claim, built.job));
          addChangeHint(pool, run.workspaceId, 'runs', run.id);
          return recordClaimedRun(source, run);
        }
        await deps.end(run, 'failed', built.refused);
      }
    } catch (err) {
      log.error({ err, runId: run.id, ...toTraceFields(run.traceparent) }, 'could not hand out a run');
    } finally {
      span?.end();
    }
    claims.putBack(claim);
  }

  return {
    /** Acquires a claim for a run before its insertion; undefined: the run must be queued. */
    claimFor: acquireClaim,
    /**
     * Dispatches a run during its insertion, leased to the claim's executor; its job is built meanwhile.
     * @throws the error of `insertion`, after putting the claim back
     */
    async dispatchNew(run: Run, claim: Claim, insertion: Promise<unknown>) {
      // Builds while PostgreSQL writes, once the statement is sent.
      const building = nextTurn().then(() => deps.build(run, claim.executorId, insertion));
      building.catch(() => {});
      try {
        await insertion;
      } catch (err) {
        claims.putBack(claim);
        throw err;
      }
      void dispatch(run, claim, building);
    },
    close: async () => {
      for (const { resolve: give } of waiting) give(undefined);
      waiting.clear();
      connection.stop();
      await polling.stop();
      hints.unsubscribe();
      claims.close();
      await dispatching;
    },
  };
}

/**
 * Groups claims by their runners: usually there is one group. Groups with few runners come first, so that a claim for
 * several is not used for a run that a more specific claim could take.
 */
function groupByRunners(claims: Claim[]): { runners: string[]; claims: Claim[] }[] {
  const groups = new Map<string, { runners: string[]; claims: Claim[] }>();
  for (const claim of claims) {
    const runners = [...new Set(claim.runners)].sort();
    const group = groups.get(runners.join()) ?? { runners, claims: [] };
    groups.set(runners.join(), group);
    group.claims.push(claim);
  }
  return [...groups.values()].sort((a, b) => a.runners.length - b.runners.length);
}
