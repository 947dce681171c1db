/**
 * The newest text of each published skill, as skills-api has announced it: an agent made of an older one is offered it.
 * It is never taken without being asked for.
 */
import { buildWorkspaceClosedSql, type EventHandlerFor, type skillChanged, type skillDeleted } from '@gantry/events';
import type { Principal } from '@gantry/limits';
import type { Sql } from '@gantry/postgres';
import type { Definition } from './definition';

type SkillEventHandler = EventHandlerFor<typeof skillChanged | typeof skillDeleted>;
type SkillEventMessage = Parameters<SkillEventHandler['handle']>[1];

/** An earlier release tells too little. */
const isCompleteEvent = ({ version, visibility, contentHash, revision, ownerId }: SkillEventMessage['data']): boolean =>
  [version, visibility, contentHash, revision, ownerId].every((value) => value !== undefined);

/** Each event tells all of the skill, so the newest counts, in whatever order they come. */
async function upsertSkill(tx: Sql, { workspaceId, at, data }: SkillEventMessage, isDeleted: boolean): Promise<void> {
  const { slug, ownerId, visibility, version, contentHash, revision } = data;
  await tx.query(
    `INSERT INTO known_skills AS k (slug, workspace_id, owner_id, visibility, version, content_hash, published_at, revision,
       is_deleted)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (slug) DO UPDATE SET visibility = excluded.visibility, version = excluded.version,
       content_hash = excluded.content_hash, revision = excluded.revision, is_deleted = excluded.is_deleted,
       published_at = CASE k.version WHEN excluded.version THEN k.published_at ELSE excluded.published_at END
     WHERE k.revision < excluded.revision`,
    [slug, workspaceId, ownerId, visibility, version, contentHash, at, revision, isDeleted],
  );
}

const createSkillHandler = (isDeleted: boolean): SkillEventHandler => ({
  name: 'known-skill',
  wants: isCompleteEvent,
  handle: (tx, told) => upsertSkill(tx, told, isDeleted),
});

/** Told in the same way when it is published and when it changes. */
export const handleSkillChanged = createSkillHandler(false);
export const handleSkillDeleted = createSkillHandler(true);

export interface SkillUpdate {
  /** A newer text than the one that was copied. */
  update: { slug: string; hash: string; version: number; published_at: string } | null;
  /** The copy still runs. */
  isDeleted: boolean;
}

/**
 * The rule of `buildReadableSkillFilter` in skills-api, except that people with whom a private skill is shared are told
 * nothing.
 */
const SKILL_UPDATE = `SELECT content_hash AS hash, version, published_at, is_deleted FROM known_skills k
  WHERE slug = $1 AND (visibility <> 'private' OR workspace_id = $2 AND owner_id = $3) AND NOT ${buildWorkspaceClosedSql('k.workspace_id')}`;

/** For this caller: of a skill that they could not read they hear nothing. */
export async function findSkillUpdate(
  sql: Sql,
  caller: Principal,
  { skill }: Pick<Definition, 'skill'>,
): Promise<SkillUpdate> {
  const nothing = { update: null, isDeleted: false };
  if (skill === null) return nothing;
  const [slug = '', copied] = skill.split('@');
  const { rows } = await sql.query<{ hash: string; version: number; published_at: Date; is_deleted: boolean }>(
    SKILL_UPDATE,
    [...[slug, caller.workspaceId, caller.userId]],
  );
  const [newest] = rows;
  if (!newest) return nothing;
  const { hash, version, published_at, is_deleted: isDeleted } = newest;
  if (isDeleted || hash === copied) return { update: null, isDeleted };
  return { update: { slug, hash, version, published_at: published_at.toISOString() }, isDeleted };
}
