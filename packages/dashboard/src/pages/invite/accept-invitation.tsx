import { unwrap } from '@gantry/api-client';
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { forgetLinkToken } from '../../accounts/link-token';
import { account } from '../../shell/api';
import { session, useSession } from '../../shell/session';
import { workspaceChoice } from '../../shell/workspace-choice';
import { Notice } from '../../ui/notice';

/** For somebody who is signed in. */
export function AcceptInvitation({ token, email }: { token: string; email: string }) {
  const { email: signedInAs } = useSession();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const accept = useMutation({
    mutationFn: () => unwrap(account.POST('/auth/invitations/accept', { body: { token } })),
    onSuccess: async ({ id }) => {
      forgetLinkToken('invitation');
      workspaceChoice.choose(id);
      await queryClient.resetQueries();
      navigate('/');
    },
  });
  if (signedInAs !== email) {
    return (
      <>
        <Notice tone="info">
          You are signed in as {signedInAs}, and the invitation is for {email}.
        </Notice>
        <Button size="md" fullWidth onClick={() => session.signOut()}>
          Sign out, to come in as {email}
        </Button>
      </>
    );
  }
  return (
    <>
      {accept.error && <Notice tone="error">{accept.error.message}</Notice>}
      <Button size="md" fullWidth loading={accept.isPending} onClick={() => accept.mutate()}>
        Accept
      </Button>
    </>
  );
}
