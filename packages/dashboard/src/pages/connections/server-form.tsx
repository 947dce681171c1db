import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type Connection, useNewConnection } from '../../connections/connection-queries';
import { VisibilityChoice, visibilityIn } from '../../connections/visibility-choice';
import { FormStack } from '../../ui/form';
import { Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { PasswordField } from '../../ui/password-field';
import { textIn } from '../../ui/text-in';

export function ServerForm({ onMade }: { onMade: (made: Connection) => void }) {
  const { server } = useNewConnection(onMade);
  const [isSignedIn, setSignedIn] = useState(false);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const token = isSignedIn ? '' : textIn(given, 'token');
    server.mutate({
      ...{ label: textIn(given, 'label'), url: textIn(given, 'url'), visibility: visibilityIn(given) },
      ...(isSignedIn && { auth: 'oauth' as const }),
      ...(token && { headers: { Authorization: `Bearer ${token}` } }),
    });
  }
  return (
    <Panel title="MCP server">
      <FormStack maw="34rem" onSubmit={submit} autoComplete="off">
        <TextInput name="label" label="Name" placeholder="Linear" maxLength={120} required withAsterisk={false} />
        <TextInput
          name="url"
          type="url"
          label="Address"
          description="Streamable HTTP"
          placeholder="https://mcp.example.com/mcp"
          required
          withAsterisk={false}
        />
        <NativeSelect
          label="Authentication"
          value={isSignedIn ? 'oauth' : 'headers'}
          onChange={(event) => setSignedIn(event.currentTarget.value === 'oauth')}
          data={[
            { value: 'headers', label: 'Token, or none' },
            { value: 'oauth', label: 'Sign-in at the server' },
          ]}
        />
        {!isSignedIn && (
          <PasswordField
            name="token"
            label="Token"
            description="If it requires one; encrypted at once, and sent only to this address"
            autoComplete="off"
            required={false}
          />
        )}
        <VisibilityChoice />
        <Failure title="Not connected" error={server.error} />
        <div>
          <Button type="submit" loading={server.isPending}>
            {isSignedIn ? 'Go to its sign-in' : 'Connect'}
          </Button>
        </div>
      </FormStack>
    </Panel>
  );
}
