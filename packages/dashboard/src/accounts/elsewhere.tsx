import { Button, Skeleton } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { isStatus, type Workspace } from '../shell/api';
import { NotFound } from '../shell/frame/not-found';
import { useMe } from '../shell/use-me';
import { workspaceChoice } from '../shell/workspace-choice';
import { Empty } from '../ui/empty';
import { FailedToLoad } from '../ui/notice';

interface OtherWorkspaceNoticeProps {
  what: 'automation' | 'worker' | 'run' | 'skill' | 'library' | 'context' | 'connection';
  queryKey: readonly unknown[];
  /** Reads it in another workspace. @throws ApiError 403 or 404 where it is not */
  read: (headers: { 'x-svc-workspace': string }) => Promise<unknown>;
}

/** Searches the member's other workspaces for a resource that the current one does not have. */
export function OtherWorkspaceNotice({ what, queryKey, read }: OtherWorkspaceNoticeProps) {
  const { data: me } = useMe();
  const queryClient = useQueryClient();
  const others = me?.workspaces.filter(({ id }) => id !== me.workspace_id) ?? [];
  const search = useQuery({
    queryKey: [...queryKey, 'elsewhere', others.map(({ id }) => id)],
    queryFn: () => findWorkspaceWith(read, others),
    enabled: others.length > 0,
  });
  if (me && others.length === 0) return <NotFound what={what} />;
  if (search.error) return <FailedToLoad what={`The ${what}`} error={search.error} retry={search.refetch} />;
  if (search.data === undefined) return <Skeleton height={240} />;
  if (search.data === null) return <NotFound what={what} />;
  const workspace = search.data;

  async function move() {
    workspaceChoice.choose(workspace.id);
    await queryClient.resetQueries();
  }
  return (
    <Empty title={`This ${what} belongs to ${workspace.name}`} level={1}>
      <p>You are a member of that workspace, but are working in another one.</p>
      <p>
        <Button onClick={move}>Switch to {workspace.name}</Button>
      </p>
    </Empty>
  );
}

async function findWorkspaceWith(
  read: OtherWorkspaceNoticeProps['read'],
  workspaces: Workspace[],
): Promise<Workspace | null> {
  for (const workspace of workspaces) {
    try {
      await read({ 'x-svc-workspace': workspace.id });
      return workspace;
    } catch (error) {
      if (!isStatus(error, 403, 404)) throw error;
    }
  }
  return null;
}
