import { useQueryClient } from '@tanstack/react-query';
import { api, type Worker } from '../shell/api';
import { useInvalidateQueries } from '../shell/use-invalidate-queries';
import { useWorkspace } from '../shell/use-me';
import { useWorkspaceQuery } from '../shell/use-workspace-query';

/** Query keys for workers; all keys of a workspace share a prefix, as live events require. */
export const workerKeys = {
  all: (workspaceId: string | undefined) => ['workers', workspaceId] as const,
  list: (workspaceId: string | undefined, filter: object) => ['workers', workspaceId, 'list', filter] as const,
  one: (workspaceId: string | undefined, workerId: string) => ['workers', workspaceId, 'one', workerId] as const,
  part: (workspaceId: string | undefined, workerId: string, part: string, filter: object = {}) =>
    ['workers', workspaceId, 'one', workerId, part, filter] as const,
};

export const getWorker = (workerId: string, headers = {}): Promise<Worker> =>
  api.worker.GET('/api/workers/{worker_id}', { params: { path: { worker_id: workerId } }, headers });

/** @param workerId undefined: it is not known yet, and nothing is read */
export function useWorker(workerId: string | undefined) {
  return useWorkspaceQuery(
    (workspaceId) => workerKeys.one(workspaceId, workerId ?? ''),
    () => getWorker(workerId ?? ''),
    { enabled: workerId !== undefined },
  );
}

/** Returns a function that invalidates all queries of workers, after a change of one. */
export const useInvalidateWorkers = () => useInvalidateQueries(workerKeys.all);

/** Stores the response of a change in the cache, and invalidates the rest. */
export function useUpdateCachedWorker() {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  const invalidateWorkers = useInvalidateWorkers();
  return (worker: Worker) => {
    queryClient.setQueryData(workerKeys.one(workspaceId, worker.id), worker);
    void invalidateWorkers();
  };
}
