import { present } from '../access/readable';
import type { Db } from '../database';
import type { Page } from '../page-of';

export interface IndexedSkill {
  slug: string;
  title: string;
  description: string;
  skillMdDigest: string;
}

/** Public ones, newest first; one more than the page size if there are more. */
export const listIndexed = (db: Db, { limit, offset }: Page): Promise<IndexedSkill[]> =>
  db.$queryRaw<IndexedSkill[]>`
    SELECT s.slug, s.title, s.description, s.skill_md_digest AS "skillMdDigest" FROM skills s
    WHERE s.visibility = 'public' AND ${present('s')}
    ORDER BY s.created_at DESC, s.id DESC LIMIT ${limit + 1} OFFSET ${offset}`;
