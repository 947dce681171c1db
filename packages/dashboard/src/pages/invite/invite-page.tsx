import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { BrokenLinkNotice } from '../../accounts/broken-link-notice';
import { readLinkToken } from '../../accounts/link-token';
import { formatRoleWithArticle } from '../../accounts/roles';
import { api } from '../../shell/api';
import { CardPage } from '../../shell/frame/card-page';
import { paths, signInPath } from '../../shell/paths';
import { useSession } from '../../shell/session';
import { useTitle } from '../../shell/use-title';
import styles from '../../ui/card.module.css';
import { ErrorNotice } from '../../ui/notice';
import { AcceptInvitation } from './accept-invitation';
import { InvitationSignUpForm } from './invitation-sign-up-form';

export default function InvitePage() {
  useTitle('Invitation');
  const [token] = useState(() => readLinkToken('invitation'));
  const { status } = useSession();
  const invitation = useQuery({
    queryKey: ['invitation', token],
    enabled: token !== null && status !== 'unknown',
    queryFn: () => api.account.POST('/auth/invitations/lookup', { body: { token: token ?? '' } }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data } = invitation;
  return (
    <CardPage>
      <div className={styles.card}>
        {!token ? (
          <>
            <h1>Invitation</h1>
            <BrokenLinkNotice />
          </>
        ) : invitation.isError ? (
          <>
            <h1>Invitation</h1>
            <ErrorNotice title="This invitation can’t be used" error={invitation.error} />
          </>
        ) : !data ? (
          <Skeleton height={160} />
        ) : (
          <>
            <div>
              <h1>Join {data.workspace_name}</h1>
              <Text mt={4} c="dimmed">
                {data.invited_by ?? 'A member'} invited {data.email} to join as {formatRoleWithArticle(data.role)}.
              </Text>
            </div>
            {status === 'signed-in' ? (
              <AcceptInvitation token={token} email={data.email} />
            ) : (
              <>
                <InvitationSignUpForm token={token} email={data.email} />
                <Text fz="xs" c="dimmed">
                  Already have an account?{' '}
                  <Link to={signInPath({ pathname: paths.invite })}>Sign in as {data.email}</Link>
                </Text>
              </>
            )}
          </>
        )}
      </div>
    </CardPage>
  );
}
