import type { Pool } from 'pg';

export interface DeclaredSecret {
  name: string;
  usedBy: { id: string; name: string }[];
}

/** The current versions count: what runs from now on will need. */
const DECLARED = `SELECT declared.name, json_agg(json_build_object('id', a.id, 'name', a.name) ORDER BY a.created_at, a.id) AS "usedBy"
  FROM automations a
  JOIN automation_versions v ON v.automation_id = a.id AND v.version = a.current_version
  JOIN artifacts f ON f.id = v.artifact_id
  CROSS JOIN LATERAL jsonb_array_elements_text(coalesce(f.manifest -> 'secrets_needed', '[]')) AS declared (name)
  WHERE a.workspace_id = $1 AND a.status <> 'archived'
  GROUP BY declared.name
  ORDER BY declared.name COLLATE "C"`;

/** Names of secrets, each with the automations that declare it, oldest first. */
export async function automationsThatDeclare(pool: Pool, workspaceId: string): Promise<DeclaredSecret[]> {
  return (await pool.query<DeclaredSecret>(DECLARED, [workspaceId])).rows;
}
