import { unwrap } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { account, type Workspace } from './api';
import { useSession } from './session';

export const ME_KEY = ['me'];

/** The person who is signed in, with their workspaces. Nothing for a visitor. */
export function useMe() {
  const { status } = useSession();
  return useQuery({
    queryKey: ME_KEY,
    queryFn: () => unwrap(account.GET('/auth/me')),
    enabled: status === 'signed-in',
    staleTime: 30_000,
  });
}

/** The workspace that this page works in. */
export function useWorkspace(): Workspace | undefined {
  const { data } = useMe();
  return data?.workspaces.find(({ id }) => id === data.workspace_id);
}
