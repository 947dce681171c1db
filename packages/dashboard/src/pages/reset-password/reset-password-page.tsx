import { unwrap } from '@gantry/api-client';
import { Button, PasswordInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useNavigate } from 'react-router';
import { forgetLinkToken, takeLinkToken } from '../../accounts/link-token';
import { paths } from '../../paths';
import { account } from '../../shell/api';
import { CardPage } from '../../shell/frame/card-page';
import { session } from '../../shell/session';
import { useTitle } from '../../shell/use-title';
import styles from '../../ui/card.module.css';
import { Notice } from '../../ui/notice';
import { showPassword } from '../account/change-password';

export default function ResetPasswordPage() {
  useTitle('New password');
  const [token] = useState(() => takeLinkToken('reset'));
  const navigate = useNavigate();
  const reset = useMutation({
    mutationFn: (new_password: string) =>
      unwrap(account.POST('/auth/password/reset', { body: { token: token ?? '', new_password } })),
    onSuccess: async (granted) => {
      forgetLinkToken('reset');
      await session.adopt(granted);
      navigate(paths.home);
    },
  });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    reset.mutate(String(new FormData(event.currentTarget).get('password')));
  }

  return (
    <CardPage>
      <form className={styles.card} onSubmit={submit}>
        <h1>New password</h1>
        {token ? (
          <>
            <PasswordInput
              name="password"
              label="New password"
              description="At least 10 characters. A few words that only you would put together are good."
              autoComplete="new-password"
              required
              withAsterisk={false}
              visibilityToggleButtonProps={showPassword}
            />
            {reset.error && <Notice tone="error">{reset.error.message}</Notice>}
            <Button type="submit" size="md" loading={reset.isPending} fullWidth>
              Set password and sign in
            </Button>
          </>
        ) : (
          <Notice tone="error">This address is not whole. Open the link again, or copy all of it.</Notice>
        )}
      </form>
    </CardPage>
  );
}
