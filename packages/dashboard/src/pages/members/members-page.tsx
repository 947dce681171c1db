import { unwrap } from '@gantry/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { membersKey, useMembers } from '../../accounts/use-members';
import { SettingsFrame } from '../../settings/settings-frame';
import { type Member, type Role, workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { ResourceList } from '../../ui/resource-list';
import { RowList } from '../../ui/row-list';
import { Invitations } from './invitations';
import { MemberItem } from './member-item';

export default function MembersPage() {
  const workspace = useWorkspace();
  const members = useMembers();
  return (
    <SettingsFrame title="Members" about="People who work here, and what each of them may do.">
      <Panel title={workspace ? `People in ${workspace.name}` : 'People'}>
        <ResourceList what="The list of members" query={members} items={members.data} height={120}>
          {(memberList) => workspace && <MemberList workspaceId={workspace.id} members={memberList} />}
        </ResourceList>
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
        const options = { params: { path }, body: { role } };
        await unwrap(worker.PUT('/api/workspaces/{workspace_id}/members/{user_id}/role', options));
      } else {
        await unwrap(worker.DELETE('/api/workspaces/{workspace_id}/members/{user_id}', { params: { path } }));
      }
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: membersKey(workspaceId) }),
  });
  return (
    <>
      <Failure title="Nothing was changed" error={change.error} />
      <RowList columns="minmax(0, 1fr) minmax(8rem, 15rem) auto">
        {members.map((member) => (
          <MemberItem
            key={member.user_id}
            workspaceId={workspaceId}
            member={member}
            isBusy={change.isPending && change.variables.member === member}
            onChange={(role) => change.mutate({ member, role })}
          />
        ))}
      </RowList>
    </>
  );
}
