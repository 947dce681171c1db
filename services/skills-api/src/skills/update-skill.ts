import { conflict, gone } from '@gantry/errors';
import { skillChanged } from '@gantry/events';
import type { OperationCall } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Actor } from '../access/caller';
import type { Db } from '../database';
import type { PrismaClient } from '../generated/prisma/client';
import { upsertPerson } from '../people/people-repository';
import { getOwnedSkill, skillNotFoundError } from './get-skill';
import { RESTORABLE_DAYS, type SkillWithBody } from './skill';
import { enqueueSkillDeleted, enqueueSkillEvent } from './skill-events';
import { checkContent, type SkillContent } from './skill-input';
import { findSkill, lockSkill, updateDeletedAt, updateSkill } from './skill-repository';
import { insertVersion } from './version-repository';

/** `expected_version`: 409 unless it is the current one, so that no author overwrites what they have not seen. */
export type UpdateInput = OperationCall<'skills', 'changeSkill'>['body'];

/** A new version if what versions are made of is another. @throws AppError 400, 403, 404, 409, 410, 413 */
export function changeSkill(
  prisma: PrismaClient,
  owner: Actor,
  slug: string,
  input: UpdateInput,
): Promise<{ warnings: string[] }> {
  return transaction(prisma, async (tx) => {
    const skill = await lockOwnedSkill(tx, owner, slug);
    if (input.expected_version !== undefined && input.expected_version !== skill.version) {
      throw conflict('version_moved', `expected_version: the skill is now at version ${skill.version}; read it again`);
    }
    const before = toContent(skill);
    const { content, warnings } = checkContent(input, before);
    const isNew = !isSameContent(before, content);
    const version = isNew ? skill.version + 1 : skill.version;
    const visibility = input.visibility ?? skill.visibility;
    const folder = input.folder === undefined ? skill.folder : input.folder || null;
    await upsertPerson(tx, owner);
    await updateSkill(tx, skill, { version, visibility, folder, content });
    if (isNew)
      await insertVersion(tx, skill.id, version, { content, authorId: owner.userId, message: input.message ?? null });
    await enqueueSkillEvent(tx, skillChanged, skill.id);
    await owner.audit(tx, {
      action: 'skill.changed',
      id: skill.id,
      details: {
        slug,
        version,
        ...(visibility !== skill.visibility && { visibility: { from: skill.visibility, to: visibility } }),
      },
    });
    return { warnings };
  });
}

/** Makes it unreadable from now on; its row, shares and places stay for a restoration. */
export function deleteSkill(prisma: PrismaClient, owner: Actor, slug: string): Promise<void> {
  return transaction(prisma, async (tx) => {
    const skill = await lockOwnedSkill(tx, owner, slug);
    await updateDeletedAt(tx, skill.id, new Date());
    await enqueueSkillDeleted(tx, skill.id);
    await owner.audit(tx, { action: 'skill.deleted', id: skill.id, details: { slug } });
  });
}

/** Nothing happens to one that is not deleted. @throws AppError 404; 410 when it was too long ago */
export function restoreSkill(prisma: PrismaClient, owner: Actor, slug: string): Promise<void> {
  return transaction(prisma, async (tx) => {
    await lockSkill(tx, slug);
    const skill = await findSkill(tx, slug, owner);
    if (!skill?.owned || !skill.deleted_at) {
      // Says what is true of one that was not deleted: fine for its owner, forbidden or unknown to others.
      await getOwnedSkill(tx, slug, owner);
      return;
    }
    if (skill.deleted_at.getTime() < Date.now() - RESTORABLE_DAYS * 86_400_000) {
      throw gone('too_late', `the skill was deleted more than ${RESTORABLE_DAYS} days ago`);
    }
    await updateDeletedAt(tx, skill.id, null);
    await enqueueSkillEvent(tx, skillChanged, skill.id);
    await owner.audit(tx, { action: 'skill.restored', id: skill.id, details: { slug } });
  });
}

async function lockOwnedSkill(tx: Db, owner: Actor, slug: string): Promise<SkillWithBody> {
  if (!(await lockSkill(tx, slug))) throw skillNotFoundError(slug);
  return getOwnedSkill(tx, slug, owner);
}

const toContent = (skill: SkillWithBody): SkillContent => ({
  title: skill.title,
  description: skill.description,
  bodyMd: skill.body_md,
  tags: skill.tags,
  license: skill.license,
  frontMatter: skill.front_matter,
});

function isSameContent(one: SkillContent, other: SkillContent): boolean {
  const toComparisonKey = ({ title, description, bodyMd, tags, license }: SkillContent) =>
    JSON.stringify([title, description, bodyMd, tags, license]);
  return toComparisonKey(one) === toComparisonKey(other);
}
