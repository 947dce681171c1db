import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { NewPasswordField } from '../../accounts/new-password-field';
import { api } from '../../shell/api';
import { session } from '../../shell/session';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { PasswordField } from '../../ui/password-field';

export function ChangePasswordForm() {
  const current = useRef<HTMLInputElement>(null);
  const change = useMutation({
    mutationFn: (body: { current_password: string; new_password: string }) =>
      api.account.POST('/auth/password', { body }),
    onSuccess: (response) => session.adopt(response),
    onError: () => current.current?.focus(),
  });

  function submit(formData: FormData, form: HTMLFormElement) {
    const body = { current_password: String(formData.get('current')), new_password: String(formData.get('new')) };
    change.mutate(body, { onSuccess: () => form.reset() });
  }

  return (
    <Panel title="Password">
      <FormStack maw="26rem" onSubmit={handleSubmit(submit)}>
        <PasswordField ref={current} name="current" label="Current password" autoComplete="current-password" />
        <NewPasswordField name="new" label="New password" />
        <ErrorNotice title="Password not changed" error={change.error} />
        <div role="status">
          {change.isSuccess && (
            <Notice tone="info">Password changed. You’ve been signed out of all other browsers.</Notice>
          )}
        </div>
        <FormActions submit="Change password" isBusy={change.isPending} />
      </FormStack>
    </Panel>
  );
}
