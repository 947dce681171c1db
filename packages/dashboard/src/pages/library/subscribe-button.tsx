import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, type Library } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';
import { BookmarkedIcon, BookmarkIcon } from '../../ui/icons';

export function SubscribeButton({ library }: { library: Library }) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const { slug, title, subscribed } = library;
  const change = useMutation({
    mutationFn: async (isSubscribed: boolean) => {
      if (isSubscribed) await api.skills.POST('/api/v1/me/subscriptions', { body: { library_slug: slug } });
      else await api.skills.DELETE('/api/v1/me/subscriptions/{slug}', { params: { path: { slug } } });
    },
    onSuccess: (_data, isSubscribed) => {
      queryClient.setQueryData<Library>(
        skillKeys.library(workspaceId, slug),
        (cached) => cached && { ...cached, subscribed: isSubscribed },
      );
      void queryClient.invalidateQueries({ queryKey: skillKeys.libraries(workspaceId, 'subscribed') });
      if (!isSubscribed) toast(`Unsubscribed from ${title}`, { undo: () => change.mutate(true) });
    },
    onError: (error) => toast(`Couldn’t update your subscription: ${error.message}`, { tone: 'error' }),
  });
  return (
    <Button
      variant={subscribed ? 'default' : undefined}
      aria-pressed={subscribed}
      leftSection={subscribed ? <BookmarkedIcon /> : <BookmarkIcon />}
      loading={change.isPending}
      onClick={() => change.mutate(!subscribed)}
    >
      {subscribed ? 'Subscribed' : 'Subscribe'}
    </Button>
  );
}
