import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../../shell/api';
import { useSwitchWorkspace } from '../../shell/use-switch-workspace';
import { ListItem } from '../../ui/list-item';
import { ErrorNotice, LoadErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';

/** Lists the workspaces that the member can still restore; renders nothing without any. */
export function DeletedWorkspaces() {
  const moveTo = useSwitchWorkspace();
  const deletedWorkspaces = useQuery({
    queryKey: ['deleted-workspaces'],
    queryFn: () => api.worker.GET('/api/workspaces', { params: { query: { deleted: true } } }),
  });
  const restore = useMutation({
    mutationFn: (workspaceId: string) =>
      api.worker.POST('/api/workspaces/{workspace_id}/restore', {
        params: { path: { workspace_id: workspaceId } },
      }),
    onSuccess: ({ id }) => moveTo(id),
  });
  if (deletedWorkspaces.isError) {
    return (
      <LoadErrorNotice what="Deleted workspaces" error={deletedWorkspaces.error} retry={deletedWorkspaces.refetch} />
    );
  }
  if (!deletedWorkspaces.data?.length) return null;
  return (
    <Panel title="Deleted workspaces">
      <ErrorNotice title="Workspace not restored" error={restore.error} />
      <ul className="panel-list divided rows">
        {deletedWorkspaces.data.map(({ id, name, purge_at }) => (
          <ListItem
            key={id}
            title={name}
            about={
              purge_at && (
                <>
                  Will be permanently deleted <Timestamp at={Date.parse(purge_at)} />
                </>
              )
            }
          >
            <Button
              variant="default"
              aria-label={`Restore ${name}`}
              loading={restore.isPending && restore.variables === id}
              onClick={() => restore.mutate(id)}
            >
              Restore
            </Button>
          </ListItem>
        ))}
      </ul>
    </Panel>
  );
}
