/**
 * Access to a skill or a library for readers: one rule, in SQL, for every route, format and list.
 *
 * The owner (a user in the workspace where it was published) reads it until it is deleted; anybody reads what is public or
 * unlisted; people with whom it is shared read it when signed in with that address, verified, or as the member of its
 * workspace who had that address when the owner named it (ADR 62). In a closed workspace nobody reads anything.
 */
import { isClosedSql } from '@gantry/events';
import type { Reader } from '../access/caller';
import { Prisma } from '../generated/prisma/client';

/** Alias of a row in SQL: `s` of skills, `l` of libraries. */
type Alias = 's' | 'l';

export const owned = (alias: Alias, { userId, workspaceId }: Reader): Prisma.Sql =>
  userId === null || workspaceId === null
    ? Prisma.sql`false`
    : Prisma.sql`(${Prisma.raw(alias)}.owner_id = ${userId} AND ${Prisma.raw(alias)}.workspace_id = ${workspaceId})`;

function sharedWith({ userId, email, member }: Reader): Prisma.Sql {
  if (email !== null)
    return Prisma.sql`EXISTS (SELECT 1 FROM skill_shares sh WHERE sh.skill_id = s.id AND sh.email = ${email})`;
  if (member === null) return Prisma.sql`false`;
  return Prisma.sql`(s.workspace_id = ANY(${member.workspaceIds}) AND EXISTS (SELECT 1 FROM skill_shares sh
    WHERE sh.skill_id = s.id AND sh.member_id = ${userId} AND sh.holder_since = ${member.holderSince}))`;
}

/** True for a row that was not deleted, neither by itself nor with its workspace. */
export const present = (alias: Alias): Prisma.Sql =>
  Prisma.raw(`(${alias}.deleted_at IS NULL AND NOT ${isClosedSql(`${alias}.workspace_id`)})`);

/** Readable for somebody who knows the slug. */
export const readableSkill = (reader: Reader): Prisma.Sql =>
  Prisma.sql`(${present('s')} AND (s.visibility <> 'private' OR ${owned('s', reader)} OR ${sharedWith(reader)}))`;

/** Findable for somebody who looks around: the link of an unlisted skill is not given away. */
export const findableSkill = (reader: Reader): Prisma.Sql =>
  Prisma.sql`(${present('s')} AND (s.visibility = 'public' OR ${owned('s', reader)} OR ${sharedWith(reader)}))`;

export const readableLibrary = (reader: Reader): Prisma.Sql =>
  Prisma.sql`(${present('l')} AND (l.visibility <> 'private' OR ${owned('l', reader)}))`;
