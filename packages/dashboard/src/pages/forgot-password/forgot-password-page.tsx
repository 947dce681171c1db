import { Button, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../../shell/api';
import { CardPage } from '../../shell/frame/card-page';
import { paths } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import styles from '../../ui/card.module.css';
import { handleSubmit } from '../../ui/form';
import { ErrorNotice, Notice } from '../../ui/notice';

export default function ForgotPasswordPage() {
  useTitle('Reset password');
  const requestReset = useMutation({
    mutationFn: (email: string) => api.account.POST('/auth/password/forgot', { body: { email } }),
  });

  return (
    <CardPage>
      <form
        className={styles.card}
        onSubmit={handleSubmit((formData) => requestReset.mutate(String(formData.get('email'))))}
      >
        <h1>Reset password</h1>
        <TextInput name="email" type="email" label="Email" autoComplete="username" required />
        <ErrorNotice error={requestReset.error} />
        <div role="status">
          {requestReset.data && (
            <Notice tone="info">
              {requestReset.data.delivery === 'email'
                ? 'If an account exists for this address, we’ve emailed you a reset link.'
                : 'This installation can’t send email. Ask a workspace admin to create a reset link for you under Members.'}
            </Notice>
          )}
        </div>
        <Button type="submit" size="md" loading={requestReset.isPending} fullWidth>
          Send reset link
        </Button>
        <Text fz="xs" c="dimmed">
          <Link to={paths.signIn}>Back to sign-in</Link>
        </Text>
      </form>
    </CardPage>
  );
}
