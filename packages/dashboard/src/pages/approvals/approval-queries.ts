import { type Approval, api } from '../../shell/api';
import { usePagedQuery } from '../../shell/use-paged-query';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';

/** Lists approvals, newest first. @param status default: every status */
export function useApprovals(status?: 'pending') {
  return usePagedQuery<Approval>(
    (workspaceId) => ['approvals', workspaceId, status ?? 'all'],
    ({ limit }, last) => {
      const before = last && { before_requested_at: last.requested_at, before_id: last.id };
      const query = { limit, ...(status && { status }), ...before };
      return api.worker.GET('/api/approvals', { params: { query } });
    },
    { pageSize: 100 },
  );
}

/** Loads one approval, in any status. @param approvalId null: none */
export function useApproval(approvalId: string | null) {
  const params = { path: { approval_id: approvalId ?? '' } };
  return useWorkspaceQuery(
    (workspaceId) => ['approvals', workspaceId, 'one', approvalId],
    () => api.worker.GET('/api/approvals/{approval_id}', { params }),
    { enabled: approvalId !== null },
  );
}
