import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { clearLinkToken } from '../../accounts/link-token';
import { api } from '../../shell/api';
import { session, useSession } from '../../shell/session';
import { useSwitchWorkspace } from '../../shell/use-switch-workspace';
import { ErrorNotice, Notice } from '../../ui/notice';

/** Accepts an invitation for a signed-in user. */
export function AcceptInvitation({ token, email }: { token: string; email: string }) {
  const { email: signedInAs } = useSession();
  const moveTo = useSwitchWorkspace();
  const accept = useMutation({
    mutationFn: () => api.account.POST('/auth/invitations/accept', { body: { token } }),
    onSuccess: async ({ id }) => {
      clearLinkToken('invitation');
      await moveTo(id);
    },
  });
  if (signedInAs !== email) {
    return (
      <>
        <Notice tone="info">
          You are signed in as {signedInAs}, but the invitation is for {email}.
        </Notice>
        <Button size="md" fullWidth onClick={() => session.signOut()}>
          Sign out to join as {email}
        </Button>
      </>
    );
  }
  return (
    <>
      <ErrorNotice error={accept.error} />
      <Button size="md" fullWidth loading={accept.isPending} onClick={() => accept.mutate()}>
        Accept
      </Button>
    </>
  );
}
