import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api, type SkillItem } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { skillKeys } from '../../skills/skill-keys';

export function RestoreButton({ skill }: { skill: SkillItem }) {
  const invalidateSkills = useInvalidateQueries(skillKeys.all);
  const restore = useMutation({
    mutationFn: () => api.skills.POST('/api/v1/skills/{slug}/restore', { params: { path: { slug: skill.slug } } }),
    onSuccess: () => {
      toast(`${skill.title} restored`);
      return invalidateSkills();
    },
    onError: (error) => toast(`${skill.title} not restored: ${error.message}`, { tone: 'error' }),
  });
  return (
    <Button
      variant="default"
      aria-label={`Restore ${skill.title}`}
      loading={restore.isPending}
      onClick={() => restore.mutate()}
    >
      Restore
    </Button>
  );
}
