import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../shell/use-me';
import { getWorker } from './use-worker';

/** Names change rarely. */
const STALE_MS = 60_000;

/** Loads the worker's name; its id until the name is known, and where the worker is gone. @param workerId null: none */
export function useWorkerName(workerId: string | null): string {
  const workspaceId = useWorkspace()?.id;
  const { data } = useQuery({
    queryKey: ['workers', workspaceId, 'name', workerId],
    enabled: workspaceId !== undefined && workerId !== null,
    staleTime: STALE_MS,
    retry: false,
    queryFn: async () => (await getWorker(workerId ?? '')).name,
  });
  return data ?? workerId ?? '';
}
