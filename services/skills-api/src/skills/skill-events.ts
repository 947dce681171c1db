/** Events about skills that this service publishes, and events about their use that it consumes. */
import {
  buildWorkspaceClosedSql,
  enqueue,
  type ReceivedEvent,
  type skillChanged,
  skillDeleted,
  type skillPublished,
} from '@gantry/events';
import type { PoolClient } from 'pg';
import type { Db } from '../database';

const eventFields = {
  slug: true,
  workspaceId: true,
  ownerId: true,
  visibility: true,
  version: true,
  revision: true,
  contentHash: true,
} as const;

/** Enqueues the current state, in the transaction of the change. */
export async function enqueueSkillEvent(
  tx: Db,
  event: typeof skillPublished | typeof skillChanged,
  id: string,
): Promise<void> {
  const { workspaceId, ...skill } = await loadEventData(tx, id);
  await enqueue(tx, event, workspaceId, skill);
}

export async function enqueueSkillDeleted(tx: Db, id: string): Promise<void> {
  const { workspaceId, ...skill } = await loadEventData(tx, id);
  await enqueue(tx, skillDeleted, workspaceId, skill);
}

const loadEventData = async (tx: Db, id: string) => ({
  ...(await tx.skill.findUniqueOrThrow({ where: { id }, select: eventFields })),
  skillId: id,
});

export type RunFinished = ReceivedEvent<{ skills?: string[] }>;

/** Counts uses by slug. A run may name any slug: private skills of other workspaces are not counted. */
export async function incrementUses(tx: PoolClient, { workspaceId, data }: RunFinished): Promise<void> {
  if (!data.skills?.length) return;
  await tx.query(
    `UPDATE skills SET uses = uses + 1
     WHERE slug = ANY($1) AND deleted_at IS NULL AND (workspace_id = $2 OR visibility <> 'private')
       AND NOT ${buildWorkspaceClosedSql('skills.workspace_id')}`,
    [[...new Set(data.skills)], workspaceId],
  );
}
