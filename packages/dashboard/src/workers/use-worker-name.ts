import { useWorkspaceQuery } from '../shell/use-workspace-query';
import { getWorker } from './use-worker';

/** Names change rarely. */
const STALE_MS = 60_000;

/** Loads the worker's name; its id until the name is known, and where the worker is gone. @param workerId null: none */
export function useWorkerName(workerId: string | null): string {
  const { data } = useWorkspaceQuery(
    (workspaceId) => ['workers', workspaceId, 'name', workerId],
    async () => (await getWorker(workerId ?? '')).name,
    { enabled: workerId !== null, staleTime: STALE_MS, retry: false },
  );
  return data ?? workerId ?? '';
}
