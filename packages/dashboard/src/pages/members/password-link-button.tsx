import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api, type Member } from '../../shell/api';
import { ErrorNotice } from '../../ui/notice';
import { OneTimeSecret } from '../../ui/one-time-secret';

/** Creates a reset link for a member, where the installation sends no email. */
export function PasswordLinkButton({ workspaceId, member }: { workspaceId: string; member: Member }) {
  const createLink = useMutation({
    mutationFn: () =>
      api.worker.POST('/api/workspaces/{workspace_id}/members/{user_id}/password-reset', {
        params: { path: { workspace_id: workspaceId, user_id: member.user_id } },
      }),
  });
  if (createLink.data) {
    return (
      <OneTimeSecret label={`Password reset link for ${member.email}`} value={createLink.data.reset_url}>
        Send this link to the member. You won’t be able to see it again. It works only once and expires in a day.
      </OneTimeSecret>
    );
  }
  return (
    <>
      <Button
        variant="default"
        aria-label={`Create reset link for ${member.email}`}
        loading={createLink.isPending}
        onClick={() => createLink.mutate()}
      >
        Create reset link
      </Button>
      <ErrorNotice error={createLink.error} />
    </>
  );
}
