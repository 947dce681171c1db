import { unwrap } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { type WorkerItem, workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { workerKeys } from '../../workers/use-worker';

const PAGE_SIZE = 200;
/** The maximum number of listed workers. The global search finds the others. */
export const WORKERS_MAX = 1_000;
const RECENT_RUNS = 20;

/** Loads all workers, so that filtering, search and sorting need no requests. */
export function useWorkers({ archived }: { archived: boolean }) {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: workerKeys.list(workspaceId, { archived }),
    queryFn: () => loadWorkers(archived),
    enabled: workspaceId !== undefined,
  });
}

async function loadWorkers(archived: boolean): Promise<WorkerItem[]> {
  const client = await workerApi();
  const workers: WorkerItem[] = [];
  while (workers.length < WORKERS_MAX) {
    const query = { limit: PAGE_SIZE, offset: workers.length, recent_runs: RECENT_RUNS };
    const page = await unwrap(
      client.GET('/api/workers', { params: { query: { ...query, ...(archived && { status: 'archived' as const }) } } }),
    );
    workers.push(...page);
    if (page.length < PAGE_SIZE) break;
  }
  return workers;
}
