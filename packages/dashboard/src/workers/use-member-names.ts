import { useQuery } from '@tanstack/react-query';
import { api, type Member } from '../shell/api';
import { useWorkspace } from '../shell/use-me';

/** Loads members' names by id; a worker's creator who is missing was a token, or has left. */
export function useMemberNames(): ReadonlyMap<string, string> | undefined {
  const workspaceId = useWorkspace()?.id;
  const { data } = useQuery({
    queryKey: ['members', workspaceId, 'all'],
    queryFn: () =>
      api.worker.GET('/api/workspaces/{workspace_id}/members', {
        params: { path: { workspace_id: workspaceId as string } },
      }),
    enabled: workspaceId !== undefined,
    staleTime: 60_000,
    select: toNamesByUserId,
  });
  return data;
}

const toNamesByUserId = (members: Member[]): ReadonlyMap<string, string> =>
  new Map(members.map(({ user_id, name, email }) => [user_id, name || email]));
