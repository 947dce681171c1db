import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { GRANTABLE_ROLE_OPTIONS, type GrantableRole } from '../../accounts/roles';
import { api } from '../../shell/api';
import { buildRowActionProps, ConfirmButton } from '../../ui/confirm-button';
import { FormRow, handleSubmit } from '../../ui/form';
import { ListItem } from '../../ui/list-item';
import { ErrorNotice, LoadErrorNotice } from '../../ui/notice';
import { OneTimeSecret } from '../../ui/one-time-secret';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';

export function Invitations({ workspaceId }: { workspaceId: string }) {
  const queryClient = useQueryClient();
  const email = useRef<HTMLInputElement>(null);
  const path = { workspace_id: workspaceId };
  const invitations = useQuery({
    queryKey: ['invitations', workspaceId],
    queryFn: () => api.worker.GET('/api/workspaces/{workspace_id}/invitations', { params: { path } }),
  });
  const invalidateOnSettled = {
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['invitations', workspaceId] }),
  };
  const invite = useMutation({
    ...invalidateOnSettled,
    mutationFn: (body: { email: string; role: GrantableRole }) =>
      api.worker.POST('/api/workspaces/{workspace_id}/members/invite', { params: { path }, body }),
    onError: () => email.current?.focus(),
  });
  const withdraw = useMutation({
    ...invalidateOnSettled,
    mutationFn: (invitationId: string) =>
      api.worker.DELETE('/api/workspaces/{workspace_id}/invitations/{invitation_id}', {
        params: { path: { ...path, invitation_id: invitationId } },
      }),
  });

  function submit(formData: FormData, form: HTMLFormElement) {
    const body = { email: String(formData.get('email')), role: formData.get('role') as GrantableRole };
    invite.mutate(body, { onSuccess: () => form.reset() });
  }

  const failure = invite.error ?? withdraw.error;
  return (
    <Panel title="Invite a member">
      <FormRow mb="md" onSubmit={handleSubmit(submit)}>
        <TextInput ref={email} flex="1 1 16rem" name="email" type="email" label="Email" autoComplete="off" required />
        <NativeSelect name="role" label="Role" size="md" data={GRANTABLE_ROLE_OPTIONS} defaultValue="member" />
        <Button type="submit" size="md" loading={invite.isPending}>
          Invite
        </Button>
      </FormRow>
      <ErrorNotice title={invite.error ? 'Invitation not sent' : 'Invitation not withdrawn'} error={failure} />
      {invite.data &&
        (invite.data.invite_url ? (
          <OneTimeSecret label={`Invitation link for ${invite.data.email}`} value={invite.data.invite_url}>
            This installation can’t send email. Send this link to {invite.data.email}; it’s shown only once. They’ll
            still need to verify their email address after joining.
          </OneTimeSecret>
        ) : (
          <Text mb="md" role="status">
            Invitation sent to {invite.data.email}.
          </Text>
        ))}
      {invitations.isError && (
        <LoadErrorNotice what="The pending invitations" error={invitations.error} retry={invitations.refetch} />
      )}
      {invitations.data && invitations.data.length > 0 && (
        <ul className="panel-list divided rows" aria-label="Pending invitations">
          {invitations.data.map(({ id, email: invited, role, expires_at, open: isOpen }) => (
            <ListItem
              key={id}
              title={invited}
              about={
                <>
                  invited as {role};{' '}
                  {isOpen || Date.parse(expires_at) < Date.now() ? (
                    <>
                      link {isOpen ? 'expires' : 'expired'} <Timestamp at={Date.parse(expires_at)} />
                    </>
                  ) : (
                    'no longer valid because the person who sent it can’t invite members anymore. Withdraw this invitation and send a new one.'
                  )}
                </>
              }
            >
              <ConfirmButton
                label={`Withdraw invitation for ${invited}`}
                question="Withdraw now"
                {...buildRowActionProps(withdraw, id)}
              >
                Withdraw
              </ConfirmButton>
            </ListItem>
          ))}
        </ul>
      )}
    </Panel>
  );
}
