import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { skillKeys } from '../../skills/skill-keys';
import { EmptyState } from '../../ui/empty-state';
import { ErrorNotice } from '../../ui/notice';

/** Offers to restore a deleted skill. Only its owner sees that it existed. */
export function DeletedSkillNotice({ slug }: { slug: string }) {
  useTitle('Deleted skill');
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const restore = useMutation({
    mutationFn: () => api.skills.POST('/api/v1/skills/{slug}/restore', { params: { path: { slug } } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: skillKeys.all(workspaceId) }),
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
