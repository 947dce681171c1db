/** Taking runs away for good, with all that lies in the object store because of them. */
import type { ObjectStore } from '@gantry/object-store';
import type { PoolClient } from 'pg';

/** Keeps each statement far below the statement timeout. */
const RUNS_AT_ONCE = 500;
const OBJECTS_AT_ONCE = 20;

type Sql = Pick<PoolClient, 'query'>;

interface RunKeys {
  id: string;
  output_key: string | null;
  /** What was given as inputs of type `file`. */
  inputs: string[];
  artifacts: string[];
}

const ENDED = "('completed', 'failed', 'cancelled', 'timed_out', 'rejected')";
const RUNS = `SELECT r.id, r.output_key,
    ARRAY(SELECT file ->> 'key' FROM json_array_elements(r.spec -> 'files') AS file) AS inputs,
    ARRAY(SELECT key FROM run_artifacts a WHERE a.run_id = r.id) AS artifacts
  FROM runs r WHERE r.workspace_id = $1 AND ($2::text IS NULL OR r.subject_id = $2)`;

/**
 * Objects go first: a row whose objects are gone is found again by whoever goes on, an object without a row is not.
 * @returns how many are gone; call again until there are none
 */
export async function deleteEndedRuns(
  sql: Sql,
  objects: ObjectStore,
  { workspaceId, workerUid }: { workspaceId: string; workerUid: string },
): Promise<number> {
  const { rows } = await sql.query<RunKeys>(`${RUNS} AND r.status IN ${ENDED} LIMIT ${RUNS_AT_ONCE}`, [
    workspaceId,
    workerUid,
  ]);
  return deleteRuns(sql, objects, workspaceId, rows);
}

/** Of a workspace that is gone, whatever state they are in. */
export async function deleteRunsOfWorkspace(sql: Sql, objects: ObjectStore, workspaceId: string): Promise<number> {
  const { rows } = await sql.query<RunKeys>(`${RUNS} LIMIT ${RUNS_AT_ONCE}`, [workspaceId, null]);
  return deleteRuns(sql, objects, workspaceId, rows);
}

async function deleteRuns(sql: Sql, objects: ObjectStore, workspaceId: string, runs: RunKeys[]): Promise<number> {
  const keys = runs.flatMap(({ id, output_key, inputs, artifacts }) => [
    ...inputs,
    ...artifacts,
    ...(output_key ? [output_key] : []),
    `${workspaceId}/runs/${id}/inputs.json`,
    `${workspaceId}/runs/${id}/steps.json`,
  ]);
  // A key of another workspace would be somebody else's: the row says so, and it is not believed.
  await deleteObjects(
    objects,
    keys.filter((key) => key.startsWith(`${workspaceId}/`)),
  );
  // Events, artifacts and steps go with their run.
  await sql.query('DELETE FROM runs WHERE id = ANY($1)', [runs.map(({ id }) => id)]);
  return runs.length;
}

export async function deleteObjects(objects: ObjectStore, keys: string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += OBJECTS_AT_ONCE) {
    await Promise.all(keys.slice(start, start + OBJECTS_AT_ONCE).map((key) => objects.delete(key)));
  }
}
