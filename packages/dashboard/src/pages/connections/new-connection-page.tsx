import { Box, Skeleton, Stack, Text } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { ViewerNotice } from '../../accounts/viewer-notice';
import { type Connection, type Integration, useCatalog } from '../../connections/connection-queries';
import { ServiceLogo } from '../../connections/service-logo';
import { catalogServicePath, getAppParam, newConnectionPath, paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import linkCard from '../../ui/link-card.module.css';
import { LoadErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { SearchField } from '../../ui/search-field';
import { AccountForm } from './account-form';
import { KeyForm } from './key-form';
import styles from './new-connection.module.css';
import { ServerForm } from './server-form';

/** Connections outside the catalogue: any service with a key, and MCP servers. */
const CUSTOM_KINDS = {
  key: { name: 'API key', about: 'For any service that accepts API keys. The key is sent only to hosts you allow.' },
  mcp: { name: 'MCP server', about: 'Connect by URL and browse the server’s tools.' },
};

const isCustomKind = (app: string | null): app is keyof typeof CUSTOM_KINDS =>
  app !== null && Object.hasOwn(CUSTOM_KINDS, app);

export default function NewConnectionPage() {
  useTitle('New connection');
  const role = useWorkspace()?.role;
  const [search] = useSearchParams();
  const app = getAppParam(search);
  const catalog = useCatalog();
  const navigate = useNavigate();
  const integration = catalog.data?.find(({ slug }) => slug === app);
  function handleCreated({ label }: Connection) {
    toast(`${label} connected`);
    navigate(paths.connections);
  }
  if (role === 'viewer') return <ViewerNotice action="create connections" />;
  const name = isCustomKind(app) ? CUSTOM_KINDS[app].name : integration?.name;
  return (
    <>
      <PageHeader
        title={name ? `Connect ${isCustomKind(app) ? `an ${name}` : name}` : 'New connection'}
        about={
          name ? (
            <>
              <Link to={paths.newConnection}>Choose another service</Link>
              {integration && <Link to={catalogServicePath(integration.slug)}>View tools</Link>}
            </>
          ) : (
            'Services that use a key work right away. For others, you’ll sign in to the service and then come back here.'
          )
        }
      />
      {/* The role decides which visibility is preselected. */}
      {name &&
        (role ? (
          <ConnectionForm app={app} integration={integration} onCreated={handleCreated} />
        ) : (
          <Skeleton height={320} radius={10} />
        ))}
      {!name && (
        <>
          {catalog.error && <LoadErrorNotice what="The catalog" error={catalog.error} retry={catalog.refetch} />}
          {catalog.isPending && <Skeleton height={320} radius={10} />}
          {catalog.data && <ServiceCatalog integrations={catalog.data} />}
        </>
      )}
    </>
  );
}

interface ConnectionFormProps {
  app: string | null;
  /** A service of the catalog. */
  integration: Integration | undefined;
  onCreated: (connection: Connection) => void;
}

function ConnectionForm({ app, integration, onCreated }: ConnectionFormProps) {
  if (app === 'key') return <KeyForm onCreated={onCreated} />;
  if (app === 'mcp') return <ServerForm onCreated={onCreated} />;
  return integration && <AccountForm key={integration.slug} integration={integration} onCreated={onCreated} />;
}

function ServiceCatalog({ integrations }: { integrations: Integration[] }) {
  const [text, setText] = useState('');
  const searchText = text.trim().toLowerCase();
  const matchesSearch = (...texts: string[]) => texts.join(' ').toLowerCase().includes(searchText);
  const matches = integrations.filter(({ name, description, category }) => matchesSearch(name, description, category));
  const ready = matches.filter(({ app }) => app.configured !== null);
  const others = matches.filter(({ app }) => app.configured === null);
  const customKinds = Object.entries(CUSTOM_KINDS).filter(([, { name, about }]) => matchesSearch(name, about));
  return (
    <>
      <SearchField maw="24rem" mb="md" label="Search services" value={text} onChange={setText} />
      {matches.length + customKinds.length === 0 && (
        <Text fz="sm" c="dimmed" role="status">
          No matching services. You can connect any service that accepts an API key.
        </Text>
      )}
      <ServiceSection title="Ready to use">
        {customKinds.map(([id, { name, about }]) => (
          <li key={id} className={`${linkCard.card} ${styles.card} surface`} data-own>
            <Link className="stretched-link" to={newConnectionPath(id)}>
              {name}
            </Link>
            <Text fz="sm" c="dimmed">
              {about}
            </Text>
          </li>
        ))}
        {ready.map((one) => (
          <ServiceCard key={one.slug} integration={one} />
        ))}
      </ServiceSection>
      <ServiceSection title="Requires a token or an OAuth client">
        {others.map((one) => (
          <ServiceCard key={one.slug} integration={one} />
        ))}
      </ServiceSection>
    </>
  );
}

function ServiceSection({ title, children }: { title: string; children: ReactNode[] }) {
  const id = useId();
  if (children.flat().length === 0) return null;
  return (
    <Stack component="section" gap="md" mb="xl" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <Box
        component="ul"
        className={styles.services}
        display="grid"
        style={{ gridTemplateColumns: 'repeat(auto-fill, minmax(min(100%, 15rem), 1fr))', gap: 'var(--space-4)' }}
        aria-label={title}
      >
        {children}
      </Box>
    </Stack>
  );
}

const ServiceCard = ({
  integration: { slug, name, description, logo, tools_count: count },
}: {
  integration: Integration;
}) => (
  <li className={`${linkCard.card} ${styles.card} surface`}>
    <ServiceLogo slug={slug} initials={logo} />
    <Link className="stretched-link" to={newConnectionPath(slug)}>
      {name}
    </Link>
    <Text fz="sm" c="dimmed">
      {description}
    </Text>
    <Link className={styles.tools} to={catalogServicePath(slug)}>
      {count === 0 ? 'Permissions' : count === 1 ? '1 tool' : `${count} tools`}
      <span className="visually-hidden"> for {name}</span>
    </Link>
  </li>
);
