/** A library: an ordered collection of skills that others can subscribe to. */
import { toApiFields } from '@gantry/http';
import { type PublishedRow, publishedToApi, type SkillRow, skillItemToApi } from '../skills/skill';

export const LIBRARY_SKILLS_MAX = 500;

/** A library as one reader sees it. */
export interface LibraryRow extends PublishedRow {
  starter: boolean;
  subscribed: boolean;
  subscriber_count: number;
  /** Counts only skills that the reader may see. */
  skill_count: number;
}

export function libraryItemToApi(row: LibraryRow, skillsUrl: string) {
  return {
    ...publishedToApi(row, `${skillsUrl}/l`),
    ...toApiFields(row, 'starter', 'skill_count', 'subscriber_count', 'subscribed'),
  };
}

export function libraryToApi(row: LibraryRow, skills: SkillRow[], skillsUrl: string) {
  return {
    ...libraryItemToApi(row, skillsUrl),
    skill_count: skills.length,
    skills: skills.map((skill) => skillItemToApi(skill, skillsUrl)),
  };
}
