import { NativeSelect, TextInput } from '@mantine/core';
import { splitNames } from '../../connections/connection-labels';
import { type Connection, type ConnectionChange, useConnectionMutations } from '../../connections/connection-queries';
import { PlacesField } from '../../connections/places-field';
import { toast } from '../../shell/toasts';
import { Dialog } from '../../ui/dialog';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
import { getFormText } from '../../ui/form-text';
import { ErrorNotice } from '../../ui/notice';
import { PasswordField } from '../../ui/password-field';

/** Edits the name, the visibility and the replaceable fields of its kind; a value is never shown. */
export function EditConnectionDialog({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const { id, kind, label, visibility, hosts, places, url, issuer, permissions } = connection;
  const { change } = useConnectionMutations();
  function submit(formData: FormData) {
    const changes = parseChanges(formData, connection);
    if (Object.keys(changes).length === 0) return onClose();
    const onSuccess = (changed: Connection) => {
      toast(`${changed.label} saved`);
      onClose();
    };
    change.mutate({ id, ...changes }, { onSuccess });
  }
  return (
    <Dialog title={`Edit ${label}`} onClose={onClose}>
      <FormStack p="lg" onSubmit={handleSubmit(submit)} autoComplete="off">
        <TextInput name="label" label="Name" defaultValue={label} maxLength={120} required />
        {permissions.change_visibility && (
          <NativeSelect
            name="visibility"
            label="Available to"
            defaultValue={visibility}
            data={[
              { value: 'workspace', label: 'All workers in the workspace' },
              { value: 'private', label: 'The owner’s private workers' },
            ]}
          />
        )}
        {kind === 'api_key' && (
          <>
            <TextInput
              name="hosts"
              label="Allowed hosts"
              description="Separate hosts with commas. Use *.example.com for all subdomains. If you change the hosts, enter the value again"
              defaultValue={hosts.join(', ')}
              required
            />
            <PasswordField
              name="value"
              label="New value"
              description="Leave empty to keep the current value"
              autoComplete="off"
              required={false}
            />
          </>
        )}
        {kind !== 'mcp' && <PlacesField places={places} />}
        {kind === 'mcp' && issuer === null && (
          <>
            <TextInput
              name="url"
              type="url"
              label="URL"
              description="Changing the URL removes the stored headers"
              defaultValue={url ?? ''}
              required
            />
            <PasswordField
              name="token"
              label="New token"
              description="Replaces the stored headers. Leave empty to keep them"
              autoComplete="off"
              required={false}
            />
          </>
        )}
        <ErrorNotice title="Changes not saved" error={change.error} />
        <FormActions submit="Save" isBusy={change.isPending} onCancel={onClose} />
      </FormStack>
    </Dialog>
  );
}

/** Returns only the changed fields; the form has only those that can be changed. */
function parseChanges(formData: FormData, connection: Connection): ConnectionChange {
  const label = getFormText(formData, 'label');
  const visibility = formData.get('visibility');
  const hosts = splitNames(getFormText(formData, 'hosts'));
  const places = splitNames(getFormText(formData, 'places'));
  const value = String(formData.get('value') ?? '');
  const url = getFormText(formData, 'url');
  const token = getFormText(formData, 'token');
  return {
    ...(label !== connection.label && { label }),
    ...((visibility === 'workspace' || visibility === 'private') &&
      visibility !== connection.visibility && { visibility }),
    ...(connection.kind === 'api_key' && hosts.join() !== connection.hosts.join() && { hosts }),
    ...(connection.kind !== 'mcp' && places.join() !== connection.places.join() && { places }),
    ...(value && { value }),
    ...(url && url !== connection.url && { url }),
    ...(token && {
      headers: { Authorization: `Bearer ${token}` },
      // The server gets only one token.
      ...(connection.auth_secret !== null && { auth_secret: null }),
    }),
  };
}
