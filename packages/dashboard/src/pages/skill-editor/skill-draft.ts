import type { Skill, Visibility } from '../../shell/api';
import { splitParts } from '../../ui/form-text';

export interface SkillDraft {
  title: string;
  description: string;
  /** Separated by commas. */
  tags: string;
  license: string;
  text: string;
  visibility: Visibility;
  /** Message of the next version; the first version needs none. */
  message: string;
}

export const createDraft = (skill: Skill | null): SkillDraft => ({
  title: skill?.title ?? '',
  description: skill?.description ?? '',
  tags: skill?.tags.join(', ') ?? '',
  license: skill?.license ?? '',
  text: skill?.body_md ?? '',
  visibility: skill?.visibility ?? 'private',
  message: '',
});

export const hasChanges = (draft: SkillDraft, skill: Skill | null): boolean =>
  JSON.stringify({ ...draft, message: '' }) !== JSON.stringify(createDraft(skill));

/** The fields of a new skill, which the front matter may set. */
const EMPTY_FIELDS: Partial<SkillDraft> = { title: '', description: '', tags: '', license: '' };

/** Returns the changed fields; the front matter of the text sets the others. */
export function pickChangedFields(draft: SkillDraft, skill: Skill | null) {
  const before: Partial<SkillDraft> = skill ? createDraft(skill) : EMPTY_FIELDS;
  const { title, description, tags, license, text, visibility } = draft;
  return {
    ...(title !== before.title && { title }),
    ...(description !== before.description && { description }),
    ...(tags !== before.tags && { tags: splitParts(tags, ',') }),
    ...(license !== before.license && { license: license || null }),
    ...(text !== before.text && { body_md: text }),
    ...(visibility !== before.visibility && { visibility }),
  };
}
