import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { workerRunKey } from '../../runs/worker-runs';
import { api, type Repair, type WorkerRun } from '../../shell/api';

const repairKey = (run: WorkerRun) => ['repairs', run.workspace_id, run.id] as const;

/** Returns whether a run can be repaired: a failed run of a version, not a test or a rehearsal. */
export const isRepairable = ({ status, trigger }: WorkerRun): boolean =>
  (status === 'failed' || status === 'timed_out') && trigger !== 'test' && trigger !== 'rehearsal';

const ACTIVE_STATUSES: Repair['status'][] = ['working', 'rehearsing'];
export const isRepairActive = ({ status }: Repair): boolean => ACTIVE_STATUSES.includes(status);
export const isRepairOpen = (repair: Repair): boolean => isRepairActive(repair) || repair.status === 'waiting';

/** Loads the latest repair of the run; its data is undefined if none was started. */
export function useRepair(run: WorkerRun) {
  return useQuery({
    queryKey: repairKey(run),
    enabled: isRepairable(run) && run.repair_id !== null,
    queryFn: () => api.worker.GET('/api/runs/{run_id}/repair', { params: { path: { run_id: run.id } } }),
  });
}

/** Caches the repair of a response, which saves a refetch. */
export const cacheRepair = (queryClient: QueryClient, run: WorkerRun, repair: Repair): void => {
  queryClient.setQueryData(repairKey(run), repair);
  void queryClient.invalidateQueries({ queryKey: workerRunKey(run.workspace_id, run.id) });
};

export function useStopRepair(run: WorkerRun) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => api.worker.POST('/api/runs/{run_id}/repair/stop', { params: { path: { run_id: run.id } } }),
    onSuccess: (repair) => cacheRepair(queryClient, run, repair),
    // It may have ended in the meantime.
    onError: () => queryClient.invalidateQueries({ queryKey: repairKey(run) }),
  });
}
