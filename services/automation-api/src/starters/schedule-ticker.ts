/**
 * Starts what is due, exactly once whatever number of replicas ticks.
 *
 * A due automation's row is locked (a replica that finds it locked skips it), its runs are written and its next fire is
 * set in one transaction. Should that be done twice all the same, the run's fire time is unique by automation. A replica
 * that dies in between has written nothing, and the next tick of another finds the row still due.
 */

import { isClosedSql } from '@gantry/events';
import { isDependencyDown, repeat } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { countFires, type Misfire, nextFire, planFires } from '@gantry/schedule';
import type { PoolClient } from 'pg';
import type { Logger } from 'pino';
import type { Deps } from '../deps';
import { startRun } from '../runs/start-run';

export type TickerDeps = Pick<Deps, 'pool' | 'prisma' | 'engine' | 'objects' | 'runnables' | 'now'> & { log: Logger };

export type ScheduleTicker = ReturnType<typeof startScheduleTicker>;

const EVERY_MS = 500;

interface DueRow {
  id: string;
  workspaceId: string;
  schedule: string;
  timezone: string;
  misfire: Misfire;
  inputs: Record<string, unknown>;
  nextRunAt: Date;
  version: number;
  artifactId: string;
}

/** @param auto false: only `tick()` called by hand does anything */
export function startScheduleTicker(deps: TickerDeps, options: { auto: boolean }) {
  const { pool, now, log } = deps;

  async function tick(): Promise<number> {
    let started = 0;
    const at = now();
    for (;;) {
      const done = await fireNext(at);
      if (done === null) break;
      started += done;
    }
    return started;
  }

  /** @returns null when nothing is due that nobody else is at */
  async function fireNext(at: Date): Promise<number | null> {
    let due: DueRow | undefined;
    try {
      return await transaction(pool, async (tx) => {
        due = await lockDue(tx, at);
        return due ? fire(deps, tx, due, at) : null;
      });
    } catch (err) {
      // Nothing was written: the row is still due, and the next tick finds it.
      if (!due || isDependencyDown(err)) throw err;
      log.error({ err, automationId: due.id, scheduledFor: due.nextRunAt }, 'scheduled run not started');
      // Past it, or it would be tried for ever and hold up all others.
      await pool.query('UPDATE automations SET next_run_at = $2, missed_fires = missed_fires + 1 WHERE id = $1', [
        due.id,
        nextFire({ cron: due.schedule, timezone: due.timezone }, at),
      ]);
      return 0;
    }
  }

  const ticking = options.auto ? repeat({ everyMs: EVERY_MS, work: tick, what: 'schedules', log }) : null;
  return {
    /** Starts all that is due now. @returns how many runs were started */
    tick,
    stop: async () => ticking?.stop(),
  };
}

async function lockDue(tx: PoolClient, at: Date): Promise<DueRow | undefined> {
  const { rows } = await tx.query<DueRow>({
    name: 'lock-due',
    text: `SELECT a.id, a.workspace_id AS "workspaceId", a.schedule, a.timezone, a.misfire, a.schedule_inputs AS inputs,
             a.next_run_at AS "nextRunAt", v.version, v.artifact_id AS "artifactId"
           FROM automations a
           JOIN automation_versions v ON v.automation_id = a.id AND v.version = a.current_version
           WHERE a.next_run_at <= $1 AND NOT ${isClosedSql('a.workspace_id')}
           ORDER BY a.next_run_at LIMIT 1
           FOR UPDATE OF a SKIP LOCKED`,
    values: [at],
  });
  return rows[0];
}

async function fire(deps: TickerDeps, tx: PoolClient, due: DueRow, at: Date): Promise<number> {
  const schedule = { cron: due.schedule, timezone: due.timezone };
  const { start, missed } = planFires(schedule, due.misfire, due.nextRunAt, at);
  if (missed)
    deps.log.warn({ automationId: due.id, missed, misfire: due.misfire, since: due.nextRunAt }, 'fires missed');
  let started = 0;
  for (const scheduledFor of start) {
    const run = { trigger: 'schedule', inputs: due.inputs, createdBy: null, fire: { tx, scheduledFor } } as const;
    if (await startRun(deps, { ...due, status: 'active' }, run)) started++;
  }
  await tx.query(
    `UPDATE automations SET next_run_at = $2, last_scheduled_at = coalesce($3, last_scheduled_at),
       missed_fires = missed_fires + $4 WHERE id = $1`,
    [due.id, nextFire(schedule, at), start.at(-1) ?? null, missed],
  );
  countFires({ started, missed });
  return started;
}
