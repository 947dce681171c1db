import type { PageQuery } from '@gantry/http';
import type { Person, Reader } from '../access/caller';
import type { Db } from '../database';
import { type Library, Prisma } from '../generated/prisma/client';
import { buildOwnerNameSql } from '../people/people-repository';
import {
  buildFindableSkillFilter,
  buildOwnedFilter,
  buildReadableLibraryFilter,
  buildReadableSkillFilter,
} from '../skills/access-filters';
import type { SkillRow } from '../skills/skill';
import { buildSkillColumns, buildSkillTables, skillTable } from '../skills/skill-repository';
import { SLUG } from '../skills/slug';
import type { LibraryRow } from './library';

const buildColumns = (reader: Reader): Prisma.Sql => Prisma.sql`
  l.id, l.slug, l.owner_id, ${buildOwnerNameSql('l.owner_id')} AS owner_name, l.title, l.description, l.visibility::text, l.starter, l.created_at,
  l.updated_at, l.deleted_at, ${buildOwnedFilter('l', reader)} AS owned, ${buildReadableLibraryFilter(reader)} AS readable,
  EXISTS (SELECT 1 FROM library_subscriptions b WHERE b.library_id = l.id AND b.user_id = ${reader.userId}) AS subscribed,
  (SELECT count(*)::int FROM library_subscriptions b WHERE b.library_id = l.id) AS subscriber_count,
  (SELECT count(*)::int FROM library_skills ls JOIN ${skillTable} ON s.id = ls.skill_id
    WHERE ls.library_id = l.id AND (${buildFindableSkillFilter(reader)}
      OR (${buildReadableSkillFilter(reader)} AND (s.owner_id = l.owner_id OR l.owner_id = ${reader.userId})))) AS skill_count`;

/** The row says whether the reader may see it. */
export async function findLibrary(db: Db, slug: string, reader: Reader): Promise<LibraryRow | null> {
  if (!SLUG.test(slug)) return null;
  const rows = await db.$queryRaw<LibraryRow[]>`
    SELECT ${buildColumns(reader)} FROM libraries l WHERE l.slug = ${slug}`;
  return rows[0] ?? null;
}

/** Libraries that ship with the installation, newest first. */
export function listStarterLibraries(db: Db, reader: Reader, { limit, offset }: PageQuery): Promise<LibraryRow[]> {
  return db.$queryRaw<LibraryRow[]>`
    SELECT ${buildColumns(reader)} FROM libraries l
    WHERE l.starter AND l.visibility = 'public' AND l.deleted_at IS NULL
    ORDER BY l.created_at DESC, l.id DESC LIMIT ${limit + 1} OFFSET ${offset}`;
}

/** Newest first. */
export function listOwnLibraries(db: Db, person: Person, { limit, offset }: PageQuery): Promise<LibraryRow[]> {
  return db.$queryRaw<LibraryRow[]>`
    SELECT ${buildColumns(person)} FROM libraries l
    WHERE ${buildOwnedFilter('l', person)} AND l.deleted_at IS NULL
    ORDER BY l.created_at DESC, l.id DESC LIMIT ${limit + 1} OFFSET ${offset}`;
}

/** Newest subscription first; libraries that are no longer readable are left out. */
export function listSubscribedLibraries(db: Db, person: Person, { limit, offset }: PageQuery): Promise<LibraryRow[]> {
  return db.$queryRaw<LibraryRow[]>`
    SELECT ${buildColumns(person)} FROM library_subscriptions mine JOIN libraries l ON l.id = mine.library_id
     
    WHERE mine.user_id = ${person.userId} AND ${buildReadableLibraryFilter(person)}
    ORDER BY mine.created_at DESC, l.id DESC LIMIT ${limit + 1} OFFSET ${offset}`;
}

/** False if the slug is taken. */
export async function insertLibrary(
  tx: Db,
  { workspaceId, userId }: Person,
  library: Omit<Prisma.LibraryCreateManyInput, 'workspaceId' | 'ownerId'>,
): Promise<boolean> {
  const { count } = await tx.library.createMany({
    data: [{ ...library, workspaceId, ownerId: userId }],
    skipDuplicates: true,
  });
  return count > 0;
}

/** Locks the library's skills against changes until the transaction ends. */
export const lockLibrary = (tx: Db, slug: string): Promise<number> =>
  tx.$executeRaw`SELECT 1 FROM libraries WHERE slug = ${slug} FOR UPDATE`;

export async function updateSkillOrder(tx: Db, libraryId: string, skillIds: string[]): Promise<void> {
  await tx.$executeRaw`
    UPDATE library_skills ls SET position = wanted.position::int
    FROM unnest(${skillIds}::text[]) WITH ORDINALITY AS wanted(skill_id, position)
    WHERE ls.library_id = ${libraryId} AND ls.skill_id = wanted.skill_id`;
}

/**
 * In the library's order, those that the reader could find anyway. The link of an unlisted skill is given away only by
 * the library of its own owner.
 */
export function listLibrarySkills(
  db: Db,
  reader: Reader,
  library: { id: string; owner_id: string },
): Promise<SkillRow[]> {
  return db.$queryRaw<SkillRow[]>`
    SELECT ${buildSkillColumns(reader)} FROM library_skills ls JOIN ${buildSkillTables(reader)} ON s.id = ls.skill_id
    WHERE ls.library_id = ${library.id} AND (${buildFindableSkillFilter(reader)}
      OR (${buildReadableSkillFilter(reader)} AND (s.owner_id = ${library.owner_id} OR ${library.owner_id} = ${reader.userId})))
    ORDER BY ls.position, ls.skill_id`;
}

export const getLibraryBySlug = (tx: Db, slug: string): Promise<Library> =>
  tx.library.findUniqueOrThrow({ where: { slug } });

export async function updateLibrary(tx: Db, id: string, data: Prisma.LibraryUpdateInput): Promise<void> {
  await tx.library.update({ where: { id }, data: { ...data, updatedAt: new Date() } });
}

/** In this order; those that are in it already stay where they are. */
export async function insertLibrarySkills(
  tx: Db,
  libraryId: string,
  skillIds: string[],
  addedBy: string,
): Promise<void> {
  await tx.librarySkill.createMany({
    data: skillIds.map((skillId, index) => ({ libraryId, skillId, position: index + 1, addedBy })),
    skipDuplicates: true,
  });
}
