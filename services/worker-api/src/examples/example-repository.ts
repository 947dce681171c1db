import { notFound } from '@gantry/errors';
import { createUnnamedStatement, listRows, loadCount, type Sql, writeRow } from '@gantry/postgres';
import type { WorkerKey } from '../workers/version-repository';
import type { Example } from './example';

const EXAMPLE = `SELECT id, worker_uid AS "workerUid", name, description, inputs, checks,
    max_duration_seconds AS "maxDurationSeconds", max_cost_usd AS "maxCostUsd", enabled, of_run_id AS "ofRunId",
    created_by AS "createdBy", created_at AS "createdAt", updated_at AS "updatedAt"
  FROM worker_examples`;

/** Oldest first. */
export async function listExamples(
  sql: Sql,
  { workspaceId, uid }: WorkerKey,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ examples: Example[]; total: number }> {
  const { rows } = await sql.query<Example>(
    `${EXAMPLE} WHERE workspace_id = $1 AND worker_uid = $2 ORDER BY created_at, id LIMIT $3 OFFSET $4`,
    [workspaceId, uid, limit, offset],
  );
  return { examples: rows, total: await countExamples(sql, { workspaceId, uid }) };
}

export const countExamples = (sql: Sql, { workspaceId, uid }: WorkerKey): Promise<number> =>
  loadCount(sql, 'SELECT count(*)::int AS count FROM worker_examples WHERE workspace_id = $1 AND worker_uid = $2', [
    workspaceId,
    uid,
  ]);

/** @param ids those, enabled or not; undefined: all that are enabled. By name */
export const listExamplesToEvaluate = (sql: Sql, { workspaceId, uid }: WorkerKey, ids?: string[]): Promise<Example[]> =>
  listRows(
    sql,
    `${EXAMPLE} WHERE workspace_id = $1 AND worker_uid = $2
       AND CASE WHEN $3::text[] IS NULL THEN enabled ELSE id = ANY($3) END ORDER BY name, id`,
    [workspaceId, uid, ids ?? null],
  );

/** @throws AppError 404 */
export async function getExample(sql: Sql, { workspaceId, uid }: WorkerKey, id: string): Promise<Example> {
  const { rows } = await sql.query<Example>(`${EXAMPLE} WHERE workspace_id = $1 AND worker_uid = $2 AND id = $3`, [
    ...[workspaceId, uid, id],
  ]);
  if (!rows[0]) throw notFound('example', id, 'for this worker');
  return rows[0];
}

type StoredExample = Omit<Example, 'workerUid' | 'createdAt' | 'updatedAt'> & WorkerKey;

const toParams = ({ inputs, checks, ...example }: StoredExample) => ({
  ...example,
  inputs: JSON.stringify(inputs),
  checks: JSON.stringify(checks),
});

const INSERT = createUnnamedStatement(`
  INSERT INTO worker_examples (id, workspace_id, worker_uid, name, description, inputs, checks, max_duration_seconds,
    max_cost_usd, enabled, of_run_id, created_by, updated_at)
  VALUES ($id, $workspaceId, $uid, $name, $description, $inputs, $checks, $maxDurationSeconds, $maxCostUsd, $enabled,
    $ofRunId, $createdBy, now())`);

export const insertExample = (tx: Sql, example: StoredExample): Promise<unknown> => tx.query(INSERT(toParams(example)));

const UPDATE = createUnnamedStatement(`
  UPDATE worker_examples SET name = $name, description = $description, inputs = $inputs, checks = $checks,
    max_duration_seconds = $maxDurationSeconds, max_cost_usd = $maxCostUsd, enabled = $enabled, updated_at = now()
  WHERE workspace_id = $workspaceId AND worker_uid = $uid AND id = $id`);

export const updateExample = (tx: Sql, example: StoredExample): Promise<unknown> => tx.query(UPDATE(toParams(example)));

export async function lockExample(tx: Sql, worker: WorkerKey, id: string): Promise<Example> {
  await tx.query('SELECT 1 FROM worker_examples WHERE workspace_id = $1 AND worker_uid = $2 AND id = $3 FOR UPDATE', [
    ...[worker.workspaceId, worker.uid, id],
  ]);
  return getExample(tx, worker, id);
}

/** @returns whether there was one */
export const deleteExample = (tx: Sql, { workspaceId, uid }: WorkerKey, id: string): Promise<boolean> =>
  writeRow(tx, 'DELETE FROM worker_examples WHERE workspace_id = $1 AND worker_uid = $2 AND id = $3', [
    workspaceId,
    uid,
    id,
  ]);
