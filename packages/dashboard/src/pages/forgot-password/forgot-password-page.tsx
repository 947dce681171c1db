import { unwrap } from '@gantry/sdk';
import { Button, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from 'react-router';
import { account } from '../../shell/api';
import { CardPage } from '../../shell/frame/card-page';
import { paths } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import styles from '../../ui/card.module.css';
import { handleSubmit } from '../../ui/form';
import { ErrorNotice, Notice } from '../../ui/notice';

export default function ForgotPasswordPage() {
  useTitle('Forgotten password');
  const requestReset = useMutation({
    mutationFn: (email: string) => unwrap(account.POST('/auth/password/forgot', { body: { email } })),
  });

  function submit(formData: FormData) {
    requestReset.mutate(String(formData.get('email')));
  }

  return (
    <CardPage>
      <form className={styles.card} onSubmit={handleSubmit(submit)}>
        <h1>Forgotten password</h1>
        <TextInput name="email" type="email" label="E-mail" autoComplete="username" required withAsterisk={false} />
        <ErrorNotice error={requestReset.error} />
        <div role="status">
          {requestReset.data && (
            <Notice tone="info">
              {requestReset.data.delivery === 'email'
                ? 'If there is an account with this address, a link is on its way to it.'
                : 'This installation sends no e-mail. Ask an admin of your workspace for a link: it is made under Members.'}
            </Notice>
          )}
        </div>
        <Button type="submit" size="md" loading={requestReset.isPending} fullWidth>
          Send me a link
        </Button>
        <Text fz="xs" c="dimmed">
          <Link to={paths.signIn}>Back to sign-in</Link>
        </Text>
      </form>
    </CardPage>
  );
}
