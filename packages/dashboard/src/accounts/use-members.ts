import { useQuery } from '@tanstack/react-query';
import { api } from '../shell/api';
import { useWorkspace } from '../shell/use-me';

export const membersKey = (workspaceId: string | undefined) => ['members', workspaceId];

/** Loads the members of the workspace. */
export function useMembers() {
  const workspace = useWorkspace();
  return useQuery({
    queryKey: membersKey(workspace?.id),
    enabled: workspace !== undefined,
    queryFn: () =>
      api.worker.GET('/api/workspaces/{workspace_id}/members', {
        params: { path: { workspace_id: workspace?.id ?? '' } },
      }),
  });
}
