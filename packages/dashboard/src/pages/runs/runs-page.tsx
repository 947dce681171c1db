import { Button, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { paths, workerRunPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { EmptyState } from '../../ui/empty-state';
import { DownloadIcon } from '../../ui/icons';
import { ErrorNotice, LoadErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { exportRuns } from './export-runs';
import { FilterBar } from './filter-bar';
import { RunBulkActionBar } from './run-bulk-action-bar';
import { RunList } from './run-list';
import type { RunRow } from './run-row';
import { hasFilters, parseRunsFilter, type RunsFilter, toSearchParams } from './runs-filter';
import { SavedFilterMenu } from './saved-filter-menu';
import { type NamedResource, useResourceNames } from './use-resource-names';
import { useRuns } from './use-runs';

/** Lists the runs of workers and automations together, newest first. */
export default function RunsPage() {
  useTitle('Runs');
  const workspace = useWorkspace();
  const [search, setSearch] = useSearchParams();
  const filter = useMemo(() => parseRunsFilter(search), [search]);
  const names = useResourceNames();
  const applyFilter = (next: RunsFilter) => setSearch(toSearchParams(next), { replace: true });
  const save = useMutation({ mutationFn: () => exportRuns(filter) });
  const searchText = `${toSearchParams(filter)}`;
  return (
    <>
      <PageHeader
        title="Runs"
        actions={
          <>
            {workspace && (
              <SavedFilterMenu
                workspaceId={workspace.id}
                search={searchText}
                onChoose={(saved) => setSearch(saved, { replace: true })}
              />
            )}
            <Button
              variant="default"
              leftSection={<DownloadIcon />}
              loading={save.isPending}
              onClick={() => save.mutate()}
            >
              Export CSV
            </Button>
          </>
        }
      />
      <ErrorNotice title="Runs not exported" error={save.error} />
      <FilterBar filter={filter} onChange={applyFilter} {...names} />
      {/* The search matches names, so a pasted run id gets a direct link. */}
      {filter.q?.startsWith('run_') && (
        <Text mb="sm" fz="sm">
          <Link to={workerRunPath(filter.q)}>Open run {filter.q}</Link>
        </Text>
      )}
      <FilteredRuns
        key={`${workspace?.id} ${searchText}`}
        workspaceId={workspace?.id}
        canChange={workspace !== undefined && workspace.role !== 'viewer'}
        filter={filter}
        names={names}
        onClear={() => applyFilter({})}
      />
    </>
  );
}

interface FilteredRunsProps {
  workspaceId: string | undefined;
  canChange: boolean;
  filter: RunsFilter;
  names: { workers: NamedResource[]; automations: NamedResource[] };
  onClear: () => void;
}

const NO_KEYS: ReadonlySet<string> = new Set();

function FilteredRuns({ workspaceId, canChange, filter, names, onClear }: FilteredRunsProps) {
  const { rows, error, retry, hasOlder, loadOlder } = useRuns(workspaceId, filter);
  const [selected, setSelected] = useState(NO_KEYS);
  const getName = useNameLookup(names);
  const selectedRows = useMemo(() => rows?.filter(({ key }) => selected.has(key)) ?? [], [rows, selected]);
  if (error && !rows?.length) return <LoadErrorNotice what="The runs" error={error} retry={retry} />;
  if (!rows) return <LoadingRuns />;
  if (rows.length === 0 && !hasOlder) return <NoRuns isFiltered={hasFilters(filter)} onClear={onClear} />;
  return (
    <>
      {selectedRows.length > 0 && <RunBulkActionBar selected={selectedRows} onClear={() => setSelected(NO_KEYS)} />}
      {error && <LoadErrorNotice what="Older runs" error={error} retry={retry} />}
      <RunList
        rows={rows}
        hasOlder={hasOlder && !error}
        onLoadOlder={loadOlder}
        getName={getName}
        selection={canChange ? { keys: selected, onChange: setSelected } : null}
      />
    </>
  );
}

/** Returns a function from a row to its name, or its id if the name is unknown. */
function useNameLookup({ workers, automations }: FilteredRunsProps['names']): (row: RunRow) => string {
  return useMemo(() => {
    const indexNamesById = (all: NamedResource[]) => new Map(all.map(({ id, name }) => [id, name]));
    const namesById = { worker: indexNamesById(workers), automation: indexNamesById(automations) };
    return ({ surface, subjectId }) => namesById[surface].get(subjectId) ?? subjectId;
  }, [workers, automations]);
}

function NoRuns({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered) {
    return (
      <EmptyState title="No matching runs" level={2}>
        <p>Change or clear the filters to see more runs.</p>
        <p>
          <Button variant="default" onClick={onClear}>
            Clear filters
          </Button>
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No runs yet" level={2}>
      <p>Worker and automation runs appear here with their logs and results.</p>
      <p>
        <Link to={paths.workers}>View workers</Link>
      </p>
    </EmptyState>
  );
}

const SKELETON_ROWS = 8;

const LoadingRuns = () => (
  <Stack
    className="surface"
    gap="md"
    h="max(22rem, calc(100dvh - 19rem))"
    p="md"
    style={{ overflow: 'hidden' }}
    aria-busy="true"
  >
    <p className="visually-hidden" role="status">
      Loading runs…
    </p>
    {Array.from({ length: SKELETON_ROWS }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike.
      <Skeleton key={index} height={28} />
    ))}
  </Stack>
);
