import { Button, Checkbox, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { roleAtLeast } from '../../accounts/roles';
import { ClientForm } from '../../connections/client-form';
import { type Connection, type Integration, useNewConnection } from '../../connections/connection-queries';
import { VisibilityChoice, visibilityIn } from '../../connections/visibility-choice';
import { useWorkspace } from '../../shell/use-me';
import { Failure, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { textIn } from '../../ui/text-in';
import styles from './new-connection.module.css';

/** Leaves for the provider, with the rights that are chosen. */
export function AccountForm({ integration, onMade }: { integration: Integration; onMade: (made: Connection) => void }) {
  const { slug, name, app, parameters, scopes, hosts } = integration;
  const role = useWorkspace()?.role;
  const { account } = useNewConnection(onMade);
  const [chosen, setChosen] = useState(() => scopes.filter((scope) => scope.default).map((scope) => scope.name));
  if (app.configured === null) {
    return (
      <Panel title={`${name} has no OAuth client yet`}>
        <div className={styles.form}>
          <p className={styles.about}>
            Accounts can be connected once {name} knows this platform as an OAuth client. An admin of the workspace sets
            one; the operator can set one for every workspace.
          </p>
          {roleAtLeast(role, 'admin') && <ClientForm integration={integration} />}
        </div>
      </Panel>
    );
  }
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const label = textIn(given, 'label');
    account.mutate({
      ...{ app: slug, visibility: visibilityIn(given), scopes: chosen },
      ...(label && { label }),
      ...(parameters.length > 0 && {
        parameters: Object.fromEntries(parameters.map((one) => [one.name, textIn(given, `parameter-${one.name}`)])),
      }),
    });
  }
  return (
    <Panel title="What code may do with it">
      <form className={styles.form} onSubmit={submit}>
        {parameters.map((one) => (
          <TextInput
            key={one.name}
            name={`parameter-${one.name}`}
            label={one.label}
            placeholder={one.placeholder}
            required
            withAsterisk={false}
          />
        ))}
        <fieldset className={styles.choices}>
          <legend>Rights to ask for</legend>
          {scopes.map((scope) => (
            <Checkbox
              key={scope.name}
              label={scope.description}
              description={scope.name}
              checked={chosen.includes(scope.name)}
              onChange={(event) =>
                setChosen(
                  event.currentTarget.checked ? [...chosen, scope.name] : chosen.filter((one) => one !== scope.name),
                )
              }
            />
          ))}
        </fieldset>
        <TextInput name="label" label="Name" description="Tells several accounts apart" placeholder={name} />
        <VisibilityChoice />
        <Notice tone="info">Its token goes to {hosts.join(', ')} and nowhere else.</Notice>
        <Failure title="Not connected" error={account.error} />
        <div>
          <Button type="submit" loading={account.isPending}>
            Go to {name}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
