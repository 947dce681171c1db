import type { Pool } from 'pg';
import type { AutomationStatus, Visibility } from '../generated/prisma/client';

/** An automation with what its current version runs: all that starting a run reads. */
export interface CurrentVersion {
  id: string;
  workspaceId: string;
  name: string;
  description: string;
  status: AutomationStatus;
  visibility: Visibility;
  version: number;
  artifactId: string;
}

/**
 * The one query that finds an automation without a workspace: a page's link is all that a stranger has. Whoever calls it
 * compares `workspaceId`, or `visibility`, before anything else.
 */
export async function findCurrent(pool: Pool, automationId: string): Promise<CurrentVersion | null> {
  const { rows } = await pool.query({
    name: 'find-current',
    text: `SELECT a.id, a.workspace_id AS "workspaceId", a.name, a.description, a.status, a.visibility,
             v.version, v.artifact_id AS "artifactId"
           FROM automations a
           JOIN automation_versions v ON v.automation_id = a.id AND v.version = a.current_version
           WHERE a.id = $1`,
    values: [automationId],
  });
  return rows[0] ?? null;
}
