import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../shell/api';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { useTitle } from '../../shell/use-title';
import { skillKeys } from '../../skills/skill-keys';
import { EmptyState } from '../../ui/empty-state';
import { ErrorNotice } from '../../ui/notice';

/** Offers to restore a deleted skill. Only its owner sees that it existed. */
export function DeletedSkillNotice({ slug }: { slug: string }) {
  useTitle('Deleted skill');
  const invalidateSkills = useInvalidateQueries(skillKeys.all);
  const restore = useMutation({
    mutationFn: () => api.skills.POST('/api/v1/skills/{slug}/restore', { params: { path: { slug } } }),
    onSuccess: invalidateSkills,
  });
  return (
    <EmptyState title="This skill was deleted" level={1}>
      <p>
        The skill is no longer available. You can restore it, along with its versions, sharing settings and library
        listings, for 30 days after deletion.
      </p>
      <ErrorNotice title="Skill not restored" error={restore.error} />
      <p>
        <Button loading={restore.isPending} onClick={() => restore.mutate()}>
          Restore
        </Button>
      </p>
    </EmptyState>
  );
}
