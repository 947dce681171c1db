import { unwrap } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { workerApi } from './api';
import { useWorkspace } from './use-me';

/** Counts the workspace's pending approvals; 0 until that is known. */
export function usePendingApprovals(): number {
  const workspace = useWorkspace();
  const { data } = useQuery({
    queryKey: ['approvals', workspace?.id, 'count'],
    enabled: workspace !== undefined,
    queryFn: async () => unwrap((await workerApi()).GET('/api/approvals/count')),
  });
  return data?.pending ?? 0;
}
