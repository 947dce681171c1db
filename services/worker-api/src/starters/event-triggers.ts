/**
 * Starts the workers that wait for what happened, once for each event.
 *
 * The runs commit with the event's inbox row: one that is delivered again starts nothing. Each worker has a savepoint of
 * its own, so that what is wrong with one keeps nothing from the others; a run that can't begin for a reason of its worker
 * is kept as a failed one, any other failure is said in the log.
 * A circle of workers that start each other ends at DEPTH_MAX.
 */

import type { alertRaised, approvalRequested, ReactionTo, runFinished, scheduleMissed } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { depthOf } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import type { Deps } from '../deps';
import type { Worker } from '../generated/prisma/client';
import type { ListeningWorkspaces } from '../listening-workspaces';
import type { TriggerEvent } from '../triggers/trigger';
import {
  type Happening,
  ofFinishedRun,
  ofMissedSchedule,
  ofRaisedAlert,
  ofRequestedApproval,
  runFinishedTypeOf,
} from './event';
import { isAway, startOrRefuse } from './start-or-refuse';

const DEPTH_MAX = 8;

export interface TriggerReactions {
  runFinished: ReactionTo<typeof runFinished>;
  alertRaised: ReactionTo<typeof alertRaised>;
  approvalRequested: ReactionTo<typeof approvalRequested>;
  scheduleMissed: ReactionTo<typeof scheduleMissed>;
}

export function triggerReactions(deps: Deps, listening: ListeningWorkspaces): TriggerReactions {
  const { pool } = deps;
  const name = 'triggers';
  const isAwaited = (type: TriggerEvent) => (_data: unknown, workspaceId: string) => awaited(pool, workspaceId, type);
  const react = (tx: PoolClient, happening: Happening) => startAwaiting(deps, tx, happening);
  return {
    runFinished: {
      name,
      wants: async (data, workspaceId) => {
        const type = runFinishedTypeOf(data);
        return type !== null && (await listening.includes(workspaceId)) && awaited(pool, workspaceId, type);
      },
      handle: async (tx, received) => {
        const type = runFinishedTypeOf(received.data);
        if (type) await react(tx, ofFinishedRun(type, received));
      },
    },
    alertRaised: {
      name,
      wants: isAwaited('alert.raised'),
      handle: async (tx, received) => {
        const { rowCount } = await tx.query('SELECT 1 FROM workers WHERE workspace_id = $1 AND id = $2', [
          received.workspaceId,
          received.data.subjectId,
        ]);
        await react(tx, ofRaisedAlert(received, rowCount === 1));
      },
    },
    approvalRequested: {
      name,
      wants: isAwaited('approval.requested'),
      handle: async (tx, received) => {
        await react(tx, ofRequestedApproval(received, await depthOf(tx, received.data.runId)));
      },
    },
    scheduleMissed: {
      name,
      wants: isAwaited('schedule.missed'),
      handle: (tx, received) => react(tx, ofMissedSchedule(received)),
    },
  };
}

/** Most workspaces wait for nothing: one look into an index then is all that an event costs. */
async function awaited(sql: Sql, workspaceId: string, type: TriggerEvent): Promise<boolean> {
  const { rowCount } = await sql.query(
    `SELECT 1 FROM worker_triggers WHERE workspace_id = $1 AND type = 'event' AND $2 = ANY ("on") LIMIT 1`,
    [workspaceId, type],
  );
  return rowCount === 1;
}

interface Source {
  uid: string | null;
  /** Name by which the `source_id` of a trigger may refer to it. */
  id: string | null;
  isShared: boolean;
  ownerId: string | null;
}

async function startAwaiting(deps: Deps, tx: PoolClient, happening: Happening) {
  const source = await findSource(tx, happening);
  if (!source) return;
  const workers = await listAwaiting(tx, happening, source);
  if (workers.length && happening.depth >= DEPTH_MAX) {
    const workerIds = workers.map(({ id }) => id);
    deps.log.warn({ workspaceId: happening.workspaceId, workerIds, type: happening.type }, 'circle of events ended');
    return;
  }
  const inputs = { event: eventInput(happening, source) };
  for (const worker of workers) {
    try {
      // Each has a savepoint of its own. An event that can't be dealt with now comes again.
      await startOrRefuse(deps, tx, { worker, inputs, depth: happening.depth + 1, trigger: 'event' });
    } catch (err) {
      if (isAway(err)) throw err;
      deps.log.error({ err, workspaceId: worker.workspaceId, workerId: worker.id }, 'run not started by an event');
    }
  }
}

/** Null for a worker that is gone for good. */
async function findSource(sql: Sql, { workspaceId, about }: Happening): Promise<Source | null> {
  if (about === null) return { uid: null, id: null, isShared: true, ownerId: null };
  if ('automationId' in about) return { uid: null, id: about.automationId, isShared: true, ownerId: null };
  const [column, value] = 'workerUid' in about ? ['uid', about.workerUid] : ['id', about.workerId];
  const { rows } = await sql.query<Source>(
    `SELECT uid, id, visibility = 'workspace' AS "isShared", owner_id AS "ownerId"
     FROM workers WHERE workspace_id = $1 AND ${column} = $2`,
    [workspaceId, value],
  );
  return rows[0] ?? null;
}

type Awaiting = Pick<Worker, 'uid' | 'id' | 'workspaceId' | 'name' | 'status' | 'currentVersion'>;

/**
 * Active workers with a trigger for it. A trigger without a source hears all others but not its own worker; what a private
 * worker does is heard by private ones of the same owner, for the runs of others are read by others.
 */
async function listAwaiting(sql: Sql, { workspaceId, type }: Happening, source: Source): Promise<Awaiting[]> {
  const { rows } = await sql.query<Awaiting>(
    `SELECT w.uid, w.id, w.workspace_id AS "workspaceId", w.name, w.status, w.current_version AS "currentVersion"
     FROM workers w
     JOIN workspaces s ON s.id = w.workspace_id AND s.deleted_at IS NULL
     WHERE w.workspace_id = $1 AND w.status = 'active' AND w.deleted_at IS NULL
       AND ($5 OR (w.visibility = 'private' AND w.owner_id = $6))
       AND w.uid IN (
         SELECT worker_uid FROM worker_triggers t
         WHERE t.workspace_id = $1 AND t.type = 'event' AND $2 = ANY (t."on")
           AND (t.source_id = $3 OR (t.source_id IS NULL AND t.worker_uid IS DISTINCT FROM $4)))
     ORDER BY w.uid`,
    [workspaceId, type, source.id, source.uid, source.isShared, source.ownerId],
  );
  return rows;
}

function eventInput({ type, at, about, details }: Happening, source: Source) {
  const isAutomation = about !== null && 'automationId' in about;
  return {
    type,
    at: at.toISOString(),
    worker_id: isAutomation ? null : source.id,
    automation_id: isAutomation ? source.id : null,
    ...details,
  };
}
