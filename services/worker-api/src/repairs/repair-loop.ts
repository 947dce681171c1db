/**
 * Works on repairs. The next step is derived from stored state, so any replica continues where another one stopped:
 * after a rehearsal, or after a crash. Each model response is stored with its cost before the next request (ADR 48).
 */

import { AppError } from '@gantry/errors';
import { newId } from '@gantry/events';
import { startRepeatingTask, watchForWork } from '@gantry/postgres';
import { resumeCandidates } from '../candidates/candidate-sweeps';
import { ModelCallError } from '../models/call-failure';
import { markModelCallsLost } from '../models/model-call-repository';
import { endRepair } from './end-repair';
import type { Repair } from './repair';
import { runRepair } from './repair-agent';
import type { RepairDeps } from './repair-deps';
import { claimRepairs, findRepair, HAS_OPEN_TRIALS, releaseRepair, renewRepairLease } from './repair-repository';

/** Aborts a repair that this replica no longer works on. */
class LeaseLostError extends Error {
  override name = 'AbortError';
}

const RENEW_MS = 2_000;
/** Limits repairs on one replica: each holds the files of its worker. */
const CONCURRENCY_MAX = 4;

export type RepairLoop = ReturnType<typeof startRepairLoop>;

/** @param options.auto false: only explicit calls of `tick()` start work */
export function startRepairLoop(deps: RepairDeps, options: { auto: boolean }) {
  const { pool, log } = deps;
  const replica = newId('rpl_');
  const working = new Map<string, { stop: AbortController; ended: Promise<void> }>();
  let isDraining = false;

  async function workOnRepair(repair: Repair, stop: AbortController): Promise<void> {
    const renewal = startRepeatingTask({
      everyMs: RENEW_MS,
      what: 'lease of a repair',
      log,
      work: async () => {
        const isHeld = await renewRepairLease(pool, repair.id, replica);
        if (!isHeld || deps.closures.has(repair.workspaceId))
          stop.abort(new LeaseLostError('the lease of the repair was lost'));
      },
    });
    try {
      // Its replica has died, so the cost of its call stays unknown.
      await markModelCallsLost(pool, repair.id);
      await runRepair(deps, { repairId: repair.id, replica, signal: stop.signal }).catch((err) =>
        handleFailure(repair, stop, err),
      );
    } catch (err) {
      log.warn({ err, repair: repair.id }, 'a repair could not continue; its lease will expire');
    } finally {
      await renewal.stop();
      working.delete(repair.id);
    }
  }

  async function handleFailure(repair: Repair, stop: AbortController, err: unknown): Promise<void> {
    if (stop.signal.aborted || (err as Error).name === 'AbortError') {
      await releaseRepair(pool, repair.id, replica);
      return;
    }
    if (!(err instanceof ModelCallError || err instanceof AppError)) {
      log.error({ err, repair: repair.id }, 'a repair failed');
    }
    const reason =
      err instanceof ModelCallError || err instanceof AppError
        ? err.detail
        : 'something went wrong here; it was logged';
    const now = await findRepair(pool, repair.id);
    if (now) await endRepair(deps, now, { replica, error: reason });
  }

  async function tick(): Promise<void> {
    await resumeCandidates(deps);
    const capacity = CONCURRENCY_MAX - working.size;
    if (capacity <= 0 || isDraining) return;
    for (const repair of await claimRepairs(pool, replica, capacity)) {
      const stop = new AbortController();
      working.set(repair.id, { stop, ended: workOnRepair(repair, stop) });
    }
  }

  const ticker = options.auto
    ? watchForWork({ pool, condition: HAS_OPEN_TRIALS, work: tick, what: 'candidates and repairs', log })
    : null;
  return {
    /** Continues after rehearsals that have ended, and claims waiting repairs. */
    tick,
    /** Resolves once no repair is worked on here. */
    rest: async () => {
      await Promise.all([...working.values()].map(({ ended }) => ended));
    },
    /** Stops; running repairs continue on another replica. */
    async stop(): Promise<void> {
      isDraining = true;
      await ticker?.stop();
      const running = [...working.values()];
      for (const { stop } of running) stop.abort(new LeaseLostError('this replica ends'));
      await Promise.all(running.map(({ ended }) => ended));
    },
  };
}
