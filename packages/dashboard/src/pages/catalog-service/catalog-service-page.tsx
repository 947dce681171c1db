import { Group, Stack, Text } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { hasRoleAtLeast } from '../../accounts/roles';
import { type Integration, useAppConnections, useCatalog, useCatalogTools } from '../../connections/connection-queries';
import { ConnectionStatusChip } from '../../connections/connection-status';
import { LineList } from '../../connections/line-list';
import { ScopeList } from '../../connections/scope-list';
import { ServiceLogo } from '../../connections/service-logo';
import { ToolList } from '../../connections/tool-list';
import { ToolsPanel } from '../../connections/tools-panel';
import { NotFound } from '../../shell/frame/not-found';
import { LinkButton } from '../../shell/link-button';
import { connectionPath, newConnectionPath, paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Columns } from '../../ui/columns';
import { DetailList } from '../../ui/detail-list';
import { ListItem } from '../../ui/list-item';
import { LoadingPage } from '../../ui/loading-page';
import { LoadErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';
import { OauthClientPanel } from './oauth-client-panel';

const COLUMNS = 'minmax(0, 1fr) minmax(18rem, 24rem)';

/** Shows a service of the catalogue before it is connected: its tools, rights and hosts. */
export default function CatalogServicePage() {
  const { slug = '' } = useParams();
  const { data: catalog, error, refetch } = useCatalog();
  const integration = catalog?.find((one) => one.slug === slug);
  useTitle(integration?.name ?? 'Service', [{ to: paths.newConnection, label: 'Services' }]);
  if (error && !catalog) return <LoadErrorNotice what="The catalog" error={error} retry={refetch} />;
  if (!catalog) return <LoadingPage what="the service" columns={COLUMNS} />;
  if (!integration) return <NotFound what="service" />;
  return <LoadedService key={slug} integration={integration} />;
}

function LoadedService({ integration }: { integration: Integration }) {
  const { slug, name, description, category, logo, docs_url: docsUrl, hosts, scopes } = integration;
  const canConnect = hasRoleAtLeast(useWorkspace()?.role, 'member');
  return (
    <>
      <PageHeader
        title={
          <Group component="span" display="inline-flex" gap="sm" wrap="nowrap">
            <ServiceLogo slug={slug} initials={logo} />
            {name}
          </Group>
        }
        about={
          <>
            <span>{description}</span>
            <a href={docsUrl} target="_blank" rel="noreferrer">
              {name} documentation
            </a>
          </>
        }
        actions={canConnect && <LinkButton to={newConnectionPath(slug)}>Connect</LinkButton>}
      />
      <Columns widths={COLUMNS} below="64rem">
        <ServiceTools slug={slug} name={name} />
        <Stack gap="lg">
          <Panel title="About">
            <DetailList
              details={[
                ['Category', category],
                [
                  'Name in worker code',
                  <code key="declared" className="small-code">
                    {slug}
                  </code>,
                ],
                ['Allowed hosts', <LineList key="hosts" lines={hosts} />],
              ]}
            />
          </Panel>
          <ServiceConnections slug={slug} />
          <Panel title="Permissions">
            {scopes.length === 0 ? (
              <Text fz="sm" c="dimmed">
                No permissions needed.
              </Text>
            ) : (
              <ScopeList scopes={scopes}>
                {(scope) =>
                  scopes.find((one) => one.name === scope.name)?.default && (
                    <Text span fz="sm" c="dimmed">
                      Requested by default
                    </Text>
                  )
                }
              </ScopeList>
            )}
          </Panel>
          <OauthClientPanel integration={integration} />
        </Stack>
      </Columns>
    </>
  );
}

const ServiceTools = ({ slug, name }: { slug: string; name: string }) => (
  <ToolsPanel
    query={useCatalogTools(slug)}
    none={`The catalog has no tools for ${name}. Call the ${name} API directly from code, using a connection’s token.`}
  >
    {(tools) => <ToolList tools={tools} isForeign={false} />}
  </ToolsPanel>
);

/** Lists the connected accounts; renders nothing while there are none. */
function ServiceConnections({ slug }: { slug: string }) {
  const { data: connections = [] } = useAppConnections(slug);
  if (connections.length === 0) return null;
  return (
    <Panel title="Connections">
      <ul className="panel-list divided rows" aria-label="Connections">
        {connections.map(({ id, label, account_label: account, status }) => (
          <ListItem key={id} title={<Link to={connectionPath(id)}>{label}</Link>} about={account}>
            <ConnectionStatusChip status={status} />
          </ListItem>
        ))}
      </ul>
    </Panel>
  );
}
