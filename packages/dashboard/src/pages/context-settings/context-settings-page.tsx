import { Checkbox, Group, Stack, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { ContextLayout } from '../../contexts/context-layout';
import { contextKeys, useUpdateCachedContext } from '../../contexts/use-context-pack';
import { api, type Context } from '../../shell/api';
import { paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { bindChecked, bindText } from '../../ui/bind';
import { DeleteButton } from '../../ui/confirm-button';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

const listFormat = new Intl.ListFormat('en');

/** Edits a context's description and visibility, and deletes it. */
export default function ContextSettingsPage() {
  return (
    <ContextLayout tab="Settings">
      {(context) => (
        <Stack gap="lg" key={context.name}>
          <GeneralPanel context={context} />
          {context.permissions.delete && <DeletePanel context={context} />}
        </Stack>
      )}
    </ContextLayout>
  );
}

function GeneralPanel({ context }: { context: Context }) {
  const { name, permissions } = context;
  const updateCachedContext = useUpdateCachedContext();
  const [description, setDescription] = useState(context.description);
  const [isPrivate, setPrivate] = useState(context.visibility === 'private');
  const [writeable, setWriteable] = useState(context.writeable);
  const save = useMutation({
    mutationFn: async () => {
      const visibility = isPrivate ? ('private' as const) : ('workspace' as const);
      const body = { description, writeable, ...(visibility !== context.visibility && { visibility }) };
      return api.worker.PATCH('/api/contexts/{name}', { params: { path: { name } }, body });
    },
    onSuccess: (updated) => {
      updateCachedContext(updated);
      toast('Saved');
    },
  });
  return (
    <Panel title="General">
      <FormStack maw="26rem" onSubmit={handleSubmit(() => save.mutate())}>
        <Textarea
          label="Description"
          autosize={false}
          rows={3}
          maxLength={2_000}
          disabled={!permissions.edit}
          {...bindText(description, setDescription)}
        />
        <Checkbox
          label="Private"
          description="Only the owner and admins can see this context. Workers that already use it keep access."
          disabled={!permissions.change_visibility}
          {...bindChecked(isPrivate, setPrivate)}
        />
        <Checkbox
          label="Allow runs to save changes"
          description="Changes made by a completed run are saved as a new version."
          disabled={!permissions.edit}
          {...bindChecked(writeable, setWriteable)}
        />
        <ErrorNotice title="Changes not saved" error={save.error} />
        {permissions.edit && <FormActions submit="Save" isBusy={save.isPending} />}
      </FormStack>
    </Panel>
  );
}

function DeletePanel({ context }: { context: Context }) {
  const { name, used_by } = context;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  const remove = useMutation({
    mutationFn: async () => {
      const params = { path: { name }, query: { force: used_by.length > 0 } };
      await api.worker.DELETE('/api/contexts/{name}', { params });
    },
    onSuccess: () => {
      queryClient.removeQueries({ queryKey: contextKeys.one(workspaceId, name) });
      void queryClient.invalidateQueries({ queryKey: contextKeys.list(workspaceId) });
      toast(`${name} deleted`);
      navigate(paths.contexts);
    },
  });
  return (
    <Panel title="Delete this context">
      <p className="panel-text">
        This permanently deletes the context and all its versions.{' '}
        {used_by.length > 0 &&
          `${listFormat.format(used_by.map((worker) => worker.name))} can’t run until you remove this context from ${used_by.length === 1 ? 'the worker' : 'these workers'}.`}
      </p>
      <Group gap="xs">
        <DeleteButton name={name} mutation={remove} />
      </Group>
      <ErrorNotice title="Context not deleted" error={remove.error} />
    </Panel>
  );
}
