import { Stack } from '@mantine/core';
import { Link } from 'react-router';
import { getServiceName } from '../../connections/connection-labels';
import type { Connection, Integration } from '../../connections/connection-queries';
import { LineList } from '../../connections/line-list';
import { catalogServicePath, workerPath } from '../../shell/paths';
import { type Detail, DetailList } from '../../ui/detail-list';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { useMemberNames } from '../../workers/use-member-names';

interface ConnectionDetailsProps {
  connection: Connection;
  /** Undefined until it is known. */
  catalog: Integration[] | undefined;
}

export function ConnectionDetails({ connection, catalog }: ConnectionDetailsProps) {
  const names = useMemberNames();
  const { app, kind, url, issuer, auth_secret: secret, parameters, hosts, places, visibility, used_by } = connection;
  const owner = (connection.owner_id !== null && names?.get(connection.owner_id)) || 'A token';
  const isInCatalogue = catalog?.some(({ slug }) => slug === app);
  const details: Detail[] = [
    [
      'Service',
      isInCatalogue ? (
        <Link key="service" to={catalogServicePath(app)}>
          {getServiceName(app, catalog)}
        </Link>
      ) : (
        getServiceName(app, catalog)
      ),
    ],
    [
      'Name in worker code',
      <code key="declared" className="small-code">
        {app}
      </code>,
    ],
    ['Account', connection.account_label],
    [
      'URL',
      url !== null && (
        <span key="address" className="small-code">
          {url}
        </span>
      ),
    ],
    ['Issuer', issuer !== null && <LineList key="issuer" lines={[issuer]} />],
    ['Token', secret !== null && `Secret ${secret}`],
    ...Object.entries(parameters),
    ['Allowed hosts', hosts.length === 0 ? 'None' : <LineList key="hosts" lines={hosts} />],
    ['Allowed request parts', kind !== 'mcp' && <LineList key="places" lines={places} />],
    ['Available to', visibility === 'workspace' ? 'All workers in the workspace' : `${owner}’s private workers`],
    ['Owner', owner],
    ['Used by', <WorkerLinks key="used" workers={used_by} />],
    ['Last used', <OptionalTimestamp key="last-used" at={connection.last_used_at} />],
    ['Last checked', <OptionalTimestamp key="checked" at={connection.last_checked_at} />],
    ['Token expires', connection.expires_at && <OptionalTimestamp key="expires" at={connection.expires_at} />],
    ['Created', <OptionalTimestamp key="made" at={connection.created_at} />],
  ];
  return (
    <Panel title="About">
      <DetailList details={details} />
    </Panel>
  );
}

const OptionalTimestamp = ({ at }: { at: string | null }) =>
  at === null ? 'Never' : <Timestamp at={Date.parse(at)} />;

function WorkerLinks({ workers }: { workers: Connection['used_by'] }) {
  if (workers.length === 0) return 'No workers';
  return (
    <Stack component="ul" gap={4} aria-label="Workers using this connection">
      {workers.map(({ id, name }) => (
        <li key={id}>
          <Link to={workerPath(id)}>{name}</Link>
        </li>
      ))}
    </Stack>
  );
}
