import type { Sql } from '@gantry/postgres';
import type { Run } from '@gantry/run-engine';
import type { OwnedResource } from '../access/ownership';

const OWNER = 'SELECT visibility, owner_id AS "ownerId" FROM workers WHERE workspace_id = $1 AND uid = $2';

/** The owner of a run's worker; null: it was deleted. */
export async function findWorkerOwner(
  sql: Sql,
  { workspaceId, subjectId }: Pick<Run, 'workspaceId' | 'subjectId'>,
): Promise<OwnedResource | null> {
  return (await sql.query<OwnedResource>(OWNER, [workspaceId, subjectId])).rows[0] ?? null;
}
