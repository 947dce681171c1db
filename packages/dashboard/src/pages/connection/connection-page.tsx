import { Button, Stack } from '@mantine/core';
import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { renderResourceError } from '../../accounts/resource-error';
import { CONNECTION_KIND_LABELS, formatCheckResult, getServiceName } from '../../connections/connection-labels';
import {
  type Connection,
  connectionKey,
  getConnection,
  isInUseError,
  useCatalog,
  useConnection,
  useConnectionMutations,
  useConnectionTools,
} from '../../connections/connection-queries';
import { ConnectionStatusChip } from '../../connections/connection-status';
import { paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Columns } from '../../ui/columns';
import { ConfirmButton } from '../../ui/confirm-button';
import { CopyableCode } from '../../ui/copyable-code';
import { LoadingPage } from '../../ui/loading-page';
import { ErrorNotice, Notice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { buildCodeExample } from './code-example';
import { ConnectionDetails } from './connection-details';
import styles from './connection-page.module.css';
import { ConnectionProblem } from './connection-problem';
import { ConnectionTools } from './connection-tools';
import { EditConnectionDialog } from './edit-connection-dialog';
import { GrantedScopes } from './granted-scopes';

const COLUMNS = 'minmax(0, 1fr) minmax(18rem, 24rem)';

/** Shows one account, key or MCP server: its status, access, and tools. */
export default function ConnectionPage() {
  const { connectionId = '' } = useParams();
  const workspaceId = useWorkspace()?.id;
  const query = useConnection(connectionId);
  const { data: connection } = query;
  useTitle(connection?.label ?? 'Connection');
  const resourceError = renderResourceError({
    query,
    resourceKind: 'connection',
    queryKey: connectionKey(workspaceId, connectionId),
    read: (headers) => getConnection(connectionId, headers),
  });
  if (resourceError) return resourceError;
  if (!connection) return <LoadingPage what="the connection" columns={COLUMNS} />;
  return <LoadedConnection key={connectionId} connection={connection} />;
}

function LoadedConnection({ connection }: { connection: Connection }) {
  const { id, label, kind, app, status, account_label: account, permissions } = connection;
  const catalog = useCatalog();
  const navigate = useNavigate();
  const [isEditing, setEditing] = useState(false);
  const { check, remove, consent } = useConnectionMutations();
  const service = getServiceName(app, catalog.data);

  function deleteConnection(force: boolean) {
    const onSuccess = () => {
      // Leaves the page first, which would refetch the deleted connection.
      navigate(paths.connections);
      toast(`${label} deleted`);
    };
    remove.mutate({ id, force }, { onSuccess });
  }

  return (
    <>
      <PageHeader
        title={label}
        about={
          <>
            <ConnectionStatusChip status={status} />
            <span>{kind === 'oauth' ? `${service} account` : CONNECTION_KIND_LABELS[kind]}</span>
            {account && <span>{account}</span>}
          </>
        }
        actions={
          permissions.edit && (
            <>
              {permissions.delete && (
                <ConfirmButton
                  label={`Delete ${label}`}
                  question="Delete now"
                  busy={remove.isPending}
                  onConfirm={() => deleteConnection(false)}
                >
                  Delete
                </ConfirmButton>
              )}
              <Button variant="default" onClick={() => setEditing(true)}>
                Edit
              </Button>
              {status !== 'pending' && (
                <Button
                  variant="default"
                  loading={check.isPending}
                  onClick={() =>
                    check.mutate(connection, { onSuccess: (found) => toast(formatCheckResult(label, found)) })
                  }
                >
                  Check now
                </Button>
              )}
            </>
          )
        }
      />
      <Stack gap="lg">
        {isInUseError(remove.error) ? (
          <Notice
            tone="error"
            title="Connection not deleted because it’s in use"
            action={
              <Button color="red" loading={remove.isPending} onClick={() => deleteConnection(true)}>
                Delete anyway
              </Button>
            }
          >
            Workers using this connection will fail once it’s deleted.
          </Notice>
        ) : (
          <ErrorNotice title="Connection not deleted" error={remove.error} />
        )}
        <ErrorNotice title="Check failed" error={check.error} />
        <ConnectionProblem
          connection={connection}
          isBusy={consent.isPending}
          onConsent={() => consent.mutate({ id })}
          onEdit={() => setEditing(true)}
        />
        <ErrorNotice title="Couldn’t open the provider’s site" error={consent.error} />
        <Columns widths={COLUMNS} below="64rem">
          <Stack gap="lg">
            <ConnectionCodeExample connection={connection} />
            <ConnectionTools connection={connection} service={service} />
          </Stack>
          <Stack className={styles.aside} gap="lg">
            <ConnectionDetails connection={connection} catalog={catalog.data} />
            {kind === 'oauth' && <GrantedScopes connection={connection} catalog={catalog.data} />}
          </Stack>
        </Columns>
      </Stack>
      {isEditing && <EditConnectionDialog connection={connection} onClose={() => setEditing(false)} />}
    </>
  );
}

/** Renders nothing if the server has no tool that code can call. */
function ConnectionCodeExample({ connection }: { connection: Connection }) {
  const { data: tools } = useConnectionTools(connection.id);
  const isServer = connection.kind === 'mcp';
  if (!tools || (isServer && !tools.some(({ allowed }) => allowed))) return null;
  return <CopyableCode label={`Use ${connection.app} in worker code`} code={buildCodeExample(connection, tools)} />;
}
