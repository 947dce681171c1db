import { useMutation } from '@tanstack/react-query';
import { ROLE_OPTIONS } from '../../accounts/roles';
import { membersKey, useMembers } from '../../accounts/use-members';
import { SettingsLayout } from '../../settings/settings-layout';
import { api, type Member, type Role } from '../../shell/api';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { useWorkspace } from '../../shell/use-me';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { ResourceTable } from '../../ui/resource-table';
import { buildActionsColumn, type Column } from '../../ui/table-model';
import { buildTimeColumn } from '../../ui/time-column';
import { Invitations } from './invitations';
import { MemberActions, MemberName, MemberRole } from './member-cells';

export default function MembersPage() {
  const workspace = useWorkspace();
  return (
    <SettingsLayout title="Members" about="People in this workspace and their roles.">
      <Panel title={workspace ? `People in ${workspace.name}` : 'People'}>
        {workspace && <MemberTable workspaceId={workspace.id} />}
      </Panel>
      {workspace?.permissions.invite && <Invitations workspaceId={workspace.id} />}
    </SettingsLayout>
  );
}

function MemberTable({ workspaceId }: { workspaceId: string }) {
  const members = useMembers();
  const change = useMutation({
    mutationFn: async ({ member, role }: { member: Member; role: Role | null }) => {
      const path = { workspace_id: workspaceId, user_id: member.user_id };
      if (role) {
        const options = { params: { path }, body: { role } };
        await api.worker.PUT('/api/workspaces/{workspace_id}/members/{user_id}/role', options);
      } else {
        await api.worker.DELETE('/api/workspaces/{workspace_id}/members/{user_id}', { params: { path } });
      }
    },
    onSettled: useInvalidateQueries(membersKey),
  });
  const columns: Column<Member>[] = [
    { head: 'Name', sortBy: ({ name, email }) => name ?? email, cell: (member) => <MemberName member={member} /> },
    buildTimeColumn('Joined', ({ joined_at }) => joined_at),
    {
      head: 'Role',
      sortBy: ({ role }) => ROLE_OPTIONS.findIndex(({ value }) => value === role),
      cell: (member) => <MemberRole member={member} onChange={(role) => change.mutate({ member, role })} />,
    },
    buildActionsColumn((member) => (
      <MemberActions
        workspaceId={workspaceId}
        member={member}
        isBusy={change.isPending && change.variables.member === member}
        onRemove={() => change.mutate({ member, role: null })}
      />
    )),
  ];
  return (
    <>
      <ErrorNotice title="Changes not saved" error={change.error} />
      <ResourceTable
        label="Members"
        what="The members"
        query={members}
        items={members.data}
        height={120}
        columns={columns}
        getKey={({ user_id }) => user_id}
      />
    </>
  );
}
