/**
 * Works on repairs. The next step is derived from stored state, so any replica continues where another one stopped:
 * after a rehearsal, or after a crash. Each model response is stored with its cost before the next request (ADR 48).
 */

import { AppError } from '@gantry/errors';
import { newId } from '@gantry/events';
import { startRepeatingTask, startWorkLoop, type WorkLoop } from '@gantry/postgres';
import { resumeCandidates } from '../candidates/candidate-sweeps';
import { ModelCallError } from '../models/call-failure';
import { markModelCallsLost } from '../models/model-call-repository';
import { endRepair } from './end-repair';
import type { Repair } from './repair';
import { type RepairLease, runRepair } from './repair-agent';
import type { RepairDeps } from './repair-deps';
import { claimRepairs, findRepair, HAS_OPEN_TRIALS, releaseRepair, renewRepairLease } from './repair-repository';

const RENEW_MS = 2_000;
/** Limits repairs on one replica: each holds the files of its worker. */
const CONCURRENCY_MAX = 4;

/** Works on repairs, and on the candidates that they and people propose. */
export function startRepairLoop(deps: RepairDeps, { auto }: { auto: boolean }): WorkLoop {
  const { pool, log } = deps;
  const replica = newId('rpl_');
  return startWorkLoop({
    pool,
    log,
    what: 'candidates and repairs',
    dueAt: `CASE WHEN ${HAS_OPEN_TRIALS} THEN now() END`,
    auto,
    capacity: CONCURRENCY_MAX,
    advance: (signal) => resumeCandidates(deps, signal),
    claim: (limit) => claimRepairs(pool, replica, limit),
    work: (repair, ending) => runRepairWithLease(deps, repair, replica, ending),
  });
}

/** @param ending aborted when this replica ends */
async function runRepairWithLease(
  deps: RepairDeps,
  repair: Repair,
  replica: string,
  ending: AbortSignal,
): Promise<void> {
  const { pool, log, closures } = deps;
  const lost = new AbortController();
  const lease = { repairId: repair.id, replica, signal: AbortSignal.any([lost.signal, ending]) };
  const renewal = startRepeatingTask({
    everyMs: RENEW_MS,
    what: 'repair lease',
    log,
    work: async () => {
      const isHeld = await renewRepairLease(pool, repair.id, replica);
      if (!isHeld || closures.has(repair.workspaceId)) lost.abort();
    },
  });
  try {
    // Its replica has died, so the cost of its call stays unknown.
    await markModelCallsLost(pool, repair.id);
    await runRepair(deps, lease).catch((err) => handleFailure(deps, lease, err));
  } catch (err) {
    log.warn({ err, repair: repair.id }, 'a repair could not continue; its lease will expire');
  } finally {
    await renewal.stop();
  }
}

async function handleFailure(
  deps: RepairDeps,
  { repairId, replica, signal }: RepairLease,
  err: unknown,
): Promise<void> {
  const { pool, log } = deps;
  if (signal.aborted || (err as Error).name === 'AbortError') {
    await releaseRepair(pool, repairId, replica);
    return;
  }
  const isExpected = err instanceof ModelCallError || err instanceof AppError;
  if (!isExpected) log.error({ err, repair: repairId }, 'a repair failed');
  const error = isExpected ? err.detail : 'an internal error occurred and was logged';
  const repair = await findRepair(pool, repairId);
  if (repair) await endRepair(deps, repair, { replica, error });
}
