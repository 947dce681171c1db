import { unwrap } from '@gantry/api-client';
import { NativeSelect, Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ROLE_OPTIONS } from '../../accounts/roles';
import { SettingsFrame } from '../../settings/settings-frame';
import { type Member, type Role, workerApi } from '../../shell/api';
import { useMe, useWorkspace } from '../../shell/use-me';
import { ConfirmButton } from '../../ui/confirm-button';
import { ListItem } from '../../ui/list-item';
import { FailedToLoad, Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';
import { Timestamp } from '../../ui/timestamp';
import { Invitations } from './invitations';
import { PasswordLink } from './password-link';

const membersKey = (workspaceId: string | undefined) => ['members', workspaceId];

export default function MembersPage() {
  const workspace = useWorkspace();
  const members = useQuery({
    queryKey: membersKey(workspace?.id),
    enabled: workspace !== undefined,
    queryFn: async () =>
      unwrap(
        (await workerApi()).GET('/api/workspaces/{workspace_id}/members', {
          params: { path: { workspace_id: workspace?.id ?? '' } },
        }),
      ),
  });
  return (
    <SettingsFrame title="Members">
      {workspace?.permissions.invite && <Invitations workspaceId={workspace.id} />}
      <Panel title={workspace ? `People in ${workspace.name}` : 'People'}>
        {members.isError ? (
          <FailedToLoad what="The list of members" error={members.error} retry={members.refetch} />
        ) : !members.data || !workspace ? (
          <Skeleton height={120} />
        ) : (
          <MemberList workspaceId={workspace.id} members={members.data} />
        )}
      </Panel>
    </SettingsFrame>
  );
}

function MemberList({ workspaceId, members }: { workspaceId: string; members: Member[] }) {
  const { data: me } = useMe();
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: async ({ member, role }: { member: Member; role: Role | null }) => {
      const worker = await workerApi();
      const path = { workspace_id: workspaceId, user_id: member.user_id };
      if (role) {
        const to = { params: { path }, body: { role } };
        await unwrap(worker.PUT('/api/workspaces/{workspace_id}/members/{user_id}/role', to));
      } else {
        await unwrap(worker.DELETE('/api/workspaces/{workspace_id}/members/{user_id}', { params: { path } }));
      }
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: membersKey(workspaceId) }),
  });
  return (
    <>
      <Failure title="Nothing was changed" error={change.error} />
      <ul className={styles.list}>
        {members.map((member) => (
          <ListItem
            key={member.user_id}
            what={`${member.name ?? member.email}${member.user_id === me?.id ? ' (you)' : ''}`}
            about={
              <>
                {member.name && `${member.email} · `}
                {!member.email_verified && 'address not verified · '}joined{' '}
                <Timestamp at={Date.parse(member.joined_at)} />
              </>
            }
          >
            {member.permissions.change_role ? (
              <NativeSelect
                size="sm"
                aria-label={`Role of ${member.email}`}
                value={member.role}
                data={ROLE_OPTIONS}
                onChange={(event) => change.mutate({ member, role: event.currentTarget.value as Role })}
              />
            ) : (
              <span>{member.role}</span>
            )}
            {member.permissions.reset_password && member.user_id !== me?.id && (
              <PasswordLink workspaceId={workspaceId} member={member} />
            )}
            {member.permissions.remove && (
              <ConfirmButton
                label={`Remove ${member.email}`}
                question="Remove now"
                busy={change.isPending && change.variables.member === member}
                onConfirm={() => change.mutate({ member, role: null })}
              >
                Remove
              </ConfirmButton>
            )}
          </ListItem>
        ))}
      </ul>
    </>
  );
}
