import { unwrap } from '@gantry/sdk';
import { useWorkerQuery } from './use-worker-query';

/** Counts the workspace's pending approvals; 0 until that is known. */
export function usePendingApprovalCount(): number {
  const { data } = useWorkerQuery(
    (workspaceId) => ['approvals', workspaceId, 'count'],
    (api) => unwrap(api.GET('/api/approvals/count')),
  );
  return data?.pending ?? 0;
}
