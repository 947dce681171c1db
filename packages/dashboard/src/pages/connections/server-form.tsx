import { NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type Connection, useCreateConnection } from '../../connections/connection-queries';
import { ConnectionVisibilityField, parseVisibility } from '../../connections/connection-visibility-field';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
import { getFormText } from '../../ui/form-text';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { PasswordField } from '../../ui/password-field';

export function ServerForm({ onCreated }: { onCreated: (connection: Connection) => void }) {
  const { server } = useCreateConnection(onCreated);
  const [usesOauth, setUsesOauth] = useState(false);
  function submit(formData: FormData) {
    const token = usesOauth ? '' : getFormText(formData, 'token');
    server.mutate({
      label: getFormText(formData, 'label'),
      url: getFormText(formData, 'url'),
      visibility: parseVisibility(formData),
      ...(usesOauth && { auth: 'oauth' as const }),
      ...(token && { headers: { Authorization: `Bearer ${token}` } }),
    });
  }
  return (
    <Panel title="MCP server">
      <FormStack maw="34rem" onSubmit={handleSubmit(submit)} autoComplete="off">
        <TextInput name="label" label="Name" placeholder="Linear" maxLength={120} required />
        <TextInput
          name="url"
          type="url"
          label="URL"
          description="Streamable HTTP"
          placeholder="https://mcp.example.com/mcp"
          required
        />
        <NativeSelect
          label="Authentication"
          value={usesOauth ? 'oauth' : 'headers'}
          onChange={(event) => setUsesOauth(event.currentTarget.value === 'oauth')}
          data={[
            { value: 'headers', label: 'Token (optional)' },
            { value: 'oauth', label: 'Sign in with OAuth' },
          ]}
        />
        {!usesOauth && (
          <PasswordField
            name="token"
            label="Token"
            description="Optional. Encrypted when saved and sent only to this URL."
            autoComplete="off"
            required={false}
          />
        )}
        <ConnectionVisibilityField />
        <ErrorNotice title="Server not connected" error={server.error} />
        <FormActions submit={usesOauth ? 'Continue to sign-in' : 'Connect'} isBusy={server.isPending} />
      </FormStack>
    </Panel>
  );
}
