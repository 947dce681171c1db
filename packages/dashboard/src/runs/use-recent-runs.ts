import { useQuery } from '@tanstack/react-query';
import { api, type WorkerRun } from '../shell/api';
import { useWorkspace } from '../shell/use-me';

interface RecentRunsFilter {
  limit: number;
  trigger?: WorkerRun['trigger'];
}

/** Loads the last runs of a worker. */
export function useRecentRuns(workerId: string, filter: RecentRunsFilter) {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['runs', workspaceId, 'of-worker', workerId, 'recent', filter],
    queryFn: async () => {
      const params = { path: { worker_id: workerId }, query: filter };
      return api.worker.GET('/api/workers/{worker_id}/runs', { params });
    },
  });
}
