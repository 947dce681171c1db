/**
 * Ends what goes on in closed workspaces: runs that an executor holds are told to stop, open streams are cut.
 *
 * A run may be handed out, or a stream opened, by a replica that looked a moment before the deletion. So running ones are
 * looked for again as long as a workspace is closed, and a stream asks once more when it is counted.
 */
import { isWorkspaceClosedSql, type WorkspaceClosures } from '@gantry/events';
import { startRepeating } from '@gantry/postgres';
import type { Response } from 'express';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Run } from './run';

const SWEEP_MS = 1_000;
/** Whatever a slow reader has not taken by then is dropped. */
const DESTROY_AFTER_MS = 1_000;

const REQUEST_STOP = {
  name: 'stop-closed-runs',
  text: `UPDATE runs SET cancel_requested_at = now() WHERE status = 'running' AND cancel_requested_at IS NULL
           AND ${isWorkspaceClosedSql('runs.workspace_id')}
         RETURNING id, attempt, executor_id AS "executorId"`,
};

type HeldRun = Pick<Run, 'id' | 'attempt' | 'executorId'>;

export function stopClosedWorkspaces(deps: {
  closures: WorkspaceClosures;
  pool: Pool;
  /** One that is not told now hears it when its lease is renewed. */
  askToStop: (run: HeldRun) => void;
  log: Logger;
}) {
  const { closures, pool, askToStop, log } = deps;
  const streams = new Map<string, Set<Response>>();

  async function stopRuns() {
    if (!closures.list().length) return;
    const { rows } = await pool.query<HeldRun>(REQUEST_STOP);
    rows.forEach(askToStop);
  }

  function endStreams(workspaceId: string) {
    for (const stream of streams.get(workspaceId) ?? []) {
      stream.end();
      setTimeout(() => stream.destroy(), DESTROY_AFTER_MS).unref();
    }
  }

  const sweep = startRepeating({ everyMs: SWEEP_MS, work: stopRuns, what: 'runs of deleted workspaces', log });
  closures.onClosed((workspaceId) => {
    endStreams(workspaceId);
    stopRuns().catch((err) => log.warn({ err, workspaceId }, 'runs of a deleted workspace: will try again'));
  });

  return {
    /** The stream ends when its workspace is closed, at once if it is closed already. */
    watch(workspaceId: string, stream: Response) {
      const open = streams.get(workspaceId) ?? new Set();
      streams.set(workspaceId, open.add(stream));
      stream.once('close', () => {
        open.delete(stream);
        if (!open.size) streams.delete(workspaceId);
      });
      if (closures.has(workspaceId)) endStreams(workspaceId);
    },
    stop: () => sweep.stop(),
  };
}
