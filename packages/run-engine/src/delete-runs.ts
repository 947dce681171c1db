/** Deleting runs for good, and the one place that knows the keys of their objects. Events, artifacts and steps go with the row. */
import type { ObjectStore } from '@gantry/object-store';
import type { Sql } from './run-row';

/** Each keeps its statement far below the statement timeout. */
const RUNS_AT_ONCE = 500;
const FOLDERS_AT_ONCE = 20;

/** All that a run leaves in the object store lies here, whichever attempt wrote it; its input files alone lie elsewhere. */
export const runFolder = (workspaceId: string, runId: string): string => `${workspaceId}/runs/${runId}`;

interface Subject {
  workspaceId: string;
  subjectId: string;
}

/**
 * Deletes the runs of a subject that have ended. Several processes may do it at once, and begin again where one left off.
 * @returns false while one of its runs goes on
 */
export async function deleteRunsOfSubject(sql: Sql, objects: ObjectStore, subject: Subject): Promise<boolean> {
  while (await deleteSomeEnded(sql, objects, subject));
  const { rowCount } = await sql.query({
    text: 'SELECT FROM runs WHERE workspace_id = $1 AND subject_id = $2 LIMIT 1',
    values: [subject.workspaceId, subject.subjectId],
  });
  return !rowCount;
}

/** Objects go first: a row whose objects are gone is found again, objects without a row are not. @returns how many */
async function deleteSomeEnded(sql: Sql, objects: ObjectStore, { workspaceId, subjectId }: Subject): Promise<number> {
  const { rows } = await sql.query({
    text: `SELECT id, ARRAY(SELECT file ->> 'key' FROM json_array_elements(spec -> 'files') AS file) AS inputs FROM runs
      WHERE workspace_id = $1 AND subject_id = $2 AND status IN ('completed', 'failed', 'cancelled', 'timed_out', 'rejected')
      LIMIT ${RUNS_AT_ONCE}`,
    values: [workspaceId, subjectId],
  });
  for (let start = 0; start < rows.length; start += FOLDERS_AT_ONCE) {
    await Promise.all(
      rows.slice(start, start + FOLDERS_AT_ONCE).map(async ({ id, inputs }) => {
        await objects.deleteFolder(runFolder(workspaceId, id));
        // The row is not believed where it names an object of another workspace.
        const own = inputs.filter((key: string) => key.startsWith(`${workspaceId}/`));
        await Promise.all(own.map((key: string) => objects.delete(key)));
      }),
    );
  }
  await sql.query({ text: 'DELETE FROM runs WHERE id = ANY($1)', values: [rows.map(({ id }) => id)] });
  return rows.length;
}

/** Deletes the rows of all runs of a workspace, whatever their state. Their objects go with the workspace's folder. */
export async function deleteRunsOfWorkspace(sql: Sql, workspaceId: string): Promise<void> {
  const some = {
    text: `DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE workspace_id = $1 LIMIT ${RUNS_AT_ONCE})`,
    values: [workspaceId],
  };
  while ((await sql.query(some)).rowCount);
}
