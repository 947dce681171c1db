/**
 * Starts due automations exactly once, with any number of replicas.
 *
 * One transaction locks the row of a due automation (other replicas skip it), inserts its runs and sets its next fire.
 * As a second guard, a run's fire time is unique per automation. A replica that dies in between has written nothing,
 * and the next tick of another replica finds the row still due.
 */

import { isDependencyDown } from '@gantry/errors';
import { pollForWork, transaction } from '@gantry/postgres';
import { findNextFire, planFires, recordFires } from '@gantry/schedule';
import type { PoolClient } from 'pg';
import type { Logger } from 'pino';
import {
  AUTOMATIONS_DUE_AT,
  advanceSchedule,
  type DueAutomation,
  lockDueAutomation,
} from '../automations/automation-queries';
import type { Deps } from '../deps';
import { startRun } from '../runs/start-run';

export type TickerDeps = Pick<Deps, 'pool' | 'prisma' | 'engine' | 'objects' | 'runnables' | 'now'> & { log: Logger };

/** @param options.auto false: only explicit calls of `tick()` start runs */
export function startScheduleTicker(deps: TickerDeps, options: { auto: boolean }) {
  const { pool, now, log } = deps;

  async function tick(): Promise<number> {
    let started = 0;
    const at = now();
    for (;;) {
      const startedCount = await fireNext(at);
      if (startedCount === null) break;
      started += startedCount;
    }
    return started;
  }

  /** @returns null when nothing is due, or other replicas have locked what is */
  async function fireNext(at: Date): Promise<number | null> {
    let due: DueAutomation | undefined;
    try {
      return await transaction(pool, async (tx) => {
        due = await lockDueAutomation(tx, at);
        return due ? fireSchedule(deps, tx, due, at) : null;
      });
    } catch (err) {
      // Nothing was written: the row is still due, and the next tick finds it.
      if (!due || isDependencyDown(err)) throw err;
      log.error({ err, automationId: due.id, scheduledFor: due.nextRunAt }, 'scheduled run not started');
      // Advanced, or it would be retried for ever and block all others.
      const nextRunAt = findNextFire({ cron: due.schedule, timezone: due.timezone }, at);
      await advanceSchedule(pool, due.id, { nextRunAt, lastScheduledAt: null, missed: 1 });
      return 0;
    }
  }

  const tickLoop = options.auto
    ? pollForWork({ pool, dueAt: AUTOMATIONS_DUE_AT, work: tick, what: 'schedules', log })
    : null;
  return {
    /** Starts everything that is due now. @returns the number of runs started */
    tick,
    stop: async () => tickLoop?.stop(),
  };
}

async function fireSchedule(deps: TickerDeps, tx: PoolClient, due: DueAutomation, at: Date): Promise<number> {
  const schedule = { cron: due.schedule, timezone: due.timezone };
  const { start, missed } = planFires(schedule, due.misfire, due.nextRunAt, at);
  if (missed)
    deps.log.warn({ automationId: due.id, missed, misfire: due.misfire, since: due.nextRunAt }, 'fires missed');
  let started = 0;
  for (const scheduledFor of start) {
    const run = { trigger: 'schedule', inputs: due.inputs, createdBy: null, fire: { tx, scheduledFor } } as const;
    if (await startRun(deps, { ...due, status: 'active' }, run)) started++;
  }
  const lastScheduledAt = start.at(-1) ?? null;
  await advanceSchedule(tx, due.id, { nextRunAt: findNextFire(schedule, at), lastScheduledAt, missed });
  recordFires({ started, missed });
  return started;
}
