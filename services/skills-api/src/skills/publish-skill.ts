import { conflict } from '@gantry/errors';
import { newId, skillPublished } from '@gantry/events';
import { transaction } from '@gantry/postgres';
import type { Actor } from '../access/caller';
import type { PrismaClient } from '../generated/prisma/client';
import { upsertPerson } from '../people/people-repository';
import { enqueueSkillEvent } from './skill-events';
import { type CheckedContent, checkContent, checkSlug, type PublishInput } from './skill-input';
import { insertSkill } from './skill-repository';
import { deriveSlug, insertUnderDerivedSlug, isReserved, SLUG } from './slug';
import { insertVersion } from './version-repository';

/**
 * Publishes a skill. Row, first version and event commit together.
 * @returns its slug, and warnings about ignored front matter
 * @throws AppError 400, 413, or 409 if the requested slug is taken
 */
export async function publishSkill(
  prisma: PrismaClient,
  owner: Actor,
  input: PublishInput,
): Promise<{ slug: string; warnings: string[] }> {
  const checked = checkContent(input);
  const { content, warnings } = checked;
  if (input.slug !== undefined) checkSlug(input.slug);
  const slug = await transaction(prisma, async (tx) => {
    await upsertPerson(tx, owner);
    const id = newId('skl_');
    const visibility = input.visibility ?? 'unlisted';
    const insert = (slug: string) =>
      insertSkill(tx, owner, { id, slug, visibility, folder: input.folder || null, content });
    const slug = await insertUnderFreeSlug(insert, input.slug, checked);
    await insertVersion(tx, id, 1, { content, authorId: owner.userId, message: null });
    await enqueueSkillEvent(tx, skillPublished, id);
    await owner.audit(tx, { action: 'skill.published', id, details: { slug, visibility } });
    await owner.made(tx, slug);
    return slug;
  });
  return { slug, warnings };
}

async function insertUnderFreeSlug(
  insert: (slug: string) => Promise<boolean>,
  requestedSlug: string | undefined,
  { content }: CheckedContent,
): Promise<string> {
  if (requestedSlug !== undefined) {
    if (await insert(requestedSlug)) return requestedSlug;
    throw conflict('slug_taken', `slug: "${requestedSlug}" is in use or was used before; choose another`);
  }
  const { name = '' } = content.frontMatter ?? {};
  const derivedSlug = SLUG.test(name) && !isReserved(name) ? name : deriveSlug(content.title, 'skill');
  return insertUnderDerivedSlug(derivedSlug, insert);
}
