import { unwrap } from '@gantry/api-client';
import { Button, PasswordInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef } from 'react';
import { account } from '../../shell/api';
import { session } from '../../shell/session';
import { Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';

export const showPassword = { 'aria-label': 'Show password', tabIndex: 0 };

export function ChangePassword() {
  const current = useRef<HTMLInputElement>(null);
  const change = useMutation({
    mutationFn: (body: { current_password: string; new_password: string }) =>
      unwrap(account.POST('/auth/password', { body })),
    onSuccess: (granted) => session.adopt(granted),
    onError: () => current.current?.focus(),
  });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    const body = { current_password: String(given.get('current')), new_password: String(given.get('new')) };
    change.mutate(body, { onSuccess: () => form.reset() });
  }

  return (
    <Panel title="Password">
      <form className={styles.column} onSubmit={submit}>
        <PasswordInput
          ref={current}
          name="current"
          label="Current password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          visibilityToggleButtonProps={showPassword}
        />
        <PasswordInput
          name="new"
          label="New password"
          description="At least 10 characters. A few words that only you would put together are good."
          autoComplete="new-password"
          required
          withAsterisk={false}
          visibilityToggleButtonProps={showPassword}
        />
        {change.error && (
          <Notice tone="error" title="The password is as before">
            {change.error.message}
          </Notice>
        )}
        <div role="status">
          {change.isSuccess && <Notice tone="info">Changed. Every other browser has been signed out.</Notice>}
        </div>
        <Button type="submit" loading={change.isPending}>
          Change password
        </Button>
      </form>
    </Panel>
  );
}
