/** Workers as starts of runs read them: with plain SQL (ADR 3), in as few statements as there can be. */
import { notFound } from '@gantry/errors';
import type { Principal } from '@gantry/limits';
import { createBatcher, type Sql } from '@gantry/postgres';
import { canSeeWorker, type OwnedResource } from '../access/ownership';
import type { Worker } from '../generated/prisma/client';

export type StartableWorker = Pick<Worker, 'uid' | 'id' | 'workspaceId' | 'name' | 'status' | 'currentVersion'>;

/** Columns of a StartableWorker, of the table as `w`. */
export const STARTABLE =
  'w.uid, w.id, w.workspace_id AS "workspaceId", w.name, w.status, w.current_version AS "currentVersion"';

interface WorkerName {
  workspaceId: string;
  id: string;
}

const BATCH_SIZE_MAX = 100;
const BY_NAME = `SELECT ${STARTABLE}, w.visibility, w.owner_id AS "ownerId"
  FROM unnest($1::text[], $2::text[]) AS n(workspace_id, id)
  JOIN workers w ON w.workspace_id = n.workspace_id AND w.id = n.id AND w.deleted_at IS NULL`;

/**
 * Like getVisibleWorker, and one statement for requests that come together.
 * @throws AppError 404, the same for what is unknown, another workspace's or another member's private one
 */
export function createStartableWorkers(sql: Sql): (principal: Principal, id: string) => Promise<StartableWorker> {
  const find = createBatcher<WorkerName, (StartableWorker & OwnedResource) | undefined>(async (names) => {
    const values = [names.map(({ workspaceId }) => workspaceId), names.map(({ id }) => id)];
    const { rows } = await sql.query<StartableWorker & OwnedResource>({
      name: 'startable-workers',
      text: BY_NAME,
      values,
    });
    // Bounded: BATCH_SIZE_MAX names, and a row for each.
    return names.map((name) => rows.find((row) => row.workspaceId === name.workspaceId && row.id === name.id));
  }, BATCH_SIZE_MAX);
  return async (principal, id) => {
    const worker = await find({ workspaceId: principal.workspaceId, id });
    if (!worker || !canSeeWorker(principal, worker)) throw notFound('worker', id);
    return worker;
  };
}

/**
 * Query: the worker with an id, if runs of another one may call it. A private worker is called by private ones of the
 * same owner only: others may edit what the workspace shares.
 */
export const buildCallableWorkerSql = (workspaceId: string, id: string, callerUid: string): string =>
  `SELECT ${STARTABLE} FROM workers w JOIN workers c ON c.uid = ${callerUid}
   WHERE w.workspace_id = ${workspaceId} AND w.id = ${id} AND w.deleted_at IS NULL
     AND (w.visibility = 'workspace' OR c.visibility = 'private' AND c.owner_id = w.owner_id)`;
