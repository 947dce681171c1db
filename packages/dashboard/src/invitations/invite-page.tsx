import { unwrap } from '@gantry/api-client';
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { account } from '../api';
import { Notice } from '../layout/notice';
import { useTitle } from '../layout/use-title';
import { CardPage } from '../session/card-page';
import { takeLinkToken } from '../session/link-token';
import { signInPath } from '../session/next-path';
import { useSession } from '../session/session';
import styles from '../session/sign-in-page.module.css';
import { AcceptInvitation } from './accept-invitation';
import { RegisterByInvitation } from './register-by-invitation';

export function InvitePage() {
  useTitle('Invitation');
  const [token] = useState(() => takeLinkToken('invitation'));
  const { status } = useSession();
  const invitation = useQuery({
    queryKey: ['invitation', token],
    enabled: token !== null && status !== 'unknown',
    queryFn: () => unwrap(account.POST('/auth/invitations/lookup', { body: { token: token ?? '' } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data } = invitation;
  return (
    <CardPage>
      <div className={styles.card}>
        {!token ? (
          <>
            <h1>Invitation</h1>
            <Notice tone="error">This address is not whole. Open the link again, or copy all of it.</Notice>
          </>
        ) : invitation.isError ? (
          <>
            <h1>Invitation</h1>
            <Notice tone="error" title="This invitation can’t be used">
              {invitation.error.message}
            </Notice>
          </>
        ) : !data ? (
          <Skeleton height={160} />
        ) : (
          <>
            <div>
              <h1>Join {data.workspace_name}</h1>
              <p className={styles.lead}>
                {data.invited_by ?? 'Somebody there'} invites {data.email} as {data.role}.
              </p>
            </div>
            {status === 'signed-in' ? (
              <AcceptInvitation token={token} email={data.email} />
            ) : (
              <>
                <RegisterByInvitation token={token} email={data.email} />
                <p className={styles.hint}>
                  Have you an account already?{' '}
                  <Link to={signInPath({ pathname: '/invite', search: '' })}>Sign in as {data.email}</Link>
                </p>
              </>
            )}
          </>
        )}
      </div>
    </CardPage>
  );
}
