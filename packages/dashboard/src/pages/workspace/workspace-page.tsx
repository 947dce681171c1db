import { Group, Skeleton } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { SettingsLayout } from '../../settings/settings-layout';
import { api, type Workspace } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { useSwitchWorkspace } from '../../shell/use-switch-workspace';
import { ConfirmButton, DeleteButton, toAction } from '../../ui/confirm-button';
import { NameForm } from '../../ui/name-form';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { DeletedWorkspaces } from './deleted-workspaces';
import { ExposureForm } from './exposure-form';
import { RetentionForm } from './retention-form';

export default function WorkspacePage() {
  const workspace = useWorkspace();
  return (
    <SettingsLayout
      title="Workspace"
      about="Manage this workspace’s name, data retention and exposed values. You can also leave or delete the workspace."
    >
      {workspace ? <CurrentWorkspace key={workspace.id} workspace={workspace} /> : <Skeleton height={160} />}
      {workspace?.permissions.update && <RetentionForm key={workspace.id} workspace={workspace} />}
      {workspace?.permissions.update && <ExposureForm key={`values ${workspace.id}`} workspace={workspace} />}
      <NewWorkspacePanel />
      <DeletedWorkspaces />
    </SettingsLayout>
  );
}

function CurrentWorkspace({ workspace }: { workspace: Workspace }) {
  const queryClient = useQueryClient();
  const moveTo = useSwitchWorkspace();
  const params = { path: { workspace_id: workspace.id } };
  const rename = useMutation({
    mutationFn: (name: string) => api.worker.PATCH('/api/workspaces/{workspace_id}', { params, body: { name } }),
    onSuccess: () => queryClient.invalidateQueries(),
  });
  const leave = useMutation({
    mutationFn: () => api.worker.POST('/api/workspaces/{workspace_id}/leave', { params }),
    onSuccess: () => moveTo(null),
  });
  const remove = useMutation({
    mutationFn: () => api.worker.DELETE('/api/workspaces/{workspace_id}', { params }),
    onSuccess: () => moveTo(null),
  });
  const failure = rename.error ?? leave.error ?? remove.error;
  return (
    <Panel title={workspace.name}>
      {workspace.permissions.update && (
        <NameForm
          label="Name"
          defaultValue={workspace.name}
          submit="Rename"
          isBusy={rename.isPending}
          onSubmit={(name) => rename.mutate(name)}
        />
      )}
      <ErrorNotice title="Changes not saved" error={failure} />
      <p className="panel-text">
        {workspace.permissions.delete
          ? 'You can restore a deleted workspace here for seven days. After that, it’s permanently deleted.'
          : `Your role is ${workspace.role}.`}
      </p>
      <Group gap="xs">
        <ConfirmButton label={`Leave ${workspace.name}`} question="Leave now" {...toAction(leave)}>
          Leave
        </ConfirmButton>
        {workspace.permissions.delete && <DeleteButton name={workspace.name} mutation={remove} />}
      </Group>
    </Panel>
  );
}

function NewWorkspacePanel() {
  const moveTo = useSwitchWorkspace();
  const create = useMutation({
    mutationFn: (name: string) => api.worker.POST('/api/workspaces', { body: { name } }),
    onSuccess: ({ id }) => moveTo(id),
  });
  return (
    <Panel title="New workspace">
      <p className="panel-text">
        Each workspace has its own members, automations and secrets. You’ll be the owner of the new workspace.
      </p>
      <NameForm
        label="Workspace name"
        submit="Create workspace"
        isBusy={create.isPending}
        onSubmit={(name) => create.mutate(name)}
      />
      <ErrorNotice error={create.error} />
    </Panel>
  );
}
