/**
 * Asks executors to stop the runs of closed workspaces. A replica that looked a moment before the deletion may hand one
 * out, so they are looked for again as long as a workspace is closed.
 */
import { buildWorkspaceClosedSql, type WorkspaceClosures } from '@gantry/events';
import { startRepeatingTask } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Run } from '../run';

const SWEEP_MS = 1_000;
/** While no workspace is closed. */
const IDLE_MS = 60_000;

const REQUEST_STOP = {
  name: 'stop-closed-runs',
  text: `UPDATE runs SET cancel_requested_at = now() WHERE status = 'running' AND cancel_requested_at IS NULL
           AND ${buildWorkspaceClosedSql('runs.workspace_id')}
         RETURNING id, attempt, executor_id AS "executorId"`,
};

type HeldRun = Pick<Run, 'id' | 'attempt' | 'executorId'>;

export function stopRunsOfClosedWorkspaces(deps: {
  closures: WorkspaceClosures;
  pool: Pool;
  /** One that is not told now hears it when its lease is renewed. */
  askToStop: (run: HeldRun) => void;
  log: Logger;
}) {
  const { closures, pool, askToStop, log } = deps;

  async function stopRuns() {
    if (!closures.list().length) return;
    const { rows } = await pool.query<HeldRun>(REQUEST_STOP);
    rows.forEach(askToStop);
  }

  const everyMs = () => (closures.list().length ? SWEEP_MS : IDLE_MS);
  const sweeping = startRepeatingTask({ everyMs, work: stopRuns, what: 'runs of deleted workspaces', log });
  closures.onClosed(sweeping.wake);
  return sweeping;
}
