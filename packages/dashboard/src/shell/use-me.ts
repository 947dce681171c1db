import { useQuery } from '@tanstack/react-query';
import { api, type Workspace } from './api';
import { useSession } from './session';

export const ME_KEY = ['me'];

/** Loads the signed-in user with their workspaces; nothing for a visitor. */
export function useMe() {
  const { status } = useSession();
  return useQuery({
    queryKey: ME_KEY,
    queryFn: () => api.account.GET('/auth/me'),
    enabled: status === 'signed-in',
    staleTime: 30_000,
  });
}

/** Returns the current workspace. */
export function useWorkspace(): Workspace | undefined {
  const { data } = useMe();
  return data?.workspaces.find(({ id }) => id === data.workspace_id);
}
