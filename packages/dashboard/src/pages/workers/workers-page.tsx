import { Button, Group, NativeSelect, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import type { WorkerItem } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { paths } from '../../shell/paths';
import { useShortcuts } from '../../shell/shortcuts';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { bindChoice, bindText } from '../../ui/bind';
import { EmptyState } from '../../ui/empty-state';
import { LoadErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { SearchField } from '../../ui/search-field';
import { useMemberNames } from '../../workers/use-member-names';
import { EmptyWorkerList } from './empty-worker-list';
import { useWorkers, WORKERS_MAX } from './use-workers';
import {
  filterWorkers,
  listTags,
  parseWorkerFilter,
  STATUS_LABELS,
  type Status,
  toSearchParams,
  type WorkerFilter,
} from './worker-filter';
import { WorkerTable } from './worker-table';
import { WorkerTableSkeleton } from './worker-table-skeleton';

const RunDialog = lazy(() => import('../../workers/run-dialog'));

export default function WorkersPage() {
  useTitle('Workers');
  const navigate = useNavigate();
  const canCreate = (useWorkspace()?.role ?? 'viewer') !== 'viewer';
  useShortcuts('Workers', [
    { keys: 'j', description: 'Next worker', run: () => focusRow(1) },
    { keys: 'k', description: 'Previous worker', run: () => focusRow(-1) },
    ...(canCreate
      ? [
          { keys: 'x', description: 'Select worker', run: toggleRow },
          { keys: 'n', description: 'New worker', run: () => navigate(paths.newWorker) },
        ]
      : []),
  ]);
  const [search, setSearch] = useSearchParams();
  const filter = parseWorkerFilter(search);
  const updateFilter = (part: Partial<WorkerFilter>) =>
    setSearch(toSearchParams({ ...filter, ...part }), { replace: true });
  const { data: workers, error, refetch } = useWorkers({ archived: filter.status === 'archived' });
  return (
    <>
      <PageHeader title="Workers" actions={canCreate && <LinkButton to={paths.newWorker}>New worker</LinkButton>} />
      {error && !workers ? (
        <LoadErrorNotice what="The workers" error={error} retry={refetch} />
      ) : workers?.length === 0 && filter.status === '' ? (
        <EmptyWorkerList canCreate={canCreate} onArchived={() => updateFilter({ status: 'archived' })} />
      ) : (
        <>
          <WorkerFilters filter={filter} tags={listTags(workers ?? [])} onChange={updateFilter} />
          {workers ? (
            <FilteredWorkers workers={workers} filter={filter} onChange={updateFilter} />
          ) : (
            <WorkerTableSkeleton />
          )}
        </>
      )}
    </>
  );
}

const listRowLinks = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('tbody [data-row-link]')];

/** Moves the focus to the next or previous row, or to the first if none has it. */
function focusRow(step: 1 | -1): void {
  const links = listRowLinks();
  const row = document.activeElement?.closest('tr');
  const index = links.findIndex((link) => row?.contains(link));
  links[Math.min(Math.max(index + step, 0), links.length - 1)]?.focus();
}

/** Toggles the selection of the focused row by a click on its checkbox. */
const toggleRow = (): void =>
  document.activeElement?.closest('tr')?.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click();

interface WorkerFiltersProps {
  filter: WorkerFilter;
  tags: string[];
  onChange: (part: Partial<WorkerFilter>) => void;
}

function WorkerFilters({ filter, tags, onChange }: WorkerFiltersProps) {
  return (
    <Group component="search" gap="sm" align="stretch" mb="md">
      <SearchField
        flex="1 1 18rem"
        maw="28rem"
        label="Search workers"
        placeholder="Search by name, description or tag"
        value={filter.q}
        onChange={(q) => onChange({ q })}
      />
      <NativeSelect
        aria-label="Status"
        {...bindChoice<Status>(filter.status, (status) => onChange({ status }))}
        data={Object.entries(STATUS_LABELS).map(([value, label]) => ({ value, label }))}
      />
      {(tags.length > 0 || filter.tag !== '') && (
        <NativeSelect
          aria-label="Tag"
          {...bindText(filter.tag, (tag) => onChange({ tag }))}
          data={[{ value: '', label: 'Any tag' }, ...[...new Set([...tags, filter.tag])].filter((tag) => tag !== '')]}
        />
      )}
    </Group>
  );
}

interface FilteredWorkersProps {
  workers: WorkerItem[];
  filter: WorkerFilter;
  onChange: (part: Partial<WorkerFilter>) => void;
}

function FilteredWorkers({ workers, filter, onChange }: FilteredWorkersProps) {
  const [dialogWorkerId, setDialogWorkerId] = useState<string | null>(null);
  const names = useMemberNames();
  const getOwnerName = ({ owner_id: id }: WorkerItem) => (id !== null && names?.get(id)) || (names ? 'API token' : '');
  const matches = filterWorkers(workers, filter);
  if (matches.length === 0) {
    return (
      <EmptyState title="No matching workers" level={2}>
        <p>Try a shorter search or a different status. Search covers names, IDs, descriptions and tags.</p>
        <p>
          <Button variant="default" onClick={() => onChange({ q: '', status: '', tag: '' })}>
            Show all workers
          </Button>
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      <p className="visually-hidden" role="status">
        {matches.length} {matches.length === 1 ? 'worker' : 'workers'}
      </p>
      <WorkerTable
        workers={matches}
        getOwnerName={getOwnerName}
        filter={filter}
        onFilter={onChange}
        onRun={setDialogWorkerId}
      />
      {workers.length >= WORKERS_MAX && (
        <Text mt="sm" fz="sm" c="dimmed">
          Showing the {WORKERS_MAX} newest workers. To find others, use the search at the top of the page.
        </Text>
      )}
      {dialogWorkerId !== null && (
        <Suspense>
          <RunDialog workerId={dialogWorkerId} onClose={() => setDialogWorkerId(null)} />
        </Suspense>
      )}
    </>
  );
}
