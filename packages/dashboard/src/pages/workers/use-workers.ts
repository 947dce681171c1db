import { api, type WorkerItem } from '../../shell/api';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { workerKeys } from '../../workers/use-worker';

const PAGE_SIZE = 200;
/** The maximum number of listed workers. The global search finds the others. */
export const WORKERS_MAX = 1_000;
const RECENT_RUNS = 20;

/** Loads all workers, so that filtering, search and sorting need no requests. */
export function useWorkers({ archived }: { archived: boolean }) {
  return useWorkspaceQuery(
    (workspaceId) => workerKeys.list(workspaceId, { archived }),
    () => loadWorkers(archived),
  );
}

async function loadWorkers(archived: boolean): Promise<WorkerItem[]> {
  const workers: WorkerItem[] = [];
  while (workers.length < WORKERS_MAX) {
    const query = { limit: PAGE_SIZE, offset: workers.length, recent_runs: RECENT_RUNS };
    const page = await api.worker.GET('/api/workers', {
      params: { query: { ...query, ...(archived && { status: 'archived' as const }) } },
    });
    workers.push(...page);
    if (page.length < PAGE_SIZE) break;
  }
  return workers;
}
