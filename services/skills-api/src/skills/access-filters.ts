/**
 * Decides read access to skills and libraries: one rule, in SQL, for every route, format and list.
 *
 * The owner (a user in the workspace where it was published) reads it until it is deleted; every caller reads public
 * and unlisted ones; a person with whom it is shared reads it when signed in with that address, verified, or as the
 * member of its workspace who had that address when the owner named it (ADR 62). In a closed workspace nothing is
 * readable.
 */
import { buildWorkspaceClosedSql } from '@gantry/events';
import type { Reader } from '../access/caller';
import { Prisma } from '../generated/prisma/client';

/** SQL table alias: `s` for skills, `l` for libraries. */
type Alias = 's' | 'l';

export const buildOwnedFilter = (alias: Alias, { userId, workspaceId }: Reader): Prisma.Sql =>
  userId === null || workspaceId === null
    ? Prisma.sql`false`
    : Prisma.sql`(${Prisma.raw(alias)}.owner_id = ${userId} AND ${Prisma.raw(alias)}.workspace_id = ${workspaceId})`;

function buildSharedFilter({ userId, email, member }: Reader): Prisma.Sql {
  if (email !== null)
    return Prisma.sql`EXISTS (SELECT 1 FROM skill_shares sh WHERE sh.skill_id = s.id AND sh.email = ${email})`;
  if (member === null) return Prisma.sql`false`;
  return Prisma.sql`(s.workspace_id = ANY(${member.workspaceIds}) AND EXISTS (SELECT 1 FROM skill_shares sh
    WHERE sh.skill_id = s.id AND sh.member_id = ${userId} AND sh.holder_since = ${member.holderSince}))`;
}

/** True for a row that was deleted neither itself nor with its workspace. */
export const buildPresentFilter = (alias: Alias): Prisma.Sql =>
  Prisma.raw(`(${alias}.deleted_at IS NULL AND NOT ${buildWorkspaceClosedSql(`${alias}.workspace_id`)})`);

/** Readable for a reader who knows the slug. */
export const buildReadableSkillFilter = (reader: Reader): Prisma.Sql =>
  Prisma.sql`(${buildPresentFilter('s')} AND (s.visibility <> 'private' OR ${buildOwnedFilter('s', reader)} OR ${buildSharedFilter(reader)}))`;

/** Findable in lists and search: the link of an unlisted skill is not disclosed. */
export const buildFindableSkillFilter = (reader: Reader): Prisma.Sql =>
  Prisma.sql`(${buildPresentFilter('s')} AND (s.visibility = 'public' OR ${buildOwnedFilter('s', reader)} OR ${buildSharedFilter(reader)}))`;

export const buildReadableLibraryFilter = (reader: Reader): Prisma.Sql =>
  Prisma.sql`(${buildPresentFilter('l')} AND (l.visibility <> 'private' OR ${buildOwnedFilter('l', reader)}))`;
