import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, type Skill } from '../shell/api';
import { toast } from '../shell/toasts';
import { useWorkspace } from '../shell/use-me';
import { BookmarkedIcon, BookmarkIcon } from '../ui/icons';
import { skillKeys } from './skill-keys';

/** Saves another author's skill to the member's list, or removes it. */
export function SaveSkillButton({ skill }: { skill: Skill }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: async (saved: boolean) => {
      const at = { params: { path: { slug: skill.slug } } };
      if (saved) await api.skills.POST('/api/v1/skills/{slug}/save', at);
      else await api.skills.DELETE('/api/v1/skills/{slug}/save', at);
    },
    onSuccess: (_data, saved) => {
      queryClient.setQueryData<Skill>(
        skillKeys.one(workspaceId, skill.slug),
        (cached) => cached && { ...cached, saved },
      );
      void queryClient.invalidateQueries({ queryKey: skillKeys.list(workspaceId, 'saved') });
      if (!saved) toast(`${skill.title} removed from your saved skills`, { undo: () => change.mutate(true) });
    },
    onError: (error) => toast(`Changes not saved: ${error.message}`, { tone: 'error' }),
  });
  return (
    <Button
      variant="default"
      aria-pressed={skill.saved}
      leftSection={skill.saved ? <BookmarkedIcon /> : <BookmarkIcon />}
      loading={change.isPending}
      onClick={() => change.mutate(!skill.saved)}
    >
      {skill.saved ? 'Saved' : 'Save'}
    </Button>
  );
}
