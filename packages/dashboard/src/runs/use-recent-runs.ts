import { api, type WorkerRun } from '../shell/api';
import { useWorkspaceQuery } from '../shell/use-workspace-query';

interface RecentRunsFilter {
  limit: number;
  trigger?: WorkerRun['trigger'];
}

/** Loads the last runs of a worker. */
export function useRecentRuns(workerId: string, filter: RecentRunsFilter) {
  const params = { path: { worker_id: workerId }, query: filter };
  return useWorkspaceQuery(
    (workspaceId) => ['runs', workspaceId, 'of-worker', workerId, 'recent', filter],
    () => api.worker.GET('/api/workers/{worker_id}/runs', { params }),
  );
}
