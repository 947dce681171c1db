import { Button, Skeleton } from '@mantine/core';
import { Link } from 'react-router';
import { roleAtLeast } from '../../accounts/roles';
import { useConnections } from '../../connections/connection-queries';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Empty } from '../../ui/empty';
import { FailedToLoad } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { ConnectionItem } from './connection-item';
import styles from './connections-page.module.css';

/** Accounts, keys and MCP servers that workers declare. */
export default function ConnectionsPage() {
  useTitle('Connections');
  const workspace = useWorkspace();
  const connections = useConnections();
  const shown = connections.data?.pages.flat();
  const mayMake = roleAtLeast(workspace?.role, 'member');
  return (
    <>
      <PageHead
        title="Connections"
        about="Accounts, keys and MCP servers that workers declare. Nobody can read what is stored."
        actions={
          mayMake && (
            <Button component={Link} to={paths.newConnection}>
              New connection
            </Button>
          )
        }
      />
      {connections.error && !shown ? (
        <FailedToLoad what="The connections" error={connections.error} retry={connections.refetch} />
      ) : !shown ? (
        <Skeleton height={240} radius={10} />
      ) : shown.length === 0 ? (
        <Empty title="No connections yet" level={2}>
          <p>
            {mayMake
              ? 'Connect an account of a service, a key or an MCP server; a worker names it under connections.'
              : 'Members of this workspace can make them.'}
          </p>
        </Empty>
      ) : (
        <ul className={styles.list} aria-label="Connections">
          {shown.map((connection) => (
            <ConnectionItem key={connection.id} connection={connection} />
          ))}
        </ul>
      )}
      {connections.hasNextPage && (
        <Button
          variant="default"
          loading={connections.isFetchingNextPage}
          onClick={() => void connections.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </>
  );
}
