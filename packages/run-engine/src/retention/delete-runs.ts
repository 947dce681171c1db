/** Deletes runs permanently. Artifacts and steps are deleted with the row. */
import type { ObjectStore } from '@gantry/object-store';
import { hasRow, listIds, type Sql, transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import { buildRunFolder } from '../object-keys';
import { type Run, terminalStatuses } from '../run';

/** Each keeps its statement far below the statement timeout. */
export const RUN_BATCH = 500;
const FOLDER_BATCH = 20;

const ENDED_CONDITION = `status IN ('${terminalStatuses.join("', '")}')`;

/** Deletes the service's own rows of these runs, in the transaction that deletes the runs. */
export type DeleteRunRows = (tx: Sql, runIds: string[]) => Promise<unknown>;

/**
 * Deletes the runs of a subject that have ended. Several processes may do it at once, and resume an interrupted
 * deletion.
 * @returns false while one of its runs is active, or another process is deleting one
 */
export async function deleteRunsOfSubject(
  pool: Pool,
  objects: ObjectStore,
  { workspaceId, subjectId }: Pick<Run, 'workspaceId' | 'subjectId'>,
): Promise<boolean> {
  const selectBatch = `SELECT id FROM runs WHERE workspace_id = $1 AND subject_id = $2 AND ${ENDED_CONDITION} LIMIT ${RUN_BATCH}`;
  const deleteBatch = async () =>
    deleteEndedRuns({ pool, objects }, workspaceId, await listIds(pool, selectBatch, [workspaceId, subjectId]));
  while (await deleteBatch());
  const remaining = 'SELECT FROM runs WHERE workspace_id = $1 AND subject_id = $2 LIMIT 1';
  return !(await hasRow(pool, remaining, [workspaceId, subjectId]));
}

/**
 * Deletes those of the runs that have ended and that no other process is deleting. Objects are deleted first: a row
 * without objects is found again, objects without a row are not.
 * @returns the number of deleted runs
 */
export async function deleteEndedRuns(
  deps: { pool: Pool; objects: ObjectStore; deleteWithRuns?: DeleteRunRows },
  workspaceId: string,
  runIds: string[],
): Promise<number> {
  if (!runIds.length) return 0;
  return transaction(deps.pool, async (tx) => {
    const ids = await listIds(
      tx,
      `SELECT id FROM runs WHERE workspace_id = $1 AND id = ANY($2) AND ${ENDED_CONDITION} FOR UPDATE SKIP LOCKED`,
      [workspaceId, runIds],
    );
    const files = await listInputFiles(tx, workspaceId, ids);
    const removals = [
      ...ids.map((id) => () => deps.objects.deleteFolder(buildRunFolder(workspaceId, id))),
      ...files.map((key) => () => deps.objects.delete(key)),
    ];
    for (let start = 0; start < removals.length; start += FOLDER_BATCH) {
      await Promise.all(removals.slice(start, start + FOLDER_BATCH).map((remove) => remove()));
    }
    await deps.deleteWithRuns?.(tx, ids);
    await deleteRows(tx, ids);
    return ids.length;
  });
}

/**
 * Lists the keys of the input files of these runs, except those shared with another run: a replay has the files of the
 * run that it repeats. Uploads expire separately. Keys of another workspace's objects are ignored.
 */
async function listInputFiles(sql: Sql, workspaceId: string, runIds: string[]): Promise<string[]> {
  const { rows } = await sql.query<{ key: string }>(
    `SELECT file ->> 'key' AS key FROM runs r CROSS JOIN json_array_elements(r.spec -> 'files') AS file
     WHERE r.id = ANY($1) AND starts_with(file ->> 'key', $2) AND NOT EXISTS (
       SELECT FROM runs other WHERE other.id <> ALL($1)
         AND (other.id = r.parent_run_id OR other.parent_run_id = r.id OR other.parent_run_id = r.parent_run_id)
         AND 'replay' IN (r.trigger, other.trigger))`,
    [runIds, `${workspaceId}/inputs/`],
  );
  return rows.map(({ key }) => key);
}

const EVENT_BATCH = 10_000;

/** Deletes the events of these runs. PostgreSQL can select the week's partitions only by the ids. */
export async function deleteEvents(sql: Sql, runIds: string[], table = 'run_events'): Promise<void> {
  const selectBatch = `DELETE FROM ${table} WHERE run_id = ANY($1) AND (run_id, seq) IN (
    SELECT run_id, seq FROM ${table} WHERE run_id = ANY($1) LIMIT ${EVENT_BATCH})`;
  while (runIds.length && (await sql.query(selectBatch, [runIds])).rowCount === EVENT_BATCH);
}

async function deleteRows(sql: Sql, runIds: string[]): Promise<void> {
  await deleteEvents(sql, runIds);
  await sql.query('DELETE FROM runs WHERE id = ANY($1)', [runIds]);
}

/**
 * Deletes the rows of all runs of a workspace, whatever their state. Their objects are deleted with the workspace's
 * folder.
 */
export async function deleteRunsOfWorkspace(sql: Sql, workspaceId: string): Promise<void> {
  const selectBatch = `SELECT id FROM runs WHERE workspace_id = $1 LIMIT ${RUN_BATCH}`;
  for (
    let ids = await listIds(sql, selectBatch, [workspaceId]);
    ids.length;
    ids = await listIds(sql, selectBatch, [workspaceId])
  ) {
    await deleteRows(sql, ids);
  }
  await sql.query('DELETE FROM run_retention WHERE workspace_id = $1', [workspaceId]);
  await sql.query('DELETE FROM dependency_locks WHERE workspace_id = $1', [workspaceId]);
  await sql.query('DELETE FROM dependency_installations WHERE workspace_id = $1', [workspaceId]);
}
