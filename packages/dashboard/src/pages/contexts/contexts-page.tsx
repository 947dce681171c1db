import { unwrap } from '@gantry/sdk';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { contextKeys } from '../../contexts/use-context-pack';
import { type Context, getWorkerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { PageHeader } from '../../ui/page-header';
import { EmptyList } from '../../ui/resource-list';
import { ResourceTable } from '../../ui/resource-table';
import { CONTEXT_COLUMNS } from './context-columns';
import { NewContextDialog } from './new-context-dialog';

const PAGE_SIZE = 200;

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
  const contexts = useQuery({
    queryKey: contextKeys.list(workspace?.id),
    queryFn: loadAllContexts,
    enabled: workspace !== undefined,
  });
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
          <EmptyList title="No contexts yet">
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
          </EmptyList>
        }
      />
      {isCreating && <NewContextDialog onClose={() => setCreating(false)} />}
    </>
  );
}

/** Loads all contexts, newest first. There are few, since each is created by hand. */
async function loadAllContexts(): Promise<Context[]> {
  const all: Context[] = [];
  for (;;) {
    const params = { query: { limit: PAGE_SIZE, offset: all.length } };
    const page = await unwrap((await getWorkerApi()).GET('/api/contexts', { params }));
    all.push(...page);
    if (page.length < PAGE_SIZE) return all;
  }
}
