/** A user's saved skills, and their folder and tags. */
import type { OperationCall } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Person } from '../access/caller';
import type { Db } from '../database';
import type { PrismaClient } from '../generated/prisma/client';
import { getReadableSkill } from './get-skill';
import { normalizeTags } from './skill-input';

/** Idempotent. @returns the number of users who saved it */
export function saveSkill(prisma: PrismaClient, person: Person, slug: string): Promise<number> {
  return transaction(prisma, async (tx) => {
    const { id } = await getReadableSkill(tx, slug, person);
    const { count } = await tx.skillSave.createMany({
      data: [{ userId: person.userId, skillId: id }],
      skipDuplicates: true,
    });
    return incrementSaves(tx, id, count);
  });
}

/** Also for a skill that is no longer readable. */
export function unsaveSkill(prisma: PrismaClient, person: Person, slug: string): Promise<void> {
  return transaction(prisma, async (tx) => {
    const saved = await tx.skillSave.findFirst({
      where: { userId: person.userId, skill: { slug } },
      select: { skillId: true },
    });
    const skillId = saved?.skillId ?? (await getReadableSkill(tx, slug, person)).id;
    const { count } = await tx.skillSave.deleteMany({ where: { userId: person.userId, skillId } });
    await incrementSaves(tx, skillId, -count);
  });
}

async function incrementSaves(tx: Db, id: string, saves: number): Promise<number> {
  const skill = await tx.skill.update({
    where: { id },
    data: { saves: { increment: saves } },
    select: { saves: true },
  });
  return skill.saves;
}

export type OverrideInput = OperationCall<'skills', 'overrideSkill'>['body'];

/** Replaces the override; without folder and tags, those of the skill apply again. */
export async function overrideSkill(
  prisma: PrismaClient,
  person: Person,
  slug: string,
  input: OverrideInput,
): Promise<void> {
  const { id: skillId } = await getReadableSkill(prisma, slug, person);
  const key = { userId: person.userId, skillId };
  const data = {
    folder: input.folder?.trim() || null,
    tags: normalizeTags(input.tags ?? []),
    hasTags: Boolean(input.tags),
  };
  if (!data.folder && !data.hasTags) await prisma.skillOverride.deleteMany({ where: key });
  else await prisma.skillOverride.upsert({ where: { userId_skillId: key }, create: { ...key, ...data }, update: data });
}
