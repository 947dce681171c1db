import { unwrap } from '@gantry/sdk';
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef } from 'react';
import { NewPasswordField } from '../../accounts/new-password-field';
import { accountApi } from '../../shell/api';
import { session } from '../../shell/session';
import { FormStack } from '../../ui/form';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';
import { PasswordField } from '../../ui/password-field';

export function ChangePasswordForm() {
  const current = useRef<HTMLInputElement>(null);
  const change = useMutation({
    mutationFn: (body: { current_password: string; new_password: string }) =>
      unwrap(accountApi.POST('/auth/password', { body })),
    onSuccess: (response) => session.adopt(response),
    onError: () => current.current?.focus(),
  });

  function handleSubmit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const formData = new FormData(form);
    const body = { current_password: String(formData.get('current')), new_password: String(formData.get('new')) };
    change.mutate(body, { onSuccess: () => form.reset() });
  }

  return (
    <Panel title="Password">
      <FormStack className={styles.column} maw="26rem" gap="md" align="flex-start" onSubmit={handleSubmit}>
        <PasswordField ref={current} name="current" label="Current password" autoComplete="current-password" />
        <NewPasswordField name="new" label="New password" />
        <ErrorNotice title="Password not changed" error={change.error} />
        <div role="status">
          {change.isSuccess && (
            <Notice tone="info">Password changed. You’ve been signed out of all other browsers.</Notice>
          )}
        </div>
        <Button type="submit" loading={change.isPending}>
          Change password
        </Button>
      </FormStack>
    </Panel>
  );
}
