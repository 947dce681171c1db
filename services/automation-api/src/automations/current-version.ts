import { buildWorkspaceClosedSql } from '@gantry/events';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { AutomationStatus, Visibility } from '../generated/prisma/client';

/** The fields of an automation and its current version that starting a run reads. */
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
 * Finds an automation without a workspace, since a visitor of a public page has only the link. Each caller must
 * compare `workspaceId`, or `visibility`, before anything else. Null in a closed workspace.
 */
export async function findCurrentVersion(pool: Pool, automationId: string): Promise<CurrentVersion | null> {
  const { rows } = await pool.query({
    name: 'find-current',
    text: `SELECT a.id, a.workspace_id AS "workspaceId", a.name, a.description, a.status, a.visibility,
             v.version, v.artifact_id AS "artifactId"
           FROM automations a
           JOIN automation_versions v ON v.automation_id = a.id AND v.version = a.current_version
           WHERE a.id = $1 AND NOT ${buildWorkspaceClosedSql('a.workspace_id')}`,
    values: [automationId],
  });
  return rows[0] ?? null;
}

/** SQL condition for the engine: a run's automation is still what findCurrentVersion found. */
export const IS_CURRENT_SQL = `EXISTS (SELECT FROM automations
  WHERE id = $subject_id AND workspace_id = $workspace_id AND current_version = $version AND status = 'active')`;

const RECENT_MAX = 1_000;

/** Caches automations as they were at their last run. A caller who uses one must confirm it. */
export type RecentAutomations = LRUCache<string, CurrentVersion>;

export const createRecentAutomationCache = (): RecentAutomations => new LRUCache({ max: RECENT_MAX });
