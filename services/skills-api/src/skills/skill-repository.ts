import { type Sql, transaction } from '@gantry/postgres';
import type { Person, Reader } from '../access/caller';
import type { Db } from '../database';
import { Prisma, type Skill, type Visibility } from '../generated/prisma/client';
import { buildOwnerNameSql } from '../people/people-repository';
import { buildOwnedFilter, buildReadableSkillFilter } from './access-filters';
import type { SkillWithBody } from './skill';
import type { SkillContent } from './skill-input';
import { computeBodyHash, computeSkillMdDigest } from './skill-input';
import { buildTotalPinCountSql, buildWorkspacePinCountSql } from './skill-pins';
import { SLUG } from './slug';

/** The columns of a SkillRow, from `buildSkillTables` of the same reader. */
export const buildSkillColumns = (reader: Reader): Prisma.Sql => Prisma.sql`
  s.id, s.slug, s.workspace_id, s.owner_id, ${buildOwnerNameSql('s.owner_id')} AS owner_name, s.title, s.description, s.visibility::text, s.version,
  s.content_hash, s.skill_md_digest, s.tags, s.folder, s.license, s.front_matter, s.views, s.saves, s.uses, s.created_at,
  s.updated_at, s.deleted_at, ${buildOwnedFilter('s', reader)} AS owned, ${buildReadableSkillFilter(reader)} AS readable,
  sv.user_id IS NOT NULL AS saved, o.folder AS override_folder, CASE WHEN o.has_tags THEN o.tags END AS override_tags`;

/** For the conditions of access-filters.ts. */
export const skillTable = Prisma.sql`skills s`;

export const buildSkillTables = ({ userId }: Reader): Prisma.Sql => Prisma.sql`
  ${skillTable}
  LEFT JOIN skill_saves sv ON sv.skill_id = s.id AND sv.user_id = ${userId}
  LEFT JOIN skill_overrides o ON o.skill_id = s.id AND o.user_id = ${userId}`;

/** The row says whether the reader may see it. */
export async function findSkill(db: Db, slug: string, reader: Reader): Promise<SkillWithBody | null> {
  if (!SLUG.test(slug)) return null;
  const rows = await db.$queryRaw<SkillWithBody[]>`
    SELECT ${buildSkillColumns(reader)}, s.body_md, ${buildWorkspacePinCountSql(reader)} AS used_in_workspace, ${buildTotalPinCountSql(reader)} AS used_in_all
    FROM ${buildSkillTables(reader)} WHERE s.slug = ${slug} AND s.purged_at IS NULL`;
  return rows[0] ?? null;
}

/** Finds a skill without a check of access, deleted or not. */
export const findSkillBySlug = (tx: Db, slug: string): Promise<Skill | null> =>
  tx.skill.findUnique({ where: { slug } });

/** Locks the row until the transaction ends. False if there is no such skill. */
export async function lockSkill(tx: Db, slug: string): Promise<boolean> {
  const rows = await tx.$queryRaw<unknown[]>`SELECT 1 FROM skills WHERE slug = ${slug} FOR UPDATE`;
  return rows.length > 0;
}

/** False if the slug is taken, also by a skill that was deleted. */
export async function insertSkill(
  tx: Db,
  { workspaceId, userId }: Person,
  { content, ...columns }: Pick<Skill, 'id' | 'slug' | 'visibility' | 'folder'> & { content: SkillContent },
): Promise<boolean> {
  const { count } = await tx.skill.createMany({
    data: [{ ...columns, workspaceId, ownerId: userId, ...toContentColumns(columns.slug, content) }],
    skipDuplicates: true,
  });
  return count > 0;
}

export async function updateSkill(
  tx: Db,
  skill: { id: string; slug: string },
  change: { version: number; visibility: Visibility; folder: string | null; content: SkillContent },
): Promise<void> {
  const { version, visibility, folder, content } = change;
  await tx.skill.update({
    where: { id: skill.id },
    data: {
      version,
      visibility,
      folder,
      updatedAt: new Date(),
      revision: { increment: 1 },
      ...toContentColumns(skill.slug, content),
    },
  });
}

function toContentColumns(slug: string, content: SkillContent) {
  const { frontMatter, ...columns } = content;
  return {
    ...columns,
    frontMatter: frontMatter === null ? Prisma.DbNull : { ...frontMatter },
    contentHash: computeBodyHash(content.bodyMd),
    skillMdDigest: computeSkillMdDigest(slug, content),
  };
}

export async function updateDeletedAt(tx: Db, skillId: string, deletedAt: Date | null): Promise<void> {
  const data = { deletedAt, updatedAt: new Date(), revision: { increment: 1 } };
  await tx.skill.update({ where: { id: skillId }, data });
}

/** Purges the content of skills deleted before `deletedBefore`; slug and owner stay. */
export async function purgeDeletedSkills(db: Db, deletedBefore: Date): Promise<number> {
  return transaction(db, async (tx) => {
    const deletedSkills = await tx.skill.findMany({
      where: { deletedAt: { lt: deletedBefore }, purgedAt: null },
      select: { id: true },
      take: 1_000,
    });
    const ids = deletedSkills.map(({ id }) => id);
    for (const model of [tx.skillVersion, tx.skillShare, tx.skillSave, tx.skillOverride, tx.librarySkill]) {
      await (model as typeof tx.skillSave).deleteMany({ where: { skillId: { in: ids } } });
    }
    await tx.skill.updateMany({
      where: { id: { in: ids } },
      data: {
        title: '',
        description: '',
        bodyMd: '',
        contentHash: '',
        skillMdDigest: '',
        tags: [],
        folder: null,
        license: null,
        frontMatter: Prisma.DbNull,
        purgedAt: new Date(),
      },
    });
    return ids.length;
  });
}

/** Keeps each statement far below the statement timeout. */
const DELETE_BATCH = 1_000;

/** Deletes all skills of a workspace, with the rows that refer to them. */
export async function deleteWorkspaceSkills(tx: Sql, workspaceId: string): Promise<void> {
  for (;;) {
    const { rowCount } = await tx.query(
      'DELETE FROM skills WHERE id = ANY(ARRAY(SELECT id FROM skills WHERE workspace_id = $1 LIMIT $2))',
      [workspaceId, DELETE_BATCH],
    );
    if ((rowCount ?? 0) < DELETE_BATCH) return;
  }
}
