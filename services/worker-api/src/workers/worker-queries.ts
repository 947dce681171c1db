/** Reads workers and their versions for other folders, with SQL. Nothing here writes. */
import { hasRoleAtLeast, type Principal } from '@gantry/limits';
import { execute, findRow, listRows, type Sql, type Tx } from '@gantry/postgres';
import type { InputItem } from '@gantry/program';
import { findOwnerId } from '../access/ownership';
import type { Worker, WorkerStatus } from '../generated/prisma/client';
import { parseStoredDefinition } from './definition';
import type { Version } from './version-repository';

export interface WorkerSummary extends Pick<Worker, 'uid' | 'id' | 'name' | 'visibility' | 'ownerId'> {
  isDeleted: boolean;
}

/** Also one that was deleted; undefined: it is gone for good. */
export async function findWorkerSummary(
  sql: Sql,
  workspaceId: string,
  key: { uid: string } | { id: string },
): Promise<WorkerSummary | undefined> {
  const [column, value] = 'uid' in key ? ['uid', key.uid] : ['id', key.id];
  return findRow(
    sql,
    `SELECT uid, id, name, visibility, owner_id AS "ownerId", deleted_at IS NOT NULL AS "isDeleted"
     FROM workers WHERE workspace_id = $1 AND ${column} = $2`,
    [workspaceId, value],
  );
}

export type SharedWorker = Pick<Worker, 'uid' | 'name' | 'description' | 'currentVersion'>;

/** A worker that every run of the workspace may call. */
export const findSharedWorker = (sql: Sql, workspaceId: string, id: string): Promise<SharedWorker | undefined> =>
  findRow(
    sql,
    `SELECT uid, name, description, current_version AS "currentVersion" FROM workers
     WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL AND visibility = 'workspace'`,
    [workspaceId, id],
  );

/** Locks the worker until the transaction ends. @returns false where it was deleted */
export const lockWorker = async (tx: Tx, workspaceId: string, uid: string): Promise<boolean> =>
  (await execute(
    tx,
    'SELECT FROM workers WHERE workspace_id = $1 AND uid = $2 AND deleted_at IS NULL FOR NO KEY UPDATE',
    [workspaceId, uid],
  )) === 1;

/** Condition: the worker is there, deleted or not. */
export const buildWorkerExistsSql = (uid: string): string => `EXISTS (SELECT FROM workers w WHERE w.uid = ${uid})`;

export type VersionToRun = Pick<Version, 'definition' | 'code' | 'onlyWorkers' | 'sha' | 'needsApproval'>;

/** @param number null: of a run without a version, which finds none */
export async function findVersionToRun(
  sql: Sql,
  workerUid: string,
  number: number | null,
): Promise<VersionToRun | undefined> {
  const { rows } = await sql.query<VersionToRun>(
    `SELECT definition, json_build_object('digest', code_digest, 'key', code_key, 'size', code_size) AS code,
       only_workers AS "onlyWorkers", sha, needs_approval AS "needsApproval"
     FROM worker_versions WHERE worker_uid = $1 AND number = $2`,
    [workerUid, number],
  );
  return rows[0] && { ...rows[0], definition: parseStoredDefinition(rows[0].definition) };
}

/** Value, in US dollars: the budget for a month of a version. @param version alias of the table */
export const buildBudgetSql = (version: string): string =>
  `(${version}.definition -> 'limits' ->> 'budget_usd_per_month')::float8`;

const SELECT_CURRENT_VERSION =
  'FROM workers w JOIN worker_versions v ON v.worker_uid = w.uid AND v.number = w.current_version';

/** In US dollars for a month; null: the worker has no budget. */
export async function findBudget(sql: Sql, workspaceId: string, uid: string): Promise<number | null> {
  const { rows } = await sql.query<{ definition: unknown }>(
    `SELECT v.definition ${SELECT_CURRENT_VERSION} WHERE w.workspace_id = $1 AND w.uid = $2`,
    [workspaceId, uid],
  );
  return rows[0] ? parseStoredDefinition(rows[0].definition).limits.budget_usd_per_month : null;
}

/** Inputs of the current versions of these workers, by uid. */
export async function listInputs(sql: Sql, workspaceId: string, uids: string[]): Promise<Map<string, InputItem[]>> {
  const { rows } = await sql.query<{ uid: string; inputs: InputItem[] }>(
    `SELECT w.uid, v.definition -> 'inputs' AS inputs ${SELECT_CURRENT_VERSION} WHERE w.workspace_id = $1 AND w.uid = ANY($2)`,
    [workspaceId, uids],
  );
  return new Map(rows.map(({ uid, inputs }) => [uid, inputs]));
}

/** Condition: a version has this pack. */
export const buildVersionHasPackSql = (key: string): string =>
  `EXISTS (SELECT FROM worker_versions WHERE code_key = ${key})`;

/** Condition for workers that the caller sees, with parameters $1 to $3. */
export const VISIBLE_CONDITION = `w.workspace_id = $1 AND w.deleted_at IS NULL AND (w.visibility = 'workspace' OR w.owner_id = $2 OR $3)`;

/** Values of the parameters of VISIBLE. */
export const toVisibilityValues = (caller: Principal): [workspaceId: string, ownerId: string | null, all: boolean] => [
  caller.workspaceId,
  findOwnerId(caller),
  hasRoleAtLeast(caller.role, 'admin'),
];

/** Counts the workers that the caller sees. @param max bounds the count */
export async function countWorkersByStatus(
  sql: Sql,
  caller: Principal,
  max: number,
): Promise<Record<WorkerStatus, number>> {
  const { rows } = await sql.query<{ status: WorkerStatus; count: number }>(
    `SELECT status, count(*)::int AS count FROM (SELECT w.status FROM workers w WHERE ${VISIBLE_CONDITION} LIMIT $4) AS bounded
     GROUP BY status`,
    [...toVisibilityValues(caller), max],
  );
  return { active: 0, paused: 0, archived: 0, ...Object.fromEntries(rows.map(({ status, count }) => [status, count])) };
}

/** Active ones that the caller sees, newest first. */
export const listNewestWorkers = (
  sql: Sql,
  caller: Principal,
  limit: number,
): Promise<Pick<Worker, 'uid' | 'id' | 'name' | 'currentVersion'>[]> =>
  listRows(
    sql,
    `SELECT w.uid, w.id, w.name, w.current_version AS "currentVersion" FROM workers w WHERE ${VISIBLE_CONDITION} AND w.status = 'active'
     ORDER BY w.created_at DESC, w.uid DESC LIMIT $4`,
    [...toVisibilityValues(caller), limit],
  );
