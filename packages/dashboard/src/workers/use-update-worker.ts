import { useMutation } from '@tanstack/react-query';
import { api, type ChangedWorker, type WorkerChange } from '../shell/api';
import { useInvalidateWorkers } from './use-worker';

/** Changes a worker, then invalidates all queries of workers. */
export function useUpdateWorker(workerId: string, onChanged?: (changed: ChangedWorker) => void) {
  const invalidateWorkers = useInvalidateWorkers();
  return useMutation({
    mutationFn: (body: WorkerChange) =>
      api.worker.PATCH('/api/workers/{worker_id}', { params: { path: { worker_id: workerId } }, body }),
    onSuccess: async (updated) => {
      await invalidateWorkers();
      onChanged?.(updated);
    },
  });
}
