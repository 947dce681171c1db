import { Button } from '@mantine/core';
import { useState } from 'react';
import { BrokenLinkNotice } from '../../accounts/broken-link-notice';
import { readLinkToken } from '../../accounts/link-token';
import { NewPasswordField } from '../../accounts/new-password-field';
import { useLinkSignIn } from '../../accounts/use-link-sign-in';
import { api } from '../../shell/api';
import { CardPage } from '../../shell/frame/card-page';
import { useTitle } from '../../shell/use-title';
import styles from '../../ui/card.module.css';
import { handleSubmit } from '../../ui/form';
import { ErrorNotice } from '../../ui/notice';

export default function ResetPasswordPage() {
  useTitle('New password');
  const [token] = useState(() => readLinkToken('reset'));
  const reset = useLinkSignIn('reset', (new_password: string) =>
    api.account.POST('/auth/password/reset', { body: { token: token ?? '', new_password } }),
  );

  return (
    <CardPage>
      <form
        className={styles.card}
        onSubmit={handleSubmit((formData) => reset.mutate(String(formData.get('password'))))}
      >
        <h1>New password</h1>
        {token ? (
          <>
            <NewPasswordField name="password" label="New password" />
            <ErrorNotice error={reset.error} />
            <Button type="submit" size="md" loading={reset.isPending} fullWidth>
              Set password and sign in
            </Button>
          </>
        ) : (
          <BrokenLinkNotice />
        )}
      </form>
    </CardPage>
  );
}
