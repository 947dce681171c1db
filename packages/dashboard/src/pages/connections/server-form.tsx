import { Button, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { type Connection, useNewConnection } from '../../connections/connection-queries';
import { VisibilityChoice, visibilityIn } from '../../connections/visibility-choice';
import { Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { PasswordField } from '../../ui/password-field';
import { textIn } from '../../ui/text-in';
import styles from './new-connection.module.css';

export function ServerForm({ onMade }: { onMade: (made: Connection) => void }) {
  const { server } = useNewConnection(onMade);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const token = textIn(given, 'token');
    server.mutate({
      ...{ label: textIn(given, 'label'), url: textIn(given, 'url'), visibility: visibilityIn(given) },
      ...(token && { headers: { Authorization: `Bearer ${token}` } }),
    });
  }
  return (
    <Panel title="MCP server">
      <form className={styles.form} onSubmit={submit} autoComplete="off">
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
        <PasswordField
          name="token"
          label="Token"
          description="If it wants one; sealed at once, and sent to this address alone"
          autoComplete="off"
          required={false}
        />
        <VisibilityChoice />
        <Failure title="Not connected" error={server.error} />
        <div>
          <Button type="submit" loading={server.isPending}>
            Connect
          </Button>
        </div>
      </form>
    </Panel>
  );
}
