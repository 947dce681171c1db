import type { Clients } from '@gantry/sdk';
import { type QueryKey, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { getWorkerApi } from './api';
import { useWorkspace } from './use-me';

/** Reads from the worker surface in the current workspace, which is a part of the key. */
export function useWorkerQuery<Data>(
  getKey: (workspaceId: string | undefined) => QueryKey,
  load: (api: Clients['worker']) => Promise<Data>,
  isEnabled = true,
): UseQueryResult<Data> {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: getKey(workspaceId),
    enabled: workspaceId !== undefined && isEnabled,
    queryFn: async () => load(await getWorkerApi()),
  });
}
