import { unwrap } from '@gantry/api-client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Skill, skillsApi, type Visibility } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';

export interface Draft {
  title: string;
  description: string;
  /** With commas between them. */
  tags: string;
  license: string;
  text: string;
  visibility: Visibility;
  /** Of the version to come; a first one needs none. */
  message: string;
}

export const newDraft = (skill: Skill | null): Draft => ({
  title: skill?.title ?? '',
  description: skill?.description ?? '',
  tags: skill?.tags.join(', ') ?? '',
  license: skill?.license ?? '',
  text: skill?.body_md ?? '',
  visibility: skill?.visibility ?? 'private',
  message: '',
});

export const isChanged = (draft: Draft, skill: Skill | null): boolean =>
  JSON.stringify({ ...draft, message: '' }) !== JSON.stringify(newDraft(skill));

/** Nothing of it has been written yet. */
const EMPTY: Partial<Draft> = { title: '', description: '', tags: '', license: '' };

/** Fields that are not as they were; front matter of the text fills the others. */
function sent(draft: Draft, before: Partial<Draft>) {
  const { title, description, tags, license, text, visibility } = draft;
  return {
    ...(title !== before.title && { title }),
    ...(description !== before.description && { description }),
    ...(tags !== before.tags && { tags: listed(tags) }),
    ...(license !== before.license && { license: license || null }),
    ...(text !== before.text && { body_md: text }),
    ...(visibility !== before.visibility && { visibility }),
  };
}

const listed = (tags: string): string[] =>
  tags
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);

/** Publishes a new one, or makes a version of the one that was opened; nobody's later version is overwritten. */
export function useSaveSkill(skill: Skill | null, onSaved: (saved: Skill) => void) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (draft: Draft) => {
      const skills = await skillsApi();
      if (!skill) return unwrap(skills.POST('/api/v1/skills', { body: sent(draft, EMPTY) }));
      const { message } = draft;
      return unwrap(
        skills.PATCH('/api/v1/skills/{slug}', {
          params: { path: { slug: skill.slug } },
          body: { ...sent(draft, newDraft(skill)), expected_version: skill.version, ...(message && { message }) },
        }),
      );
    },
    onSuccess: (saved) => {
      queryClient.setQueryData(skillKeys.one(workspaceId, saved.slug), saved);
      void queryClient.invalidateQueries({ queryKey: ['skills', workspaceId, 'list'] });
      onSaved(saved);
    },
  });
}
