import { Box, Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useParams } from 'react-router';
import { renderResourceError } from '../accounts/resource-error';
import type { Context } from '../shell/api';
import { LinkTabs } from '../shell/link-tabs';
import { contextPath, workerPath } from '../shell/paths';
import { useWorkspace } from '../shell/use-me';
import { useTitle } from '../shell/use-title';
import { formatFileSize } from '../ui/format';
import { PageHeader } from '../ui/page-header';
import { Timestamp } from '../ui/timestamp';
import { contextKeys, getContext, useContextPack } from './use-context-pack';

const TABS = [
  ['context', 'Files'],
  ['contextVersions', 'Versions'],
  ['contextSettings', 'Settings'],
] as const;

interface ContextLayoutProps {
  /** The name of this tab; none for the first one. */
  tab?: string;
  children: (context: Context) => ReactNode;
}

/** Frames every page of a context with its head and tabs. */
export function ContextLayout({ tab, children }: ContextLayoutProps) {
  const { contextName = '' } = useParams();
  const workspaceId = useWorkspace()?.id;
  const query = useContextPack(contextName);
  const { data: context } = query;
  useTitle(tab ?? contextName, tab ? [{ to: contextPath(contextName), label: contextName }] : []);
  const resourceError = renderResourceError({
    query,
    missingStatuses: [400, 403, 404],
    resourceKind: 'context',
    queryKey: contextKeys.one(workspaceId, contextName),
    read: (headers) => getContext(contextName, headers),
  });
  if (resourceError) return resourceError;
  return (
    <>
      <PageHeader
        title={contextName}
        about={context ? <ContextSummary context={context} /> : <Skeleton height={22} width="24rem" />}
      />
      <LinkTabs
        label="Context"
        tabs={TABS.map(([pattern, label]) => ({ to: contextPath(contextName, pattern), label }))}
      />
      {context ? children(context) : <Skeleton height={360} radius={10} />}
    </>
  );
}

function ContextSummary({ context }: { context: Context }) {
  const { description, file_count, total_size_bytes, version, updated_at, visibility, writeable, used_by } = context;
  return (
    <>
      {description && (
        <Box component="span" className="wrap-anywhere" c="bright" style={{ flexBasis: '100%' }}>
          {description}
        </Box>
      )}
      <span>
        {file_count === 1 ? '1 file' : `${file_count} files`}, {formatFileSize(total_size_bytes)}
      </span>
      <span>
        Version {version}, <Timestamp at={Date.parse(updated_at)} />
      </span>
      {visibility === 'private' && <span>Private</span>}
      {writeable && <span>Writable by runs</span>}
      <span>
        {used_by.length ? 'Used by ' : 'Not used by any workers'}
        <WorkerLinks workers={used_by} />
      </span>
    </>
  );
}

const WORKERS_SHOWN = 3;

/** Links to the first few of them. */
export function WorkerLinks({ workers }: { workers: Context['used_by'] }) {
  const named = workers.slice(0, WORKERS_SHOWN);
  return (
    <>
      {named.map(({ id, name }, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <Link to={workerPath(id)}>{name}</Link>
        </span>
      ))}
      {workers.length > named.length && ` and ${workers.length - named.length} more`}
    </>
  );
}
