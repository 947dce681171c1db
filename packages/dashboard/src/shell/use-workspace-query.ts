import { type QueryKey, type UseQueryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useWorkspace } from './use-me';

/** Queries data of the current workspace, once it is known. @param buildKey from the id of the workspace */
export function useWorkspaceQuery<Loaded, Data = Loaded>(
  buildKey: (workspaceId: string | undefined) => QueryKey,
  queryFn: NonNullable<UseQueryOptions<Loaded, Error, Data>['queryFn']>,
  { enabled = true, ...options }: WorkspaceQueryOptions<Loaded, Data> = {},
): UseQueryResult<Data> {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: buildKey(workspaceId),
    queryFn,
    enabled: enabled && workspaceId !== undefined,
    ...options,
  });
}

type WorkspaceQueryOptions<Loaded, Data> = Omit<
  UseQueryOptions<Loaded, Error, Data>,
  'queryKey' | 'queryFn' | 'enabled'
> & { enabled?: boolean };
