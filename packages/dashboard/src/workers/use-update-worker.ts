import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, type ChangedWorker, type WorkerChange } from '../shell/api';
import { useWorkspace } from '../shell/use-me';
import { invalidateWorkers } from './use-worker';

/** Changes a worker, then invalidates all queries of workers. */
export function useUpdateWorker(workerId: string, onChanged?: (changed: ChangedWorker) => void) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: WorkerChange) =>
      api.worker.PATCH('/api/workers/{worker_id}', { params: { path: { worker_id: workerId } }, body }),
    onSuccess: async (updated) => {
      await invalidateWorkers(queryClient, workspaceId);
      onChanged?.(updated);
    },
  });
}
