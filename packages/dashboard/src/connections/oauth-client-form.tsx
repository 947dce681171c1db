import { Button, Group, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { toast } from '../shell/toasts';
import { CopyableCode } from '../ui/copyable-code';
import { FormStack, handleSubmit } from '../ui/form';
import { getFormText } from '../ui/form-text';
import { ErrorNotice } from '../ui/notice';
import { PasswordField } from '../ui/password-field';
import { type Integration, useOauthClientMutations } from './connection-queries';

interface OauthClientFormProps {
  integration: Integration;
  onSaved?: () => void;
  /** Beside the button that saves. */
  children?: ReactNode;
}

/** Edits the workspace's own OAuth client of a service, for admins. */
export function OauthClientForm({
  integration: { name, app, docs_url: docsUrl },
  onSaved,
  children,
}: OauthClientFormProps) {
  const { set } = useOauthClientMutations();
  const isOwn = app.configured === 'workspace';
  function submit(formData: FormData) {
    const secret = getFormText(formData, 'client_secret');
    const onSuccess = () => {
      toast(`OAuth client for ${name} saved.`);
      onSaved?.();
    };
    set.mutate(
      { slug: app.slug, client_id: getFormText(formData, 'client_id'), ...(secret && { client_secret: secret }) },
      { onSuccess },
    );
  }
  return (
    <FormStack maw="34rem" onSubmit={handleSubmit(submit)} autoComplete="off">
      <Text fz="sm">
        1. In {name}, create an OAuth client for a web application.{' '}
        <a href={docsUrl} target="_blank" rel="noreferrer">
          View {name} instructions
        </a>
      </Text>
      <Text fz="sm">2. Add this redirect URI exactly as shown.</Text>
      <CopyableCode label="Redirect URI" code={app.redirect_uri} />
      <Text fz="sm">3. Paste the client ID and secret from {name} below.</Text>
      <TextInput
        name="client_id"
        label="Client ID"
        defaultValue={isOwn ? (app.client_id ?? '') : ''}
        pattern="[!-~]+"
        title="Letters, digits and symbols, without spaces"
        maxLength={500}
        spellCheck={false}
        required
      />
      <PasswordField
        name="client_secret"
        label="Client secret"
        description={
          isOwn ? 'Leave empty to keep the current secret' : 'Stored encrypted. Leave empty for a public client.'
        }
        autoComplete="off"
        maxLength={4_096}
        required={false}
      />
      <ErrorNotice title="OAuth client not saved" error={set.error} />
      <Group gap="xs">
        <Button type="submit" loading={set.isPending}>
          Save client
        </Button>
        {children}
      </Group>
    </FormStack>
  );
}
