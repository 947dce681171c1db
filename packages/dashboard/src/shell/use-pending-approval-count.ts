import { unwrap } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { getWorkerApi } from './api';
import { useWorkspace } from './use-me';

/** Counts the workspace's pending approvals; 0 until that is known. */
export function usePendingApprovalCount(): number {
  const workspace = useWorkspace();
  const { data } = useQuery({
    queryKey: ['approvals', workspace?.id, 'count'],
    enabled: workspace !== undefined,
    queryFn: async () => unwrap((await getWorkerApi()).GET('/api/approvals/count')),
  });
  return data?.pending ?? 0;
}
