import { useQueryClient } from '@tanstack/react-query';
import { type Files, type FilesQuery, toFiles } from '../code/files';
import { api, type Context } from '../shell/api';
import { useWorkspace } from '../shell/use-me';
import { useWorkspaceQuery } from '../shell/use-workspace-query';

/** Query keys for contexts; all keys of a workspace share a prefix, as live events require. */
export const contextKeys = {
  all: (workspaceId: string | undefined) => ['contexts', workspaceId] as const,
  list: (workspaceId: string | undefined) => ['contexts', workspaceId, 'list'] as const,
  one: (workspaceId: string | undefined, name: string) => ['contexts', workspaceId, 'one', name] as const,
  part: (workspaceId: string | undefined, name: string, part: string, filter: object = {}) =>
    ['contexts', workspaceId, 'one', name, part, filter] as const,
};

export const getContext = (name: string, headers = {}): Promise<Context> =>
  api.worker.GET('/api/contexts/{name}', { params: { path: { name } }, headers });

export function useContextPack(name: string) {
  return useWorkspaceQuery(
    (workspaceId) => contextKeys.one(workspaceId, name),
    () => getContext(name),
  );
}

/** Loads the files of a version once, since a version never changes. */
export const contextFilesQuery = (workspaceId: string | undefined, name: string, sha: string): FilesQuery => ({
  queryKey: contextKeys.part(workspaceId, name, 'files', { sha }),
  queryFn: async (): Promise<Files> => {
    const params = { path: { name }, query: { version: sha } };
    return toFiles(await api.worker.GET('/api/contexts/{name}/files', { params }));
  },
  enabled: workspaceId !== undefined,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Stores the response of a change in the cache, and invalidates the rest. */
export function useUpdateCachedContext() {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  return ({ warnings: _, ...context }: Context) => {
    queryClient.setQueryData(contextKeys.one(workspaceId, context.name), context);
    void queryClient.invalidateQueries({ queryKey: contextKeys.all(workspaceId) });
  };
}
