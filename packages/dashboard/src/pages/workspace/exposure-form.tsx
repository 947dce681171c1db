import { Checkbox } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, type Workspace } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { bindChecked } from '../../ui/bind';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

/** Allows or forbids exposed credentials; shown to members who can edit the workspace. */
export function ExposureForm({ workspace }: { workspace: Workspace }) {
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: (allowed: boolean) =>
      api.worker.PATCH('/api/workspaces/{workspace_id}', {
        params: { path: { workspace_id: workspace.id } },
        body: { allow_exposed_credentials: allowed },
      }),
    onSuccess: ({ allow_exposed_credentials: allowed }) =>
      toast(allowed ? 'Workers can now expose values to code' : 'Workers can no longer expose values to code'),
    onSettled: () => queryClient.invalidateQueries(),
  });
  const isAllowed = change.isPending ? change.variables : workspace.allow_exposed_credentials;
  return (
    <Panel title="Exposed values">
      <p className="panel-text">
        For connections and secrets with allowed hosts, code receives placeholders. Workers can expose individual values
        to their code. If you turn this off, workers that expose values can’t be saved, and their runs will fail.
      </p>
      <Checkbox
        label="Allow workers to expose connection and secret values to code"
        disabled={change.isPending}
        {...bindChecked(isAllowed, change.mutate)}
      />
      <ErrorNotice title="Changes not saved" error={change.error} />
    </Panel>
  );
}
