import { api } from './api';
import { useWorkspaceQuery } from './use-workspace-query';

/** Counts the workspace's pending approvals; 0 until that is known. */
export function usePendingApprovalCount(): number {
  const { data } = useWorkspaceQuery(
    (workspaceId) => ['approvals', workspaceId, 'count'],
    () => api.worker.GET('/api/approvals/count'),
  );
  return data?.pending ?? 0;
}
