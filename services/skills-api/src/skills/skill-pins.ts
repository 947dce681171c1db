/**
 * Counts workers that use a skill: agents whose text is a copy of one of its versions. worker-api sends the state of a
 * worker with a growing revision, so the counts are exact even with repeated or late events.
 */
import { buildWorkspaceClosedSql, type EventHandlerFor, type workerSkillPinned } from '@gantry/events';
import { deleteOldRows } from '@gantry/postgres';
import type { Pool, PoolClient } from 'pg';
import type { Reader } from '../access/caller';
import { Prisma } from '../generated/prisma/client';
import { buildOwnedFilter } from './access-filters';

type PinnedSkill = Parameters<EventHandlerFor<typeof workerSkillPinned>['handle']>[1];

/**
 * Upserts the pin of a worker. Only a reader of a version has its hash, so no worker counts for a skill that its
 * authors could not read. A hash of a deleted version stays valid for workers that already have it.
 */
export async function upsertPin(tx: PoolClient, { workspaceId, data }: PinnedSkill): Promise<void> {
  const { workerUid, revision, skill } = data;
  await tx.query(
    `INSERT INTO skill_pins AS p (worker_uid, workspace_id, skill_id, content_hash, revision)
     VALUES ($1, $2, (SELECT s.id FROM skills s WHERE s.slug = $3
       AND (EXISTS (SELECT FROM skill_versions v WHERE v.skill_id = s.id AND v.content_hash = $4)
         OR EXISTS (SELECT FROM skill_pins k WHERE k.worker_uid = $1 AND k.skill_id = s.id AND k.content_hash = $4))), $4, $5)
     ON CONFLICT (worker_uid) DO UPDATE SET skill_id = excluded.skill_id, content_hash = excluded.content_hash,
       revision = excluded.revision, updated_at = now()
     WHERE p.revision < excluded.revision`,
    [workerUid, workspaceId, skill?.slug ?? null, skill?.contentHash ?? null, revision],
  );
}

const buildPinCountSql = (condition: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`(SELECT count(*)::int FROM skill_pins pin WHERE pin.skill_id = s.id AND ${condition})`;

/** Number of workers in the reader's workspace that use the skill `s`; null for a reader without one. */
export const buildWorkspacePinCountSql = ({ workspaceId }: Reader): Prisma.Sql =>
  workspaceId === null ? Prisma.sql`NULL::int` : buildPinCountSql(Prisma.sql`pin.workspace_id = ${workspaceId}`);

/** The number in all workspaces; null for every reader but the owner. */
export const buildTotalPinCountSql = (reader: Reader): Prisma.Sql =>
  Prisma.sql`CASE WHEN ${buildOwnedFilter('s', reader)} THEN ${buildPinCountSql(Prisma.raw(`NOT ${buildWorkspaceClosedSql('pin.workspace_id')}`))} END`;

/** JetStream keeps events for three days: none that is older than one of these can come any more. */
export const sweepPins = (pool: Pool): Promise<unknown> =>
  deleteOldRows(pool, 'skill_pins', "skill_id IS NULL AND updated_at < now() - interval '7 days'");
