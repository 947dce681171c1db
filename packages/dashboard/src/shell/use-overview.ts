import { unwrap } from '@gantry/api-client';
import { useQuery } from '@tanstack/react-query';
import { workerApi } from './api';
import { useWorkspace } from './use-me';

/** What the workspace has, and what needs somebody. */
export function useOverview() {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['overview', workspaceId],
    enabled: workspaceId !== undefined,
    queryFn: async () => unwrap((await workerApi()).GET('/api/system/overview')),
  });
}
