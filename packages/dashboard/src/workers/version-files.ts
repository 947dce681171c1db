import { type QueryClient, useQuery } from '@tanstack/react-query';
import { type Files, type FilesQuery, toFiles } from '../code/files';
import { api } from '../shell/api';
import { useWorkspace } from '../shell/use-me';
import { workerKeys } from './use-worker';

/** Loads the files of a version once, since a version never changes. */
export const versionFilesQuery = (workspaceId: string | undefined, workerId: string, sha: string): FilesQuery => ({
  queryKey: workerKeys.part(workspaceId, workerId, 'files', { sha }),
  queryFn: async (): Promise<Files> => {
    const params = { path: { worker_id: workerId }, query: { version: sha } };
    return toFiles(await api.worker.GET('/api/workers/{worker_id}/files', { params }));
  },
  enabled: workspaceId !== undefined,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Loads the files of a version of a worker in the current workspace. */
export const useVersionFiles = (workerId: string, sha: string) =>
  useQuery(versionFilesQuery(useWorkspace()?.id, workerId, sha));

/** Caches the files of a version that was just saved. */
export const cacheVersionFiles = (
  queryClient: QueryClient,
  [workspaceId, workerId, sha]: Parameters<typeof versionFilesQuery>,
  files: Files,
): void => {
  queryClient.setQueryData(versionFilesQuery(workspaceId, workerId, sha).queryKey, files);
};
