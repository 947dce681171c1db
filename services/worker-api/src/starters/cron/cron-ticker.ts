/**
 * Starts what is due by the clock, exactly once whatever number of replicas ticks.
 *
 * Due triggers are locked some at a time (a replica that finds one locked skips it); their runs are written and their
 * next fires set in the same transaction. A replica that dies in between has written nothing, and another finds them
 * still due. Should a fire be started twice all the same, its time is unique by worker.
 *
 * Each trigger has a savepoint of its own. What can't begin for a reason of its worker becomes a failed run; what fails
 * for an unforeseen reason is counted as missed, said in the log, and left behind. Neither holds up the others.
 */

import { enqueue, scheduleMissed } from '@gantry/events';
import { pollForWork, transaction } from '@gantry/postgres';
import { findNextFire, planFires, recordFires } from '@gantry/schedule';
import type { Pool, PoolClient } from 'pg';
import { TRIGGERS_DUE_AT } from '../../triggers/cron/cron-trigger';
import { advanceTrigger } from '../../triggers/trigger-repository';
import { type DueTrigger, lockDueTriggers } from '../../workers/triggered-workers';
import { isUnavailableError, startUnattendedRun } from '../start-or-refuse';
import type { TriggerStartDeps } from '../trigger-start-deps';

const TRIGGERS_PER_BATCH = 100;
/** After an outage each trigger of a batch may have a hundred runs to make good: the rest waits for the next batch. */
const RUNS_PER_BATCH = 500;

interface Batch {
  /** Triggers that were dealt with. */
  count: number;
  started: number;
  missed: number;
  refused: number;
}

/** @param options.auto false: only `tick()` called by hand does anything */
export function startCronTicker(deps: TriggerStartDeps, options: { auto: boolean }) {
  const { pool, now, log } = deps;

  async function tick(): Promise<number> {
    const at = now();
    let made = 0;
    for (;;) {
      const batch = await fireBatch(deps, pool, at);
      if (!batch.count) break;
      made += batch.started + batch.refused;
      recordFires(batch);
    }
    return made;
  }

  const ticking = options.auto
    ? pollForWork({ pool, dueAt: TRIGGERS_DUE_AT, work: tick, what: 'cron triggers', log })
    : null;
  return {
    /** Starts all that is due now. @returns how many runs were made */
    tick,
    stop: async () => ticking?.stop(),
  };
}

function fireBatch(deps: TriggerStartDeps, pool: Pool, at: Date): Promise<Batch> {
  return transaction(pool, async (tx) => {
    const batch: Batch = { count: 0, started: 0, missed: 0, refused: 0 };
    for (const due of await lockDueTriggers(tx, at, TRIGGERS_PER_BATCH)) {
      await fireTrigger(deps, tx, due, at, batch);
      batch.count++;
      if (batch.started + batch.refused >= RUNS_PER_BATCH) break;
    }
    return batch;
  });
}

async function fireTrigger(
  deps: TriggerStartDeps,
  tx: PoolClient,
  due: DueTrigger,
  at: Date,
  batch: Batch,
): Promise<void> {
  const about = { workerId: due.worker.id, workspaceId: due.worker.workspaceId, scheduledFor: due.nextRunAt };
  await tx.query('SAVEPOINT due');
  try {
    const { start, missed, late } = planFires(due, due.misfire, due.nextRunAt, at);
    if (missed) deps.log.warn({ ...about, missed, misfire: due.misfire }, 'fires missed');
    const made = { started: 0, refused: 0 };
    for (const scheduledFor of start) {
      const outcome = await startUnattendedRun(deps, tx, {
        worker: due.worker,
        inputs: due.inputs,
        trigger: 'schedule',
        scheduledFor,
      });
      if (outcome) made[outcome]++;
    }
    const lastScheduledAt = start.at(-1) ?? null;
    await rescheduleTrigger(tx, due, findNextFire(due, at), { lastScheduledAt, missed, startedLate: late });
    batch.started += made.started;
    batch.refused += made.refused;
    batch.missed += missed;
  } catch (err) {
    if (isUnavailableError(err)) throw err;
    deps.log.error({ ...about, err }, 'scheduled run not started');
    await tx.query('ROLLBACK TO SAVEPOINT due');
    await rescheduleTrigger(tx, due, computeNextFire(due, at), {
      lastScheduledAt: null,
      missed: 1,
      startedLate: 0,
    });
    batch.missed++;
  }
  await tx.query('RELEASE SAVEPOINT due');
}

/** An expression that can't be read any more is never due again. */
function computeNextFire(due: DueTrigger, at: Date): Date | null {
  try {
    return findNextFire(due, at);
  } catch {
    return null;
  }
}

interface FireOutcome {
  lastScheduledAt: Date | null;
  missed: number;
  startedLate: number;
}

async function rescheduleTrigger(
  tx: PoolClient,
  due: DueTrigger,
  nextRunAt: Date | null,
  passed: FireOutcome,
): Promise<void> {
  const { lastScheduledAt, missed, startedLate } = passed;
  await advanceTrigger(tx, due.id, { nextRunAt, lastScheduledAt, missed });
  if (!missed) return;
  const { uid: workerUid, id: workerId, workspaceId } = due.worker;
  const since = due.nextRunAt.getTime();
  await enqueue(tx, scheduleMissed, workspaceId, { workerUid, workerId, missed, since, startedLate });
}
