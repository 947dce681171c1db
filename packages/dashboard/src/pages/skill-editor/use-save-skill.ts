import { useMutation } from '@tanstack/react-query';
import { api, type Skill } from '../../shell/api';
import { useUpdateCachedSkill } from '../../skills/use-skill';
import { pickChangedFields, type SkillDraft } from './skill-draft';

/** Creates a skill, or a new version of one; never overwrites a newer version. */
export function useSaveSkill(skill: Skill | null, onSaved: (savedSkill: Skill) => void) {
  const updateCachedSkill = useUpdateCachedSkill();
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
      updateCachedSkill(savedSkill);
      onSaved(savedSkill);
    },
  });
}
