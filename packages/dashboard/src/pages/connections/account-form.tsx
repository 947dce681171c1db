import { Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { hasRoleAtLeast } from '../../accounts/roles';
import { type Connection, type Integration, useCreateConnection } from '../../connections/connection-queries';
import { ConnectionVisibilityField, parseVisibility } from '../../connections/connection-visibility-field';
import { OauthClientForm } from '../../connections/oauth-client-form';
import { useWorkspace } from '../../shell/use-me';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
import { getFormText } from '../../ui/form-text';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { KeyForm } from './key-form';

/** Requests the selected rights, and opens the provider. */
export function AccountForm({
  integration,
  onCreated,
}: {
  integration: Integration;
  onCreated: (connection: Connection) => void;
}) {
  const { slug, name, app, parameters, scopes, hosts } = integration;
  const role = useWorkspace()?.role;
  const { account } = useCreateConnection(onCreated);
  const [selectedScopes, setSelectedScopes] = useState(() =>
    scopes.filter((scope) => scope.default).map((scope) => scope.name),
  );
  if (app.configured === null) {
    return (
      <Stack gap="lg">
        <Text maw="62ch" c="dimmed">
          You can connect right away with a token from {name}. To sign in to {name} instead of copying a token, set up
          an OAuth client below. Some services require an OAuth client for their tools.
        </Text>
        <KeyForm service={integration} onCreated={onCreated} />
        <Panel title={`No OAuth client for ${name} yet`}>
          <Stack gap="md" maw="34rem">
            <Text fz="sm" c="dimmed">
              To connect accounts, register Gantry as an OAuth client with {name}. A workspace admin can set up the
              client here for this workspace; the operator of this installation can set it up for all workspaces.
            </Text>
            {hasRoleAtLeast(role, 'admin') && <OauthClientForm integration={integration} />}
          </Stack>
        </Panel>
      </Stack>
    );
  }
  function submit(formData: FormData) {
    const label = getFormText(formData, 'label');
    account.mutate({
      app: slug,
      visibility: parseVisibility(formData),
      scopes: selectedScopes,
      ...(label && { label }),
      ...(parameters.length > 0 && {
        parameters: Object.fromEntries(
          parameters.map((one) => [one.name, getFormText(formData, `parameter-${one.name}`)]),
        ),
      }),
    });
  }
  return (
    <Panel title="Choose permissions">
      <FormStack maw="34rem" onSubmit={handleSubmit(submit)}>
        {parameters.map((one) => (
          <TextInput
            key={one.name}
            name={`parameter-${one.name}`}
            label={one.label}
            placeholder={one.placeholder}
            required
          />
        ))}
        <Stack component="fieldset" gap="xs">
          <legend>Permissions to request</legend>
          {scopes.map((scope) => (
            <Checkbox
              key={scope.name}
              label={scope.description}
              description={scope.name}
              checked={selectedScopes.includes(scope.name)}
              onChange={(event) =>
                setSelectedScopes(
                  event.currentTarget.checked
                    ? [...selectedScopes, scope.name]
                    : selectedScopes.filter((one) => one !== scope.name),
                )
              }
            />
          ))}
        </Stack>
        <TextInput name="label" label="Name" description="Helps you tell accounts apart" placeholder={name} />
        <ConnectionVisibilityField />
        <Notice tone="info">The token is sent only to {hosts.join(', ')}.</Notice>
        <ErrorNotice title="Account not connected" error={account.error} />
        <FormActions submit={`Go to ${name}`} isBusy={account.isPending} />
      </FormStack>
    </Panel>
  );
}
