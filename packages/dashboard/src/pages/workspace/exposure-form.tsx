import { unwrap } from '@gantry/sdk';
import { Checkbox } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Workspace, workerApi } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';

/** Allows or forbids exposed credentials; shown to members who can edit the workspace. */
export function ExposureForm({ workspace }: { workspace: Workspace }) {
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: async (allowed: boolean) =>
      unwrap(
        (await workerApi()).PATCH('/api/workspaces/{workspace_id}', {
          params: { path: { workspace_id: workspace.id } },
          body: { allow_exposed_credentials: allowed },
        }),
      ),
    onSuccess: ({ allow_exposed_credentials: allowed }) =>
      toast(allowed ? 'Workers can give values to their code.' : 'Workers can’t give values to their code.'),
    onSettled: () => queryClient.invalidateQueries(),
  });
  const isAllowed = change.isPending ? change.variables : workspace.allow_exposed_credentials;
  return (
    <Panel title="Values in code">
      <p className={styles.text}>
        Code gets placeholders of connections, and of secrets that have hosts. A worker may name those whose values its
        code gets itself, unless you forbid it here: then no such worker is saved, and runs of those that are there
        fail.
      </p>
      <Checkbox
        label="Workers may give values of connections and secrets to their code"
        checked={isAllowed}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
      <ErrorNotice title="Nothing was changed" error={change.error} />
    </Panel>
  );
}
