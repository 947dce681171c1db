/** Statements that lock, join or count automations: for schedules, the overview and the list of secrets. */
import { buildWorkspaceClosedSql } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import type { Misfire } from '@gantry/schedule';
import { buildSecretsNeededSql } from '../artifacts/artifact-repository';

export interface DueAutomation {
  id: string;
  workspaceId: string;
  schedule: string;
  timezone: string;
  misfire: Misfire;
  inputs: Record<string, unknown>;
  nextRunAt: Date;
  version: number;
  artifactId: string;
}

/** When the next automation is due. */
export const AUTOMATIONS_DUE_AT = `(SELECT a.next_run_at FROM automations a
  WHERE a.next_run_at IS NOT NULL AND NOT ${buildWorkspaceClosedSql('a.workspace_id')} ORDER BY a.next_run_at LIMIT 1)`;

/** Locks the next due automation. Undefined: none is due, or other replicas have locked all of them. */
export async function lockDueAutomation(tx: Sql, at: Date): Promise<DueAutomation | undefined> {
  const { rows } = await tx.query<DueAutomation>({
    name: 'lock-due',
    text: `SELECT a.id, a.workspace_id AS "workspaceId", a.schedule, a.timezone, a.misfire, a.schedule_inputs AS inputs,
             a.next_run_at AS "nextRunAt", v.version, v.artifact_id AS "artifactId"
           FROM automations a
           JOIN automation_versions v ON v.automation_id = a.id AND v.version = a.current_version
           WHERE a.next_run_at <= $1 AND NOT ${buildWorkspaceClosedSql('a.workspace_id')}
           ORDER BY a.next_run_at LIMIT 1
           FOR UPDATE OF a SKIP LOCKED`,
    values: [at],
  });
  return rows[0];
}

/** Advances a schedule past a fire. @param missed number of fires before it that did not happen */
export const advanceSchedule = (
  sql: Sql,
  id: string,
  { nextRunAt, lastScheduledAt, missed }: { nextRunAt: Date | null; lastScheduledAt: Date | null; missed: number },
): Promise<unknown> =>
  sql.query(
    `UPDATE automations SET next_run_at = $2, last_scheduled_at = coalesce($3, last_scheduled_at),
       missed_fires = missed_fires + $4 WHERE id = $1`,
    [id, nextRunAt, lastScheduledAt, missed],
  );

/** Counts automations, without archived ones. @param max the count stops there */
export async function countAutomations(
  sql: Sql,
  workspaceId: string,
  max: number,
): Promise<{ total: number; active: number }> {
  const { rows } = await sql.query<{ total: number; active: number }>(
    `SELECT count(*)::int AS total, (count(*) FILTER (WHERE status = 'active'))::int AS active FROM (
       SELECT status FROM automations WHERE workspace_id = $1 AND status <> 'archived' LIMIT $2
     ) AS bounded`,
    [workspaceId, max],
  );
  return rows[0] ?? { total: 0, active: 0 };
}

/** Lists active automations with their current versions, newest first. */
export async function listNewestAutomations(
  sql: Sql,
  workspaceId: string,
  limit: number,
): Promise<{ id: string; version: number }[]> {
  const { rows } = await sql.query<{ id: string; version: number }>(
    `SELECT id, current_version AS version FROM automations WHERE workspace_id = $1 AND status = 'active'
     ORDER BY created_at DESC, id DESC LIMIT $2`,
    [workspaceId, limit],
  );
  return rows;
}

export interface DeclaredSecret {
  name: string;
  usedBy: { id: string; name: string }[];
}

/** Lists declared secrets, each with the automations whose current version declares it, oldest first. */
export async function listDeclaredSecrets(sql: Sql, workspaceId: string): Promise<DeclaredSecret[]> {
  const { rows } = await sql.query<DeclaredSecret>(
    `SELECT declared.name, json_agg(json_build_object('id', a.id, 'name', a.name) ORDER BY a.created_at, a.id) AS "usedBy"
     FROM automations a
     JOIN automation_versions v ON v.automation_id = a.id AND v.version = a.current_version
     CROSS JOIN LATERAL jsonb_array_elements_text(${buildSecretsNeededSql('v.artifact_id')}) AS declared (name)
     WHERE a.workspace_id = $1 AND a.status <> 'archived'
     GROUP BY declared.name
     ORDER BY declared.name COLLATE "C"`,
    [workspaceId],
  );
  return rows;
}
