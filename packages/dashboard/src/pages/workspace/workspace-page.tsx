import { unwrap } from '@gantry/sdk';
import { Button, Group, Skeleton, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { SettingsFrame } from '../../settings/settings-frame';
import { type Workspace, workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { useSwitchWorkspace } from '../../shell/use-switch-workspace';
import { ConfirmButton } from '../../ui/confirm-button';
import { FormRow } from '../../ui/form';
import { Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';
import { DeletedWorkspaces } from './deleted-workspaces';
import { ExposureForm } from './exposure-form';
import { RetentionForm } from './retention-form';

export default function WorkspacePage() {
  const workspace = useWorkspace();
  return (
    <SettingsFrame
      title="Workspace"
      about="Its name, how long it keeps runs, what code may get, and leaving or deleting it."
    >
      {workspace ? <CurrentWorkspace key={workspace.id} workspace={workspace} /> : <Skeleton height={160} />}
      {workspace?.permissions.update && <RetentionForm key={workspace.id} workspace={workspace} />}
      {workspace?.permissions.update && <ExposureForm key={`values ${workspace.id}`} workspace={workspace} />}
      <NewWorkspacePanel />
      <DeletedWorkspaces />
    </SettingsFrame>
  );
}

const handleNameSubmit = (onName: (name: string) => void) => (event: FormEvent<HTMLFormElement>) => {
  event.preventDefault();
  onName(String(new FormData(event.currentTarget).get('name')));
};

function CurrentWorkspace({ workspace }: { workspace: Workspace }) {
  const queryClient = useQueryClient();
  const moveTo = useSwitchWorkspace();
  const params = { path: { workspace_id: workspace.id } };
  const rename = useMutation({
    mutationFn: async (name: string) =>
      unwrap((await workerApi()).PATCH('/api/workspaces/{workspace_id}', { params, body: { name } })),
    onSuccess: () => queryClient.invalidateQueries(),
  });
  const leave = useMutation({
    mutationFn: async () => unwrap((await workerApi()).POST('/api/workspaces/{workspace_id}/leave', { params })),
    onSuccess: () => moveTo(null),
  });
  const remove = useMutation({
    mutationFn: async () => unwrap((await workerApi()).DELETE('/api/workspaces/{workspace_id}', { params })),
    onSuccess: () => moveTo(null),
  });
  const failure = rename.error ?? leave.error ?? remove.error;
  return (
    <Panel title={workspace.name}>
      {workspace.permissions.update && (
        <FormRow mb="md" onSubmit={handleNameSubmit(rename.mutate)}>
          <TextInput
            flex="1 1 16rem"
            name="name"
            label="Name"
            defaultValue={workspace.name}
            maxLength={100}
            required
            withAsterisk={false}
          />
          <Button type="submit" size="md" loading={rename.isPending}>
            Rename
          </Button>
        </FormRow>
      )}
      <Failure title="Nothing was changed" error={failure} />
      <p className={styles.text}>
        {workspace.permissions.delete
          ? 'A deleted workspace can be brought back on this page for seven days; then everything in it is gone.'
          : `You are here as ${workspace.role}.`}
      </p>
      <Group gap="xs">
        <ConfirmButton
          label={`Leave ${workspace.name}`}
          question="Leave now"
          busy={leave.isPending}
          onConfirm={() => leave.mutate()}
        >
          Leave
        </ConfirmButton>
        {workspace.permissions.delete && (
          <ConfirmButton
            label={`Delete ${workspace.name}`}
            question="Delete it now"
            busy={remove.isPending}
            onConfirm={() => remove.mutate()}
          >
            Delete
          </ConfirmButton>
        )}
      </Group>
    </Panel>
  );
}

function NewWorkspacePanel() {
  const moveTo = useSwitchWorkspace();
  const create = useMutation({
    mutationFn: async (name: string) => unwrap((await workerApi()).POST('/api/workspaces', { body: { name } })),
    onSuccess: ({ id }) => moveTo(id),
  });
  return (
    <Panel title="Another workspace">
      <p className={styles.text}>With members, automations and secrets of its own. You own it.</p>
      <FormRow mb="md" onSubmit={handleNameSubmit(create.mutate)}>
        <TextInput
          flex="1 1 16rem"
          name="name"
          label="Name of the new workspace"
          maxLength={100}
          autoComplete="off"
          required
          withAsterisk={false}
        />
        <Button type="submit" size="md" loading={create.isPending}>
          Create workspace
        </Button>
      </FormRow>
      <Failure error={create.error} />
    </Panel>
  );
}
