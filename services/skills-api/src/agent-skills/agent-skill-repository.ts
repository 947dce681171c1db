import type { Db } from '../database';
import type { Page } from '../page-of';

export interface IndexedSkill {
  slug: string;
  title: string;
  description: string;
  skillMdDigest: string;
}

/** Public ones, newest first; one more than the page if there are more. */
export const listIndexed = (db: Db, { limit, offset }: Page): Promise<IndexedSkill[]> =>
  db.skill.findMany({
    where: { visibility: 'public', deletedAt: null },
    select: { slug: true, title: true, description: true, skillMdDigest: true },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit + 1,
    skip: offset,
  });
