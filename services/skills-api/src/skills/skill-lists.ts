/** Pages of skills. Each query finds the ids of its page by an index first, and only then reads their columns. */
import type { OperationCall, PageQuery } from '@gantry/http';
import type { Person, Reader } from '../access/caller';
import type { Db } from '../database';
import { Prisma } from '../generated/prisma/client';
import {
  buildFindableSkillFilter,
  buildOwnedFilter,
  buildPresentFilter,
  buildReadableSkillFilter,
} from './access-filters';
import type { SkillRow } from './skill';
import { buildSkillColumns, buildSkillTables } from './skill-repository';

/** `deleted`: only those that were deleted and can be restored. */
export type MySkillsFilter = Omit<OperationCall<'skills', 'listMySkills'>['query'], keyof PageQuery>;

/** Lists owned skills by creation and saved ones by when they were saved, newest first; one more than the page. */
export function listMySkills(db: Db, person: Person, filter: MySkillsFilter, page: PageQuery): Promise<SkillRow[]> {
  const count = page.limit + page.offset + 1;
  const { relation, deleted = false } = filter;
  const own = Prisma.sql`
    SELECT s.id, s.created_at AS at FROM skills s ${buildOverridesJoinSql(person, filter)}
    WHERE ${buildOwnedFilter('s', person)} AND s.purged_at IS NULL AND s.deleted_at IS ${deleted ? Prisma.sql`NOT NULL` : Prisma.sql`NULL`}
      ${buildPlacementFilter(filter, Prisma.sql`coalesce(o.folder, s.folder)`)}
    ORDER BY s.created_at DESC, s.id DESC LIMIT ${count}`;
  const saved = Prisma.sql`
    SELECT s.id, mine.created_at AS at FROM skill_saves mine JOIN skills s ON s.id = mine.skill_id ${buildOverridesJoinSql(person, filter)}
    WHERE mine.user_id = ${person.userId} AND ${buildReadableSkillFilter(person)}
      ${relation === 'saved' ? Prisma.empty : Prisma.sql`AND NOT ${buildOwnedFilter('s', person)}`}
      ${buildPlacementFilter(filter, Prisma.sql`coalesce(o.folder, CASE WHEN ${buildOwnedFilter('s', person)} THEN s.folder END)`)}
    ORDER BY mine.created_at DESC, s.id DESC LIMIT ${count}`;
  const wanted =
    relation === 'saved' ? saved : relation === 'owned' || deleted ? own : Prisma.sql`(${own}) UNION ALL (${saved})`;
  return listByIds(db, person, wanted, page);
}

/** Skills of the reader's workspace, newest first: public ones, and those that are shared with the reader. */
export function listWorkspaceSkills(db: Db, reader: Reader, page: PageQuery): Promise<SkillRow[]> {
  // The reader is treated as an owner of nothing: their private skills do not belong to the workspace.
  const asColleague = { ...reader, userId: null };
  return listByIds(
    db,
    reader,
    Prisma.sql`SELECT s.id, s.created_at AS at FROM skills s WHERE s.workspace_id = ${reader.workspaceId} AND ${buildFindableSkillFilter(asColleague)}
      ORDER BY s.created_at DESC, s.id DESC LIMIT ${page.limit + page.offset + 1}`,
    page,
  );
}

/** Lists public skills, newest first. */
export function listPublicSkills(db: Db, reader: Reader, page: PageQuery): Promise<SkillRow[]> {
  return listByIds(
    db,
    reader,
    Prisma.sql`SELECT s.id, s.created_at AS at FROM skills s WHERE s.visibility = 'public' AND ${buildPresentFilter('s')}
      ORDER BY s.created_at DESC, s.id DESC LIMIT ${page.limit + page.offset + 1}`,
    page,
  );
}

export interface IndexedSkill {
  slug: string;
  title: string;
  description: string;
  skillMdDigest: string;
}

/** Public ones, newest first; one more than the page size if there are more. */
export const listIndexedSkills = (db: Db, { limit, offset }: PageQuery): Promise<IndexedSkill[]> =>
  db.$queryRaw<IndexedSkill[]>`
    SELECT s.slug, s.title, s.description, s.skill_md_digest AS "skillMdDigest" FROM skills s
    WHERE s.visibility = 'public' AND ${buildPresentFilter('s')}
    ORDER BY s.created_at DESC, s.id DESC LIMIT ${limit + 1} OFFSET ${offset}`;

function listByIds(db: Db, reader: Reader, ids: Prisma.Sql, { limit, offset }: PageQuery): Promise<SkillRow[]> {
  return db.$queryRaw<SkillRow[]>`
    WITH page AS MATERIALIZED (SELECT id, at FROM (${ids}) found ORDER BY at DESC, id DESC LIMIT ${limit + 1} OFFSET ${offset})
    SELECT ${buildSkillColumns(reader)} FROM page JOIN ${buildSkillTables(reader)} ON s.id = page.id ORDER BY page.at DESC, s.id DESC`;
}

/** Joined only where something is filtered by it. */
const buildOverridesJoinSql = ({ userId }: Person, { folder, tag }: MySkillsFilter): Prisma.Sql =>
  folder === undefined && tag === undefined
    ? Prisma.empty
    : Prisma.sql`LEFT JOIN skill_overrides o ON o.skill_id = s.id AND o.user_id = ${userId}`;

function buildPlacementFilter({ folder, tag }: MySkillsFilter, folderSql: Prisma.Sql): Prisma.Sql {
  const inFolder = folder === undefined ? Prisma.empty : Prisma.sql`AND ${folderSql} = ${folder}`;
  const tagged =
    tag === undefined ? Prisma.empty : Prisma.sql`AND ${tag} = ANY(CASE WHEN o.has_tags THEN o.tags ELSE s.tags END)`;
  return Prisma.sql`${inFolder} ${tagged}`;
}
