import { unwrap } from '@gantry/api-client';
import { NativeSelect } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { workerApi } from '../api';
import { useMe } from '../use-me';
import { useMoveTo } from '../use-move-to';
import styles from './workspace-switcher.module.css';

/** Leads to the list: everything on screen belonged to the other workspace. */
export function WorkspaceSwitcher() {
  const { data: me } = useMe();
  const moveTo = useMoveTo();
  const select = useMutation({
    mutationFn: async (workspaceId: string) => {
      const worker = await workerApi();
      await unwrap(
        worker.POST('/api/workspaces/{workspace_id}/select', { params: { path: { workspace_id: workspaceId } } }),
      );
    },
    // This browser switches even if the server could not make it the default of the next sign-in.
    onSettled: (_data, _error, workspaceId) => moveTo(workspaceId),
  });
  if (!me?.workspace_id) return null;
  if (me.workspaces.length < 2) return <span className={styles.name}>{me.workspaces[0]?.name}</span>;
  return (
    <NativeSelect
      className={styles.switcher}
      size="sm"
      aria-label="Workspace"
      value={select.isPending ? select.variables : me.workspace_id}
      disabled={select.isPending}
      data={me.workspaces.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={(event) => select.mutate(event.currentTarget.value)}
    />
  );
}
