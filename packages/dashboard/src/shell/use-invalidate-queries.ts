import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useWorkspace } from './use-me';

/** Returns a function that invalidates queries of the current workspace. @param buildKey from the id of the workspace */
export function useInvalidateQueries(buildKey: (workspaceId: string | undefined) => QueryKey): () => Promise<void> {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  return () => queryClient.invalidateQueries({ queryKey: buildKey(workspaceId) });
}
