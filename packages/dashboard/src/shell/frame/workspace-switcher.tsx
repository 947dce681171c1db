import { unwrap } from '@gantry/api-client';
import { NativeSelect } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { workerApi } from '../api';
import { useMe } from '../use-me';
import { workspaceChoice } from '../workspace-choice';
import styles from './workspace-switcher.module.css';

/** Where one works. What was on screen belongs to the other workspace, so the page goes back to the list. */
export function WorkspaceSwitcher() {
  const { data: me } = useMe();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const select = useMutation({
    mutationFn: async (workspaceId: string) => {
      const worker = await workerApi();
      await unwrap(
        worker.POST('/api/workspaces/{workspace_id}/select', { params: { path: { workspace_id: workspaceId } } }),
      );
    },
    // This browser switches even if the server could not make it the default of the next sign-in.
    onSettled: async (_data, _error, workspaceId) => {
      workspaceChoice.choose(workspaceId);
      await queryClient.resetQueries();
      navigate('/');
    },
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
