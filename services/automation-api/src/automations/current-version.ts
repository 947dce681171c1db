import { isClosedSql } from '@gantry/events';
import { LRUCache } from 'lru-cache';
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
 * The one query that finds an automation without a workspace: a page's link is all that a stranger has. Each caller
 * compares `workspaceId`, or `visibility`, before anything else. Null in a closed workspace.
 */
export async function findCurrent(pool: Pool, automationId: string): Promise<CurrentVersion | null> {
  const { rows } = await pool.query({
    name: 'find-current',
    text: `SELECT a.id, a.workspace_id AS "workspaceId", a.name, a.description, a.status, a.visibility,
             v.version, v.artifact_id AS "artifactId"
           FROM automations a
           JOIN automation_versions v ON v.automation_id = a.id AND v.version = a.current_version
           WHERE a.id = $1 AND NOT ${isClosedSql('a.workspace_id')}`,
    values: [automationId],
  });
  return rows[0] ?? null;
}

/** For the engine: whether a run's automation still is what findCurrent found. */
export const IS_CURRENT = `EXISTS (SELECT FROM automations
  WHERE id = $subject_id AND workspace_id = $workspace_id AND current_version = $version AND status = 'active')`;

const RECENT_MAX = 1_000;

/** Automations as they were when they were last run. A caller who uses one has it confirmed. */
export type RecentAutomations = LRUCache<string, CurrentVersion>;

export const createRecentAutomations = (): RecentAutomations => new LRUCache({ max: RECENT_MAX });
