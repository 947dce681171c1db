/** What this service says about skills, and what it hears about their use. */
import {
  enqueue,
  isClosedSql,
  type Received,
  type skillChanged,
  skillDeleted,
  type skillPublished,
} from '@gantry/events';
import type { PoolClient } from 'pg';
import type { Db } from '../database';
import type { Visibility } from '../generated/prisma/client';

interface Announced {
  id: string;
  slug: string;
  workspaceId: string;
  version: number;
  visibility: Visibility;
}

export async function announce(
  tx: Db,
  event: typeof skillPublished | typeof skillChanged,
  { id, workspaceId, slug, version, visibility }: Announced,
): Promise<void> {
  await enqueue(tx, event, workspaceId, { skillId: id, slug, version, visibility });
}

export async function announceDeleted(
  tx: Db,
  { id, slug, workspaceId }: Omit<Announced, 'version' | 'visibility'>,
): Promise<void> {
  await enqueue(tx, skillDeleted, workspaceId, { skillId: id, slug });
}

export type RunFinished = Received<{ skills?: string[] }>;

/** A run may name any slug: a private skill of another workspace can't have been used. */
export async function countUses(tx: PoolClient, { workspaceId, data }: RunFinished): Promise<void> {
  if (!data.skills?.length) return;
  await tx.query(
    `UPDATE skills SET uses = uses + 1
     WHERE slug = ANY($1) AND deleted_at IS NULL AND (workspace_id = $2 OR visibility <> 'private')
       AND NOT ${isClosedSql('skills.workspace_id')}`,
    [[...new Set(data.skills)], workspaceId],
  );
}
