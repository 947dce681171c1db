import { unwrap } from '@gantry/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Skill, skillsApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { changesOf, type Draft } from './draft';

/** Creates a skill, or a new version of one; never overwrites a newer version. */
export function useSaveSkill(skill: Skill | null, onSaved: (saved: Skill) => void) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (draft: Draft) => {
      const skills = await skillsApi();
      if (!skill) return unwrap(skills.POST('/api/v1/skills', { body: changesOf(draft, null) }));
      const { message } = draft;
      return unwrap(
        skills.PATCH('/api/v1/skills/{slug}', {
          params: { path: { slug: skill.slug } },
          body: { ...changesOf(draft, skill), expected_version: skill.version, ...(message && { message }) },
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
