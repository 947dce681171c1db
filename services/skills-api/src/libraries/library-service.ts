import { AppError, conflict, type FieldProblem, gone, invalid } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { OperationCall } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Actor, Person, Reader } from '../access/caller';
import { notOwnerError } from '../access/not-owner-error';
import type { Db } from '../database';
import type { PrismaClient } from '../generated/prisma/client';
import { upsertPerson } from '../people/people-repository';
import { getReadableSkill } from '../skills/get-skill';
import { checkSlug } from '../skills/skill-input';
import { deriveSlug, insertUnderDerivedSlug } from '../skills/slug';
import { LIBRARY_SKILLS_MAX, type LibraryRow } from './library';
import { findLibrary, insertLibrary, lockLibrary, updateLibrary, updateSkillOrder } from './library-repository';

export type LibraryInput = OperationCall<'skills', 'createLibrary'>['body'];

/** @throws AppError 404 for an unreadable library as for a missing one */
export async function getReadableLibrary(db: Db, slug: string, reader: Reader): Promise<LibraryRow> {
  const library = await findLibrary(db, slug, reader);
  if (library?.readable) return library;
  if (library?.owned) throw gone('deleted', `the library "${slug}" was deleted`);
  throw new AppError('not_found', 'not_found', `there is no library "${slug.slice(0, 100)}" that you can read`);
}

async function getOwnedLibrary(db: Db, slug: string, owner: Person): Promise<LibraryRow> {
  const library = await getReadableLibrary(db, slug, owner);
  if (library.owned) return library;
  throw notOwnerError(`the library "${slug}"`);
}

/** Private by default. @returns its slug. @throws AppError 400, or 409 for a taken slug */
export async function createLibrary(prisma: PrismaClient, owner: Actor, input: LibraryInput): Promise<string> {
  const title = checkTitle(input.title);
  if (input.slug !== undefined) checkSlug(input.slug);
  const description = input.description?.trim() ?? '';
  const row = { id: newId('lib_'), title, description, visibility: input.visibility ?? 'private' };
  return transaction(prisma, async (tx) => {
    await upsertPerson(tx, owner);
    const slug = await insertUnderDerivedSlug(input.slug ?? deriveSlug(title, 'library'), async (candidate) => {
      if (await insertLibrary(tx, owner, { ...row, slug: candidate })) return true;
      if (input.slug === undefined) return false;
      throw conflict('slug_taken', `slug: "${candidate}" is or was in use; choose another`);
    });
    await owner.audit(tx, { action: 'library.created', id: row.id, details: { slug, visibility: row.visibility } });
    await owner.made(tx, slug);
    return slug;
  });
}

export async function changeLibrary(
  prisma: PrismaClient,
  owner: Actor,
  slug: string,
  input: Partial<LibraryInput>,
): Promise<void> {
  const { id } = await getOwnedLibrary(prisma, slug, owner);
  const data = {
    ...(input.title !== undefined && { title: checkTitle(input.title) }),
    ...(input.description !== undefined && { description: input.description.trim() }),
    ...(input.visibility !== undefined && { visibility: input.visibility }),
  };
  await transaction(prisma, async (tx) => {
    await updateLibrary(tx, id, data);
    const { visibility } = data;
    const details = { slug, changed: Object.keys(data), ...(visibility && { visibility }) };
    await owner.audit(tx, { action: 'library.changed', id, details });
  });
}

/** Its skills stay; its slug is never given to another library. */
export async function deleteLibrary(prisma: PrismaClient, owner: Actor, slug: string): Promise<void> {
  const { id } = await getOwnedLibrary(prisma, slug, owner);
  await transaction(prisma, async (tx) => {
    await tx.library.update({ where: { id }, data: { deletedAt: new Date() } });
    await owner.audit(tx, { action: 'library.deleted', id, details: { slug } });
  });
}

/** Appends the skill; idempotent. @throws AppError 404 for a skill that the caller may not read */
export function addToLibrary(prisma: PrismaClient, owner: Actor, slug: string, skillSlug: string): Promise<void> {
  return transaction(prisma, async (tx) => {
    await lockLibrary(tx, slug);
    const { id: libraryId } = await getOwnedLibrary(tx, slug, owner);
    const { id: skillId } = await getReadableSkill(tx, skillSlug, owner);
    const { _count: count, _max: max } = await tx.librarySkill.aggregate({
      where: { libraryId },
      _count: true,
      _max: { position: true },
    });
    if (count >= LIBRARY_SKILLS_MAX)
      throw conflict('library_full', `a library can hold at most ${LIBRARY_SKILLS_MAX} skills`);
    const added = await tx.librarySkill.createMany({
      data: [{ libraryId, skillId, position: (max.position ?? 0) + 1, addedBy: owner.userId }],
      skipDuplicates: true,
    });
    await updateLibrary(tx, libraryId, {});
    if (added.count)
      await owner.audit(tx, { action: 'library.skill_added', id: libraryId, details: { slug, skill: skillSlug } });
  });
}

/** @throws AppError 404 for a skill that is not in it */
export async function removeFromLibrary(
  prisma: PrismaClient,
  owner: Actor,
  slug: string,
  skillSlug: string,
): Promise<void> {
  const { id } = await getOwnedLibrary(prisma, slug, owner);
  await transaction(prisma, async (tx) => {
    const { count } = await tx.librarySkill.deleteMany({ where: { libraryId: id, skill: { slug: skillSlug } } });
    if (!count)
      throw new AppError('not_found', 'not_found', `the skill "${skillSlug.slice(0, 100)}" is not in this library`);
    await updateLibrary(tx, id, {});
    await owner.audit(tx, { action: 'library.skill_removed', id, details: { slug, skill: skillSlug } });
  });
}

/**
 * The named skills come first, in this order, followed by the others in their present order.
 * @throws AppError 400 naming unknown ones
 */
export function reorderLibrary(prisma: PrismaClient, owner: Actor, slug: string, skillSlugs: string[]): Promise<void> {
  return transaction(prisma, async (tx) => {
    await lockLibrary(tx, slug);
    const { id } = await getOwnedLibrary(tx, slug, owner);
    const inside = await tx.librarySkill.findMany({
      where: { libraryId: id },
      orderBy: [{ position: 'asc' }, { skillId: 'asc' }],
      select: { skillId: true, skill: { select: { slug: true } } },
    });
    const idBySlug = new Map(inside.map((place) => [place.skill.slug, place.skillId]));
    const problems = skillSlugs.flatMap((skillSlug, index): FieldProblem[] =>
      idBySlug.has(skillSlug)
        ? []
        : [{ path: `skill_slugs.${index}`, message: `"${skillSlug}" is not in this library` }],
    );
    if (problems.length) throw invalid(problems);
    const named = skillSlugs.map((skillSlug) => idBySlug.get(skillSlug) as string);
    const order = new Set([...named, ...inside.map((place) => place.skillId)]);
    await updateSkillOrder(tx, id, [...order]);
    await updateLibrary(tx, id, {});
    await owner.audit(tx, { action: 'library.reordered', id, details: { slug } });
  });
}

/** Idempotent. */
export async function subscribe(prisma: PrismaClient, person: Person, slug: string): Promise<void> {
  const { id } = await getReadableLibrary(prisma, slug, person);
  await prisma.librarySubscription.createMany({
    data: [{ userId: person.userId, libraryId: id }],
    skipDuplicates: true,
  });
}

/** Also from a library that is no longer readable. @throws AppError 404 if there is no subscription */
export async function unsubscribe(prisma: PrismaClient, person: Person, slug: string): Promise<void> {
  const { count } = await prisma.librarySubscription.deleteMany({
    where: { userId: person.userId, library: { slug } },
  });
  if (!count) await getReadableLibrary(prisma, slug, person);
}

function checkTitle(input: string): string {
  const title = input.replace(/\s+/g, ' ').trim();
  if (!title) throw invalid([{ path: 'title', message: 'must not be empty' }]);
  if (title.includes('\0')) throw invalid([{ path: 'title', message: 'must not contain NUL' }]);
  return title;
}
