import type { Sql } from '@gantry/postgres';
import type { Run } from '@gantry/run-engine';
import type { Owned } from '../access/ownership';

const OWNER = 'SELECT visibility, owner_id AS "ownerId" FROM workers WHERE workspace_id = $1 AND uid = $2';

/** The owner of a run's worker; null: it was deleted. */
export async function findOwner(
  sql: Sql,
  { workspaceId, subjectId }: Pick<Run, 'workspaceId' | 'subjectId'>,
): Promise<Owned | null> {
  return (await sql.query<Owned>(OWNER, [workspaceId, subjectId])).rows[0] ?? null;
}
