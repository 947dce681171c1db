import { TextInput } from '@mantine/core';
import { splitNames } from '../../connections/connection-labels';
import { type Connection, type Integration, useCreateConnection } from '../../connections/connection-queries';
import { ConnectionVisibilityField, parseVisibility } from '../../connections/connection-visibility-field';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
import { getFormText } from '../../ui/form-text';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { PasswordField } from '../../ui/password-field';

interface KeyFormProps {
  /** A service of the catalogue that takes a token; absent: any other. */
  service?: Pick<Integration, 'slug' | 'name' | 'hosts' | 'parameters'>;
  onCreated: (connection: Connection) => void;
}

export function KeyForm({ service, onCreated }: KeyFormProps) {
  const { account } = useCreateConnection(onCreated);
  function submit(formData: FormData) {
    const app = service?.slug ?? getFormText(formData, 'app');
    account.mutate({
      app,
      label: getFormText(formData, 'label') || (service?.name ?? app),
      visibility: parseVisibility(formData),
      value: String(formData.get('value')),
      hosts: splitNames(getFormText(formData, 'hosts')),
    });
  }
  return (
    <Panel title={service ? `${service.name} token` : 'Key'}>
      <FormStack maw="34rem" onSubmit={handleSubmit(submit)} autoComplete="off">
        {!service && (
          <TextInput
            name="app"
            label="Service"
            description="The service name used in worker code"
            placeholder="example-crm"
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
            maxLength={100}
            required
          />
        )}
        <TextInput
          name="label"
          label="Name"
          description="Helps you tell keys for the same service apart"
          placeholder={service?.name}
          maxLength={120}
        />
        <PasswordField
          name="value"
          label="Value"
          description="Encrypted when saved. You won’t be able to see it again"
          autoComplete="off"
        />
        <TextInput
          name="hosts"
          label="Allowed hosts"
          description="Separate hosts with commas. Use *.example.com for all subdomains"
          placeholder="api.example.com"
          defaultValue={service?.parameters.length === 0 ? service.hosts.join(', ') : ''}
          required
        />
        <ConnectionVisibilityField />
        <ErrorNotice title="Key not saved" error={account.error} />
        <FormActions submit="Connect" isBusy={account.isPending} />
      </FormStack>
    </Panel>
  );
}
