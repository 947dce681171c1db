import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { TOOLSET_LABELS } from '../../accounts/toolsets';
import { api } from '../../shell/api';
import { buildRowActionProps, ConfirmButton } from '../../ui/confirm-button';
import { NameCell } from '../../ui/name-cell';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { PanelTable } from '../../ui/resource-table';
import { buildActionsColumn, type Column } from '../../ui/table-model';
import { buildTimeColumn } from '../../ui/time-column';

const GRANTS_KEY = ['tokens', 'apps'];

/** Lists the apps that the member has connected to `/mcp`. */
export function ConnectedApps() {
  const queryClient = useQueryClient();
  const grants = useQuery({ queryKey: GRANTS_KEY, queryFn: () => api.account.GET('/auth/oauth/grants') });
  const revokeGrant = useMutation({
    mutationFn: (grant_id: string) =>
      api.account.DELETE('/auth/oauth/grants/{grant_id}', { params: { path: { grant_id } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: GRANTS_KEY }),
  });
  const columns: Column<NonNullable<typeof grants.data>[number]>[] = [
    {
      head: 'Name',
      sortBy: ({ client }) => client.name ?? client.host,
      cell: ({ client, readonly, toolsets }) => (
        <NameCell name={client.name ?? client.host ?? 'Unnamed app'}>
          {[
            client.host ?? 'Unverified',
            ...(readonly ? ['Read-only'] : []),
            `Tools: ${toolsets.map((one) => TOOLSET_LABELS[one].toLowerCase()).join(', ')}`,
          ].join(' · ')}
        </NameCell>
      ),
    },
    { head: 'Workspace', sortBy: ({ workspace }) => workspace.name, cell: ({ workspace }) => workspace.name },
    buildTimeColumn('Last got tokens', ({ last_used_at }) => last_used_at),
    buildTimeColumn('Expires', ({ expires_at }) => expires_at),
    buildActionsColumn(({ id, client }) => (
      <ConfirmButton
        label={`Disconnect ${client.name ?? client.host ?? 'the app'}`}
        question="Disconnect now"
        {...buildRowActionProps(revokeGrant, id)}
      >
        Disconnect
      </ConfirmButton>
    )),
  ];
  return (
    <Panel title="Connected apps">
      <p className="panel-text">
        Agents you’ve connected by signing in. Each agent acts on your behalf in one workspace.
      </p>
      <ErrorNotice title="App not disconnected" error={revokeGrant.error} />
      <PanelTable
        label="Connected apps"
        noun="connected apps"
        query={grants}
        empty={
          <p className="caption">
            No connected apps yet. Agents appear here after you connect them as described above.
          </p>
        }
        columns={columns}
      />
    </Panel>
  );
}
