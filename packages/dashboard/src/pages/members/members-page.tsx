import { unwrap } from '@gantry/api-client';
import { NativeSelect, Skeleton } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ROLE_OPTIONS, roleWord } from '../../accounts/roles';
import { membersKey, useMembers } from '../../accounts/use-members';
import { SettingsFrame } from '../../settings/settings-frame';
import { type Member, type Role, workerApi } from '../../shell/api';
import { useMe, useWorkspace } from '../../shell/use-me';
import { ConfirmButton } from '../../ui/confirm-button';
import { FailedToLoad, Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import content from '../../ui/panel-content.module.css';
import { Timestamp } from '../../ui/timestamp';
import { Invitations } from './invitations';
import styles from './members-page.module.css';
import { PasswordLink } from './password-link';

export default function MembersPage() {
  const workspace = useWorkspace();
  const members = useMembers();
  return (
    <SettingsFrame title="Members" about="People who work here, and what each of them may do.">
      <Panel title={workspace ? `People in ${workspace.name}` : 'People'}>
        {members.isError ? (
          <FailedToLoad what="The list of members" error={members.error} retry={members.refetch} />
        ) : !members.data || !workspace ? (
          <Skeleton height={120} />
        ) : (
          <MemberList workspaceId={workspace.id} members={members.data} />
        )}
      </Panel>
      {workspace?.permissions.invite && <Invitations workspaceId={workspace.id} />}
    </SettingsFrame>
  );
}

function MemberList({ workspaceId, members }: { workspaceId: string; members: Member[] }) {
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
          <MemberItem
            key={member.user_id}
            workspaceId={workspaceId}
            member={member}
            isBusy={change.isPending && change.variables.member === member}
            onChange={(role) => change.mutate({ member, role })}
          />
        ))}
      </ul>
    </>
  );
}

interface MemberItemProps {
  workspaceId: string;
  member: Member;
  isBusy: boolean;
  /** @param role null: the member goes */
  onChange: (role: Role | null) => void;
}

function MemberItem({ workspaceId, member, isBusy, onChange }: MemberItemProps) {
  const { data: me } = useMe();
  const { user_id, name, email, email_verified, role, joined_at, permissions } = member;
  const isMe = user_id === me?.id;
  return (
    <li className={styles.member}>
      <span className={styles.initial} aria-hidden="true">
        {(name ?? email).charAt(0).toUpperCase()}
      </span>
      <div className={styles.who}>
        <p className={content.what}>
          {name ?? email}
          {isMe && <span className={styles.me}> (you)</span>}
        </p>
        <p className={content.about}>
          {name && `${email} · `}
          {!email_verified && 'address not verified · '}joined <Timestamp at={Date.parse(joined_at)} />
        </p>
      </div>
      <div className={styles.role}>
        {permissions.change_role ? (
          <NativeSelect
            size="sm"
            aria-label={`Role of ${email}`}
            value={role}
            data={ROLE_OPTIONS}
            onChange={(event) => onChange(event.currentTarget.value as Role)}
          />
        ) : (
          roleWord(role)
        )}
      </div>
      <div className={content.actions}>
        {permissions.reset_password && !isMe && <PasswordLink workspaceId={workspaceId} member={member} />}
        {permissions.remove && (
          <ConfirmButton label={`Remove ${email}`} question="Remove now" busy={isBusy} onConfirm={() => onChange(null)}>
            Remove
          </ConfirmButton>
        )}
      </div>
    </li>
  );
}
