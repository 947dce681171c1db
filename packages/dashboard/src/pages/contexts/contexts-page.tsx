import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { WorkerLinks } from '../../contexts/context-layout';
import { contextKeys } from '../../contexts/use-context-pack';
import { api, type Context } from '../../shell/api';
import { loadAllPages } from '../../shell/load-all-pages';
import { contextPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { EmptyState } from '../../ui/empty-state';
import { formatFileSize } from '../../ui/format';
import { NameCell } from '../../ui/name-cell';
import { PageHeader } from '../../ui/page-header';
import { ResourceTable } from '../../ui/resource-table';
import type { Column } from '../../ui/table-model';
import { buildTimeColumn } from '../../ui/time-column';
import { NewContextDialog } from './new-context-dialog';

const CONTEXT_COLUMNS: Column<Context>[] = [
  {
    head: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ name, description, visibility, writeable }) => (
      <NameCell name={<Link to={contextPath(name)}>{name}</Link>}>
        {description}
        {[visibility === 'private' && 'Private', writeable && 'Runs can save changes'].filter(Boolean).join(' · ')}
      </NameCell>
    ),
  },
  {
    head: 'Files',
    isLabelled: true,
    className: 'nowrap',
    sortBy: ({ total_size_bytes }) => total_size_bytes,
    cell: ({ file_count, total_size_bytes }) =>
      `${file_count === 1 ? '1 file' : `${file_count} files`}, ${formatFileSize(total_size_bytes)}`,
  },
  { head: 'Version', isLabelled: true, cell: ({ version }) => version },
  {
    head: 'Used by',
    isLabelled: true,
    cell: ({ used_by }) => (used_by.length ? <WorkerLinks workers={used_by} /> : 'No workers'),
  },
  buildTimeColumn('Updated', ({ updated_at }) => updated_at),
];

const SEARCH = {
  label: 'Search contexts',
  placeholder: 'Search by name or description',
  getText: ({ name, description }: Context) => `${name} ${description}`,
  none: 'No contexts match your search.',
};

/** Lists the contexts of this workspace. */
export default function ContextsPage() {
  useTitle('Contexts');
  const workspace = useWorkspace();
  const canCreate = workspace !== undefined && workspace.role !== 'viewer';
  const [isCreating, setCreating] = useState(false);
  const contexts = useWorkspaceQuery(contextKeys.list, loadAllContexts);
  return (
    <>
      <PageHeader
        title="Contexts"
        about="Files that workers can use during runs, such as price lists, templates and instructions."
        actions={canCreate && <Button onClick={() => setCreating(true)}>New context</Button>}
      />
      <ResourceTable
        label="Contexts"
        what="The contexts"
        query={contexts}
        items={contexts.data}
        columns={CONTEXT_COLUMNS}
        getKey={({ name }) => name}
        isCard
        search={SEARCH}
        empty={
          <EmptyState title="No contexts yet" level={2}>
            <p>
              A context is a versioned set of files. Workers that declare the context can read its files at{' '}
              <code>contexts/&lt;name&gt;/</code> during each run. Changing the files doesn’t require a new worker
              version.
            </p>
            {canCreate && (
              <p>
                <Button onClick={() => setCreating(true)}>Create context</Button>
              </p>
            )}
          </EmptyState>
        }
      />
      {isCreating && <NewContextDialog onClose={() => setCreating(false)} />}
    </>
  );
}

/** Loads all contexts, newest first. There are few, since each is created by hand. */
const loadAllContexts = (): Promise<Context[]> =>
  loadAllPages((query) => api.worker.GET('/api/contexts', { params: { query } }));
