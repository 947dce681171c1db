import { Button, TextInput } from '@mantine/core';
import { NewPasswordField } from '../../accounts/new-password-field';
import { useLinkSignIn } from '../../accounts/use-link-sign-in';
import { api } from '../../shell/api';
import { FormStack, handleSubmit } from '../../ui/form';
import { ErrorNotice } from '../../ui/notice';

/** Registers a visitor without revealing whether the address has an account before it is verified. */
export function InvitationSignUpForm({ token, email }: { token: string; email: string }) {
  const register = useLinkSignIn('invitation', (input: { name?: string; password: string }) =>
    api.account.POST('/auth/invitations/register', { body: { token, ...input } }),
  );

  function submit(formData: FormData) {
    const name = String(formData.get('name')).trim();
    register.mutate({ password: String(formData.get('password')), ...(name && { name }) });
  }

  return (
    <FormStack onSubmit={handleSubmit(submit)}>
      <TextInput name="email" type="email" label="Email" value={email} readOnly autoComplete="username" />
      <TextInput name="name" label="Your name" maxLength={100} autoComplete="name" />
      <NewPasswordField name="password" label="Choose a password" />
      <ErrorNotice error={register.error} />
      <Button type="submit" size="md" loading={register.isPending} fullWidth>
        Join
      </Button>
    </FormStack>
  );
}
