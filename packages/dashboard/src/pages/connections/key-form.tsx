import { Button, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { type Connection, useNewConnection } from '../../connections/connection-queries';
import { splitNames } from '../../connections/connection-words';
import { VisibilityChoice, visibilityIn } from '../../connections/visibility-choice';
import { Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { PasswordField } from '../../ui/password-field';
import { textIn } from '../../ui/text-in';
import styles from './new-connection.module.css';

export function KeyForm({ onMade }: { onMade: (made: Connection) => void }) {
  const { account } = useNewConnection(onMade);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const app = textIn(given, 'app');
    account.mutate({
      ...{ app, label: textIn(given, 'label') || app, visibility: visibilityIn(given) },
      value: String(given.get('value')),
      hosts: splitNames(textIn(given, 'hosts')),
    });
  }
  return (
    <Panel title="Key">
      <form className={styles.form} onSubmit={submit} autoComplete="off">
        <TextInput
          name="app"
          label="Service"
          description="The word by which workers declare it"
          placeholder="example-crm"
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
          maxLength={100}
          required
          withAsterisk={false}
        />
        <TextInput name="label" label="Name" description="Tells several keys of one service apart" maxLength={120} />
        <PasswordField
          name="value"
          label="Value"
          description="Sealed at once; nobody can read it back"
          autoComplete="off"
        />
        <TextInput
          name="hosts"
          label="Hosts that it may go to"
          description="Separated by commas; *.example.com for all below one"
          placeholder="api.example.com"
          required
          withAsterisk={false}
        />
        <VisibilityChoice />
        <Failure title="Not connected" error={account.error} />
        <div>
          <Button type="submit" loading={account.isPending}>
            Connect
          </Button>
        </div>
      </form>
    </Panel>
  );
}
