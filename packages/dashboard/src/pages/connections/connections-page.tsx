import { hasRoleAtLeast } from '../../accounts/roles';
import { useConnections } from '../../connections/connection-queries';
import { LinkButton } from '../../shell/link-button';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { EmptyState } from '../../ui/empty-state';
import { PageHeader } from '../../ui/page-header';
import { ResourceTable } from '../../ui/resource-table';
import { CONNECTION_COLUMNS } from './connection-columns';

/** Lists the accounts, keys and MCP servers that workers declare. */
export default function ConnectionsPage() {
  useTitle('Connections');
  const workspace = useWorkspace();
  const connections = useConnections();
  const canCreate = hasRoleAtLeast(workspace?.role, 'member');
  return (
    <>
      <PageHeader
        title="Connections"
        about="Accounts, keys and MCP servers for workers. Stored values can’t be read back."
        actions={canCreate && <LinkButton to={paths.newConnection}>New connection</LinkButton>}
      />
      <ResourceTable
        label="Connections"
        what="The connections"
        query={connections}
        items={connections.data}
        columns={CONNECTION_COLUMNS}
        getKey={({ id }) => id}
        isCard
        empty={
          <EmptyState title="No connections yet" level={2}>
            <p>
              {canCreate
                ? 'Connect an account or MCP server, or add a key. Then add the connection to a worker.'
                : 'Members of this workspace can create connections.'}
            </p>
          </EmptyState>
        }
      />
    </>
  );
}
