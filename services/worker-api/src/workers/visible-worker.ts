/** Runs are seen by those who see their worker: a private worker's by its owner and by admins. */

import { forbidden, notFound } from '@gantry/errors';
import type { Principal } from '@gantry/limits';
import type { Sql } from '@gantry/postgres';
import type { Run } from '@gantry/run-engine';
import { canSee, canSeeWorker } from '../access/ownership';
import type { Db } from '../database';
import type { Worker } from '../generated/prisma/client';
import type { WorkerDeps } from './worker-deps';
import { findWorkerByUid, isWorkerPublished } from './worker-repository';

/** @throws AppError 404 as if there were no such run */
export async function getRunWorker(db: Db, caller: Principal, run: Run): Promise<Worker> {
  const worker = await findWorkerByUid(db, caller.workspaceId, run.subjectId);
  if (!worker || !canSeeWorker(caller, worker)) throw notFound('run', run.id);
  return worker;
}

/** Like getRunWorker, where nothing of the worker is needed. @throws AppError 404 */
export async function getVisibleRun(
  { engine, pool }: Pick<WorkerDeps, 'engine' | 'pool'>,
  caller: Principal,
  runId: string,
): Promise<Run> {
  const run = await engine.get(caller.workspaceId, runId);
  const { rows } = await pool.query(
    `SELECT id, visibility, owner_id AS "ownerId" FROM workers WHERE workspace_id = $1 AND uid = $2 AND deleted_at IS NULL`,
    [caller.workspaceId, run.subjectId],
  );
  if (!rows[0] || !canSeeWorker(caller, rows[0])) throw notFound('run', run.id);
  return run;
}

/**
 * For operations that tokens with the toolset `published` have for published workers alone.
 * @param otherToolsets toolsets that have the operation for every worker
 * @throws AppError 403
 */
export async function requireToolsetAccess(
  db: Db,
  { restriction, workspaceId }: Principal,
  workerUid: string,
  otherToolsets: readonly string[],
): Promise<void> {
  const { toolsets } = restriction ?? {};
  // Bounded: 20 toolsets (`maxItems` of TokenRestriction), and those of an operation.
  if (!toolsets || otherToolsets.some((one) => toolsets.includes(one))) return;
  if (await isWorkerPublished(db, workspaceId, workerUid)) return;
  throw forbidden('restricted', 'restrict.toolsets: this token cannot use a worker that is not published as a tool');
}

/** Uids of the workers whose runs this caller is not to see; none for most callers. */
export async function listHiddenWorkers(sql: Sql, caller: Principal): Promise<string[]> {
  const { rows } = await sql.query(
    `SELECT uid, visibility, owner_id AS "ownerId", deleted_at AS "deletedAt" FROM workers
     WHERE workspace_id = $1 AND (visibility = 'private' OR deleted_at IS NOT NULL)`,
    [caller.workspaceId],
  );
  return rows.filter((worker) => worker.deletedAt || !canSee(caller, worker)).map(({ uid }) => uid);
}
