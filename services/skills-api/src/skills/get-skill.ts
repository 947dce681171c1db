/** Loads one skill on behalf of a reader: the only way from a slug to a skill. */
import { AppError, gone } from '@gantry/errors';
import type { Person, Reader } from '../access/caller';
import { notOwnerError } from '../access/not-owner-error';
import type { Db } from '../database';
import type { SkillWithBody } from './skill';
import { findSkill } from './skill-repository';

/** @throws AppError 404 for an unreadable skill as for an unknown one; 410 for the owner of a deleted one */
export async function getReadableSkill(db: Db, slug: string, reader: Reader): Promise<SkillWithBody> {
  const skill = await findSkill(db, slug, reader);
  if (skill?.readable) return skill;
  if (skill?.owned) {
    throw gone('deleted', `the skill "${slug}" was deleted; restore it with POST /api/v1/skills/${slug}/restore`);
  }
  throw skillNotFoundError(slug);
}

/** @throws AppError as above, and 403 for a skill of another owner */
export async function getOwnedSkill(db: Db, slug: string, owner: Person): Promise<SkillWithBody> {
  const skill = await getReadableSkill(db, slug, owner);
  if (skill.owned) return skill;
  throw notOwnerError(`the skill "${slug}"`);
}

export const skillNotFoundError = (slug: string): AppError =>
  new AppError('not_found', 'not_found', `there is no skill "${slug.slice(0, 100)}" that you can read`);
