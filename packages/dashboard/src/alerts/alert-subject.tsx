import { unwrap } from '@gantry/api-client';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, workerApi } from '../shell/api';
import { automationPath, workerPath } from '../shell/paths';
import { useWorkspace } from '../shell/use-me';
import type { Alert } from './alert-words';

/** Names change seldom. */
const STALE_MS = 60_000;

/** The name of a worker; its id until it is known, and where it is gone. @param workerId null: of none */
export function useWorkerName(workerId: string | null): string {
  const workspaceId = useWorkspace()?.id;
  const { data } = useQuery({
    queryKey: ['workers', workspaceId, workerId],
    enabled: workspaceId !== undefined && workerId !== null,
    staleTime: STALE_MS,
    retry: false,
    queryFn: async () =>
      unwrap((await workerApi()).GET('/api/workers/{worker_id}', { params: { path: { worker_id: workerId ?? '' } } })),
  });
  return data?.name ?? workerId ?? '';
}

function useAutomationName(automationId: string | null): string {
  const workspaceId = useWorkspace()?.id;
  const { data } = useQuery({
    queryKey: ['automations', workspaceId, automationId],
    enabled: workspaceId !== undefined && automationId !== null,
    staleTime: STALE_MS,
    retry: false,
    queryFn: () =>
      unwrap(api.GET('/api/automations/{automationId}', { params: { path: { automationId: automationId ?? '' } } })),
  });
  return data?.name ?? 'an automation';
}

/** Whose runs the alert tells of. */
export function AlertSubject({ alert: { worker_id, automation_id } }: { alert: Alert }) {
  const worker = useWorkerName(worker_id);
  const automation = useAutomationName(automation_id);
  if (worker_id) return <Link to={workerPath(worker_id)}>{worker}</Link>;
  if (automation_id) return <Link to={automationPath(automation_id)}>{automation}</Link>;
  return 'All runs of the workspace';
}
