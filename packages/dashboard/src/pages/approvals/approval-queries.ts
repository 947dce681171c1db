import { useInfiniteQuery } from '@tanstack/react-query';
import { type Approval, api } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';

const PAGE_SIZE = 100;

/** Lists approvals, newest first. @param status default: every status */
export function useApprovals(status?: 'pending') {
  const workspace = useWorkspace();
  return useInfiniteQuery({
    queryKey: ['approvals', workspace?.id, status ?? 'all'],
    enabled: workspace !== undefined,
    initialPageParam: undefined as Approval | undefined,
    queryFn: async ({ pageParam: last }) => {
      const before = last && { before_requested_at: last.requested_at, before_id: last.id };
      const query = { limit: PAGE_SIZE, ...(status && { status }), ...before };
      return api.worker.GET('/api/approvals', { params: { query } });
    },
    getNextPageParam: (page) => (page.length === PAGE_SIZE ? page.at(-1) : undefined),
  });
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
