import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../shell/use-me';
import { readWorker } from './use-worker';

/** Names change seldom. */
const STALE_MS = 60_000;

/** Its id until it is known, and where it is gone. @param workerId null: of none */
export function useWorkerName(workerId: string | null): string {
  const workspaceId = useWorkspace()?.id;
  const { data } = useQuery({
    queryKey: ['workers', workspaceId, 'name', workerId],
    enabled: workspaceId !== undefined && workerId !== null,
    staleTime: STALE_MS,
    retry: false,
    queryFn: async () => (await readWorker(workerId ?? '')).name,
  });
  return data ?? workerId ?? '';
}
