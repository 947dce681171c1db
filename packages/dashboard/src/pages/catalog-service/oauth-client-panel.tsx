import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { hasRoleAtLeast } from '../../accounts/roles';
import { type Integration, useOauthClientMutations } from '../../connections/connection-queries';
import { OauthClientForm } from '../../connections/oauth-client-form';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

const CLIENT_SOURCES = {
  workspace: 'This workspace uses its own OAuth client.',
  operator:
    'The operator has set up an OAuth client for all workspaces. Adding your own overrides it for this workspace.',
};

/** Sets the OAuth client of this platform at the service: without one, no account can be connected. */
export function OauthClientPanel({ integration }: { integration: Integration }) {
  const { name, app } = integration;
  const canEdit = hasRoleAtLeast(useWorkspace()?.role, 'admin');
  const [isEditing, setEditing] = useState(false);
  const { remove } = useOauthClientMutations();
  const isOwn = app.configured === 'workspace';
  return (
    <Panel title="OAuth client">
      {isEditing ? (
        <OauthClientForm integration={integration} onSaved={() => setEditing(false)}>
          <Button variant="default" onClick={() => setEditing(false)}>
            Cancel
          </Button>
        </OauthClientForm>
      ) : (
        <Stack gap="sm">
          <Text fz="sm" c="dimmed">
            {app.configured === null
              ? `No OAuth client is set up yet, so ${name} accounts can’t be connected.`
              : CLIENT_SOURCES[app.configured]}
          </Text>
          {app.client_id !== null && <code className="small-code">{app.client_id}</code>}
          <ErrorNotice title="OAuth client not removed" error={remove.error} />
          {canEdit && (
            <Group gap="xs">
              <Button variant="default" onClick={() => setEditing(true)}>
                {isOwn ? 'Change' : 'Add your own'}
              </Button>
              {isOwn && (
                <ConfirmButton
                  label="Remove OAuth client"
                  question="Remove now"
                  {...toAction(remove, app.slug, { onSuccess: () => toast('OAuth client removed') })}
                >
                  Remove
                </ConfirmButton>
              )}
            </Group>
          )}
        </Stack>
      )}
    </Panel>
  );
}
