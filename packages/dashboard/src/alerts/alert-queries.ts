import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../shell/api';
import { useInvalidateQueries } from '../shell/use-invalidate-queries';
import { usePagedQuery } from '../shell/use-paged-query';
import { useWorkspaceQuery } from '../shell/use-workspace-query';
import type { AlertAddresses } from './alert-channels';
import type { Alert, AlertType } from './alert-labels';

/** Lists alerts, newest first. @param workerId only those of this worker */
export function useAlerts(workerId: string | null) {
  return usePagedQuery(
    (workspaceId) => ['alerts', workspaceId, 'list', workerId],
    (page) => {
      const query = { ...page, ...(workerId && { worker_id: workerId }) };
      return api.worker.GET('/api/alerts', { params: { query } });
    },
    { pageSize: 100 },
  );
}

export function useAlert(alertId: string) {
  return useWorkspaceQuery(
    (workspaceId) => ['alerts', workspaceId, alertId],
    () => api.worker.GET('/api/alerts/{alert_id}', { params: { path: { alert_id: alertId } } }),
  );
}

/** Whether this installation can send email; undefined until it is known. */
export function useIsEmailEnabled(): boolean | undefined {
  const { data, error } = useQuery({
    queryKey: ['system-info'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => api.worker.GET('/api/system/info'),
  });
  return error ? true : data && data.features.email === true;
}

export interface AlertFields extends AlertAddresses {
  on: AlertType[];
  description: string;
}

type NewAlert = AlertFields & { worker_id?: string; automation_id?: string };

type AlertChange = Partial<AlertFields> & { enabled?: boolean; secret_rotate?: boolean };

/** Mutations of alerts; each invalidates the lists. */
export function useAlertMutations() {
  const onSuccess = useInvalidateQueries((workspaceId) => ['alerts', workspaceId]);
  const invalidateLists = useInvalidateQueries((workspaceId) => ['alerts', workspaceId, 'list']);
  const toPathParams = (alertId: string) => ({ params: { path: { alert_id: alertId } } });
  return {
    create: useMutation({
      onSuccess,
      mutationFn: (body: NewAlert): Promise<Alert> => api.worker.POST('/api/alerts', { body }),
    }),
    change: useMutation({
      onSuccess,
      mutationFn: ({ id, ...body }: AlertChange & { id: string }): Promise<Alert> =>
        api.worker.PATCH('/api/alerts/{alert_id}', { ...toPathParams(id), body }),
    }),
    remove: useMutation({
      // Not the alert itself: its page would then show "not found".
      onSuccess: () => void invalidateLists(),
      mutationFn: (id: string) => api.worker.DELETE('/api/alerts/{alert_id}', toPathParams(id)),
    }),
    test: useMutation({
      mutationFn: (id: string) => api.worker.POST('/api/alerts/{alert_id}/test', toPathParams(id)),
    }),
  };
}

/** The result of a test, by channel. */
export type AlertTestResult = NonNullable<ReturnType<typeof useAlertMutations>['test']['data']>;
