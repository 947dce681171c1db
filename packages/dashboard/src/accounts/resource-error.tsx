import { Button, Skeleton } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { hasErrorStatus, type Workspace } from '../shell/api';
import { NotFound } from '../shell/frame/not-found';
import { useMe } from '../shell/use-me';
import { workspaceSelection } from '../shell/workspace-selection';
import { EmptyState } from '../ui/empty-state';
import { LoadErrorNotice } from '../ui/notice';

interface OtherWorkspaceNoticeProps {
  resourceKind: 'automation' | 'worker' | 'run' | 'skill' | 'library' | 'context' | 'connection';
  queryKey: readonly unknown[];
  /** Reads it in another workspace. @throws ApiError 403 or 404 where it is not */
  read: (headers: { 'x-svc-workspace': string }) => Promise<unknown>;
}

/** Searches the member's other workspaces for a resource that the current one does not have. */
function OtherWorkspaceNotice({ resourceKind, queryKey, read }: OtherWorkspaceNoticeProps) {
  const { data: me } = useMe();
  const queryClient = useQueryClient();
  const others = me?.workspaces.filter(({ id }) => id !== me.workspace_id) ?? [];
  const search = useQuery({
    queryKey: [...queryKey, 'elsewhere', others.map(({ id }) => id)],
    queryFn: () => findWorkspaceWithResource(read, others),
    enabled: others.length > 0,
  });
  if (me && others.length === 0) return <NotFound what={resourceKind} />;
  if (search.error) return <LoadErrorNotice what={`The ${resourceKind}`} error={search.error} retry={search.refetch} />;
  if (search.data === undefined) return <Skeleton height={240} />;
  if (search.data === null) return <NotFound what={resourceKind} />;
  const workspace = search.data;

  async function switchWorkspace() {
    workspaceSelection.choose(workspace.id);
    await queryClient.resetQueries();
  }
  return (
    <EmptyState title={`This ${resourceKind} belongs to ${workspace.name}`} level={1}>
      <p>You’re a member of {workspace.name}, but you’re currently in a different workspace.</p>
      <p>
        <Button onClick={switchWorkspace}>Switch to {workspace.name}</Button>
      </p>
    </EmptyState>
  );
}

interface ResourceErrorOptions extends OtherWorkspaceNoticeProps {
  query: { data: unknown; error: Error | null; refetch: () => void };
  /** Statuses of a resource that the current workspace does not have. */
  missingStatuses?: number[];
}

/** Renders the reason why a resource cannot be shown; null where it can, or where it still loads. */
export function renderResourceError({ query, missingStatuses = [403, 404], ...resource }: ResourceErrorOptions) {
  if (hasErrorStatus(query.error, ...missingStatuses)) return <OtherWorkspaceNotice {...resource} />;
  if (!query.error || query.data) return null;
  return <LoadErrorNotice what={`The ${resource.resourceKind}`} error={query.error} retry={query.refetch} />;
}

async function findWorkspaceWithResource(
  read: OtherWorkspaceNoticeProps['read'],
  workspaces: Workspace[],
): Promise<Workspace | null> {
  for (const workspace of workspaces) {
    try {
      await read({ 'x-svc-workspace': workspace.id });
      return workspace;
    } catch (error) {
      if (!hasErrorStatus(error, 403, 404)) throw error;
    }
  }
  return null;
}
