import { Button, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { type Connection, type Integration, useNewConnection } from '../../connections/connection-queries';
import { splitNames } from '../../connections/connection-words';
import { VisibilityChoice, visibilityIn } from '../../connections/visibility-choice';
import { FormStack } from '../../ui/form';
import { Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { PasswordField } from '../../ui/password-field';
import { textIn } from '../../ui/text-in';

interface KeyFormProps {
  /** A service of the catalogue that takes a token; absent: any other. */
  service?: Pick<Integration, 'slug' | 'name' | 'hosts' | 'parameters'>;
  onMade: (made: Connection) => void;
}

export function KeyForm({ service, onMade }: KeyFormProps) {
  const { account } = useNewConnection(onMade);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const app = service?.slug ?? textIn(given, 'app');
    account.mutate({
      ...{ app, label: textIn(given, 'label') || (service?.name ?? app), visibility: visibilityIn(given) },
      value: String(given.get('value')),
      hosts: splitNames(textIn(given, 'hosts')),
    });
  }
  return (
    <Panel title={service ? `A token of ${service.name}` : 'Key'}>
      <FormStack maw="34rem" onSubmit={submit} autoComplete="off">
        {!service && (
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
        )}
        <TextInput
          name="label"
          label="Name"
          description="Tells several keys of one service apart"
          placeholder={service?.name}
          maxLength={120}
        />
        <PasswordField
          name="value"
          label="Value"
          description="Encrypted at once; it cannot be read back"
          autoComplete="off"
        />
        <TextInput
          name="hosts"
          label="Hosts that it may go to"
          description="Separated by commas; *.example.com for all below one"
          placeholder="api.example.com"
          defaultValue={service?.parameters.length === 0 ? service.hosts.join(', ') : ''}
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
      </FormStack>
    </Panel>
  );
}
