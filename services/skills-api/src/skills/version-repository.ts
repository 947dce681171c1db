import { toApiFields } from '@gantry/http';
import type { Db } from '../database';
import type { SkillVersion } from '../generated/prisma/client';
import { computeBodyHash, type SkillContent } from './skill-input';

/** Older ones go: a skill keeps this many. */
const VERSIONS_MAX = 100;

export async function insertVersion(
  tx: Db,
  skillId: string,
  version: number,
  { content, authorId, message }: { content: SkillContent; authorId: string; message: string | null },
): Promise<void> {
  const { frontMatter, ...columns } = content;
  const contentHash = computeBodyHash(content.bodyMd);
  await tx.skillVersion.create({ data: { ...columns, skillId, version, contentHash, authorId, message } });
  if (version > VERSIONS_MAX)
    await tx.skillVersion.deleteMany({ where: { skillId, version: { lte: version - VERSIONS_MAX } } });
}

/** Newest first. */
export const listVersions = (db: Db, skillId: string): Promise<Omit<SkillVersion, 'bodyMd'>[]> =>
  db.skillVersion.findMany({ where: { skillId }, omit: { bodyMd: true }, orderBy: { version: 'desc' } });

export const findVersion = (db: Db, skillId: string, version: number): Promise<SkillVersion | null> =>
  db.skillVersion.findUnique({ where: { skillId_version: { skillId, version } } });

export const versionToApi = (version: Omit<SkillVersion, 'bodyMd'>) =>
  toApiFields(version, 'version', 'title', 'contentHash', 'message', 'authorId', 'createdAt');
