import { unwrap } from '@gantry/api-client';
import { Button, Skeleton } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, isStatus, type Workspace } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { useMe } from '../../shell/use-me';
import { workspaceChoice } from '../../shell/workspace-choice';
import { Empty } from '../../ui/empty';
import { FailedToLoad } from '../../ui/notice';
import { pageKey } from './page-key';

/** An automation that the current workspace does not have: perhaps another workspace of this person does. */
export function Elsewhere({ automationId }: { automationId: string }) {
  const { data: me } = useMe();
  const queryClient = useQueryClient();
  const others = me?.workspaces.filter(({ id }) => id !== me.workspace_id) ?? [];
  const search = useQuery({
    queryKey: [...pageKey(automationId), 'elsewhere', others.map(({ id }) => id)],
    queryFn: () => firstWith(automationId, others),
    enabled: others.length > 0,
  });
  if (me && others.length === 0) return <NotFound what="automation" />;
  if (search.error) return <FailedToLoad what="The automation" error={search.error} retry={search.refetch} />;
  if (search.data === undefined) return <Skeleton height={240} />;
  if (search.data === null) return <NotFound what="automation" />;
  const workspace = search.data;

  async function move() {
    workspaceChoice.choose(workspace.id);
    await queryClient.resetQueries();
  }
  return (
    <Empty title={`This automation belongs to ${workspace.name}`} level={1}>
      <p>You are a member there, and work in another workspace at present.</p>
      <p>
        <Button onClick={move}>Switch to {workspace.name}</Button>
      </p>
    </Empty>
  );
}

async function firstWith(automationId: string, workspaces: Workspace[]): Promise<Workspace | null> {
  for (const workspace of workspaces) {
    const params = { path: { automationId } };
    try {
      await unwrap(api.GET('/api/pages/{automationId}', { params, headers: { 'x-svc-workspace': workspace.id } }));
      return workspace;
    } catch (error) {
      if (!isStatus(error, 403, 404)) throw error;
    }
  }
  return null;
}
