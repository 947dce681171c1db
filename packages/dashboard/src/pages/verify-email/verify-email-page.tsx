import { Button, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { BrokenLinkNotice } from '../../accounts/broken-link-notice';
import { clearLinkToken, readLinkToken } from '../../accounts/link-token';
import { api } from '../../shell/api';
import { CardPage } from '../../shell/frame/card-page';
import { LinkButton } from '../../shell/link-button';
import { paths, signInPath } from '../../shell/paths';
import { session, useSession } from '../../shell/session';
import { ME_KEY } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import styles from '../../ui/card.module.css';
import { ErrorNotice } from '../../ui/notice';

/** Serves the mailed link to a signed-in user: the link without the account proves nothing. */
export default function VerifyEmailPage() {
  useTitle('Verify your email address');
  const [token] = useState(() => readLinkToken('verification'));
  return (
    <CardPage>
      <div className={styles.card}>
        <h1>Verify your email address</h1>
        {token ? <VerificationForm token={token} /> : <BrokenLinkNotice />}
      </div>
    </CardPage>
  );
}

function VerificationForm({ token }: { token: string }) {
  const { status, email } = useSession();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const verify = useMutation({
    mutationFn: () => api.account.POST('/auth/email/verify', { body: { token } }),
    onSuccess: async () => {
      clearLinkToken('verification');
      await queryClient.invalidateQueries({ queryKey: ME_KEY });
      navigate(paths.account);
    },
  });
  if (status !== 'signed-in') {
    return (
      <>
        <Text mt={4} c="dimmed">
          Sign in to the account that requested this link. If you didn’t request it, close this page.
        </Text>
        <LinkButton to={signInPath({ pathname: paths.verifyEmail })} size="md" fullWidth>
          Sign in
        </LinkButton>
      </>
    );
  }
  return (
    <>
      <Text mt={4} c="dimmed">
        You’re signed in as {email}. Verifying this address signs you out in all other browsers.
      </Text>
      <ErrorNotice error={verify.error} />
      <Button size="md" fullWidth loading={verify.isPending} onClick={() => verify.mutate()}>
        Verify address
      </Button>
      <Button variant="default" size="md" fullWidth onClick={() => session.signOut()}>
        Sign in to another account
      </Button>
    </>
  );
}
