import { Button, Checkbox } from '@mantine/core';
import { useState } from 'react';
import { getServiceName } from '../../connections/connection-labels';
import { type Connection, type Integration, useConnectionMutations } from '../../connections/connection-queries';
import { ScopeList } from '../../connections/scope-list';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

interface GrantedScopesProps {
  connection: Connection;
  /** Undefined until it is known. */
  catalog: Integration[] | undefined;
}

/** Lists the rights that the provider has granted, and requests others by a new consent. */
export function GrantedScopes({ connection, catalog }: GrantedScopesProps) {
  const { app, scopes, permissions, status } = connection;
  const [isChoosing, setChoosing] = useState(false);
  const known = catalog?.find(({ slug }) => slug === app)?.scopes ?? [];
  const service = getServiceName(app, catalog);
  const granted = scopes.map((name) => known.find((one) => one.name === name) ?? { name, description: name });
  return (
    <Panel
      title="Permissions"
      aside={
        permissions.edit &&
        !isChoosing &&
        status !== 'pending' && (
          <Button variant="default" size="xs" onClick={() => setChoosing(true)}>
            Change permissions
          </Button>
        )
      }
    >
      {isChoosing ? (
        <ScopesForm connection={connection} known={known} service={service} onCancel={() => setChoosing(false)} />
      ) : granted.length === 0 ? (
        <p className="help-text">
          {status === 'pending'
            ? 'No permissions granted yet.'
            : `${service} didn’t report which permissions were granted.`}
        </p>
      ) : (
        <ScopeList scopes={granted} />
      )}
    </Panel>
  );
}

interface ScopesFormProps {
  connection: Connection;
  known: { name: string; description: string }[];
  service: string;
  onCancel: () => void;
}

function ScopesForm({ connection: { id, scopes }, known, service, onCancel }: ScopesFormProps) {
  const { consent } = useConnectionMutations();
  const [chosen, setChosen] = useState<readonly string[]>(scopes);
  const others = scopes.filter((name) => !known.some((one) => one.name === name));
  return (
    <FormStack onSubmit={handleSubmit(() => consent.mutate({ id, scopes: [...chosen] }))}>
      <p className="help-text">
        You’ll be redirected to {service} to approve the change. Use the same account as before.
      </p>
      {[...known, ...others.map((name) => ({ name, description: name }))].map(({ name, description }) => (
        <Checkbox
          key={name}
          label={description}
          description={description === name ? undefined : name}
          checked={chosen.includes(name)}
          onChange={(event) =>
            setChosen(event.currentTarget.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
          }
        />
      ))}
      <ErrorNotice title={`Couldn’t open ${service}`} error={consent.error} />
      <FormActions submit={`Go to ${service}`} isBusy={consent.isPending} onCancel={onCancel} />
    </FormStack>
  );
}
