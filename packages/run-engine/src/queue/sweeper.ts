/**
 * Finds runs whose executor was lost.
 *
 * An expired lease is conclusive only if renewals could have arrived and all reports have been written. So a sweep
 * waits until this replica has reached PostgreSQL and NATS for a whole lease, and until ingestion has caught up: an
 * outage on our side must not end runs.
 */
import { type Bus, type RunError, watchConnection } from '@gantry/events';
import { pollForWork, type RepeatingTask } from '@gantry/postgres';
import { toTraceFields } from '@gantry/tracing';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { CANCELLED, type EndRun } from '../ending/end-run';
import { RUN_COLUMNS, toRun } from '../run-row';
import { REQUEUES_MAX, requeueRuns } from './requeue-runs';

const BATCH = 200;
/** When the next lease expires. */
const LEASES_DUE_AT = "(SELECT min(lease_expires_at) FROM runs WHERE status = 'running')";

const LOST: RunError = {
  code: 'executor_lost',
  message:
    'the executor of this run stopped responding before it could report a result. The run may have had side effects; run it again if that is safe.',
};

const NEVER_STARTED: RunError = {
  code: 'executor_lost',
  message: `the run was handed out ${REQUEUES_MAX + 1} times, but no executor started it: see the executors' logs.`,
};

export function startSweeper(deps: {
  bus: Bus;
  pool: Pool;
  leaseMs: number;
  log: Logger;
  hasCaughtUp: () => Promise<boolean>;
  end: EndRun;
  onQueued: () => void;
}): RepeatingTask {
  const { bus, pool, leaseMs, log } = deps;
  let reachableSince = Date.now();
  const onUnreachable = () => {
    reachableSince = Date.now();
  };
  watchConnection(bus.nc, onUnreachable);

  async function sweep() {
    const expired = await listExpiredRuns();
    if (!expired.length || Date.now() - reachableSince < leaseMs || !(await deps.hasCaughtUp())) return;
    for (const { run, confirmed, requeues } of expired) {
      const { id: runId, attempt } = run;
      log.warn({ runId, attempt, confirmed, requeues, ...toTraceFields(run.traceparent) }, 'lease expired');
      if (run.cancelRequestedAt) await deps.end(run, 'cancelled', CANCELLED);
      else if (confirmed) await deps.end(run, 'failed', LOST);
      else if (requeues >= REQUEUES_MAX) await deps.end(run, 'failed', NEVER_STARTED);
      else if (await requeueRuns(pool, [{ ...run, runId: run.id }], 'expired')) deps.onQueued();
    }
  }

  async function listExpiredRuns() {
    const { rows } = await pool.query(
      `SELECT ${RUN_COLUMNS}, r.confirmed, r.requeues FROM runs r
       WHERE r.status = 'running' AND r.lease_expires_at <= now() ORDER BY r.lease_expires_at LIMIT $1`,
      [BATCH],
    );
    return rows.map((row) => ({
      run: toRun(row),
      confirmed: row.confirmed as boolean,
      requeues: row.requeues as number,
    }));
  }

  const work = () =>
    sweep().catch((err) => {
      onUnreachable();
      throw err;
    });
  return pollForWork({ pool, dueAt: LEASES_DUE_AT, work, onUnreachable, what: 'sweep of lost runs', log });
}
