import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, type Skill } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { pickChangedFields, type SkillDraft } from './skill-draft';

/** Creates a skill, or a new version of one; never overwrites a newer version. */
export function useSaveSkill(skill: Skill | null, onSaved: (savedSkill: Skill) => void) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (draft: SkillDraft) => {
      if (!skill) return api.skills.POST('/api/v1/skills', { body: pickChangedFields(draft, null) });
      const { message } = draft;
      return api.skills.PATCH('/api/v1/skills/{slug}', {
        params: { path: { slug: skill.slug } },
        body: { ...pickChangedFields(draft, skill), expected_version: skill.version, ...(message && { message }) },
      });
    },
    onSuccess: (savedSkill) => {
      queryClient.setQueryData(skillKeys.one(workspaceId, savedSkill.slug), savedSkill);
      void queryClient.invalidateQueries({ queryKey: ['skills', workspaceId, 'list'] });
      onSaved(savedSkill);
    },
  });
}
