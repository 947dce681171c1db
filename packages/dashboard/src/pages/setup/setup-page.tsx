import { Button, Text, TextInput } from '@mantine/core';
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

/** Serves the setup link, which an installation prints while it has no owner. */
export default function SetupPage() {
  useTitle('Set up');
  const [token] = useState(() => readLinkToken('setup'));
  const setup = useLinkSignIn('setup', (owner: { email: string; password: string }) =>
    api.account.POST('/auth/setup', { body: { setup_token: token ?? '', ...owner } }),
  );

  function submit(form: FormData) {
    setup.mutate({ email: String(form.get('email')), password: String(form.get('password')) });
  }

  return (
    <CardPage>
      <form className={styles.card} onSubmit={handleSubmit(submit)}>
        <div>
          <h1>Set up Gantry</h1>
          <Text mt={4} c="dimmed">
            You’ll become the owner and can invite others.
          </Text>
        </div>
        {token ? (
          <>
            <TextInput name="email" type="email" label="Email" autoComplete="username" required />
            <NewPasswordField name="password" label="Password" />
            <ErrorNotice error={setup.error} />
            <Button type="submit" size="md" loading={setup.isPending} fullWidth>
              Create owner account and sign in
            </Button>
          </>
        ) : (
          <BrokenLinkNotice />
        )}
      </form>
    </CardPage>
  );
}
