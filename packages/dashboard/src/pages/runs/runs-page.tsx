import { Button, Skeleton, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { paths, workerRunPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Empty } from '../../ui/empty';
import { DownloadIcon } from '../../ui/icons';
import { FailedToLoad, Failure } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { BulkBar } from './bulk-bar';
import { exportRuns } from './export-runs';
import { FilterBar } from './filter-bar';
import { RunList } from './run-list';
import type { RunRow } from './run-row';
import { filterIn, isNarrowed, type RunsFilter, searchOf } from './runs-filter';
import styles from './runs-page.module.css';
import { SavedFilterMenu } from './saved-filter-menu';
import { type Named, useNames } from './use-names';
import { useRuns } from './use-runs';

/** Lists the runs of workers and automations together, newest first. */
export default function RunsPage() {
  useTitle('Runs');
  const workspace = useWorkspace();
  const [search, setSearch] = useSearchParams();
  const filter = useMemo(() => filterIn(search), [search]);
  const names = useNames(workspace?.id);
  const choose = (next: RunsFilter) => setSearch(searchOf(next), { replace: true });
  const save = useMutation({ mutationFn: () => exportRuns(filter) });
  const address = `${searchOf(filter)}`;
  return (
    <>
      <PageHead
        title="Runs"
        actions={
          <>
            {workspace && (
              <SavedFilterMenu
                workspaceId={workspace.id}
                search={address}
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
      <Failure title="Not exported" error={save.error} />
      <FilterBar filter={filter} onChange={choose} {...names} />
      {/* The search matches names, so a pasted run id gets a direct link. */}
      {filter.q?.startsWith('run_') && (
        <Text mb="sm" fz="sm">
          <Link to={workerRunPath(filter.q)}>Open the run {filter.q}</Link>
        </Text>
      )}
      <FilteredRuns
        key={`${workspace?.id} ${address}`}
        workspaceId={workspace?.id}
        mayChange={workspace !== undefined && workspace.role !== 'viewer'}
        filter={filter}
        names={names}
        onClear={() => choose({})}
      />
    </>
  );
}

interface FilteredRunsProps {
  workspaceId: string | undefined;
  mayChange: boolean;
  filter: RunsFilter;
  names: { workers: Named[]; automations: Named[] };
  onClear: () => void;
}

const NONE: ReadonlySet<string> = new Set();

function FilteredRuns({ workspaceId, mayChange, filter, names, onClear }: FilteredRunsProps) {
  const { rows, error, retry, hasOlder, readOlder } = useRuns(workspaceId, filter);
  const [selected, setSelected] = useState(NONE);
  const nameOf = useNameOf(names);
  const chosen = useMemo(() => rows?.filter(({ key }) => selected.has(key)) ?? [], [rows, selected]);
  if (error && !rows?.length) return <FailedToLoad what="The list of runs" error={error} retry={retry} />;
  if (!rows) return <Loading />;
  if (rows.length === 0 && !hasOlder) return <NoRuns narrowed={isNarrowed(filter)} onClear={onClear} />;
  return (
    <>
      {chosen.length > 0 && <BulkBar workspaceId={workspaceId} selected={chosen} onClear={() => setSelected(NONE)} />}
      {error && <FailedToLoad what="Older runs" error={error} retry={retry} />}
      <RunList
        rows={rows}
        hasOlder={hasOlder && !error}
        onOlder={readOlder}
        nameOf={nameOf}
        selection={mayChange ? { keys: selected, onChange: setSelected } : null}
      />
    </>
  );
}

/** Returns a function from a row to its name, or its id if the name is unknown. */
function useNameOf({ workers, automations }: FilteredRunsProps['names']): (row: RunRow) => string {
  return useMemo(() => {
    const byId = (all: Named[]) => new Map(all.map(({ id, name }) => [id, name]));
    const known = { worker: byId(workers), automation: byId(automations) };
    return ({ surface, subjectId }) => known[surface].get(subjectId) ?? subjectId;
  }, [workers, automations]);
}

function NoRuns({ narrowed, onClear }: { narrowed: boolean; onClear: () => void }) {
  if (narrowed) {
    return (
      <Empty title="No matching runs" level={2}>
        <p>No runs in the history match the filters.</p>
        <p>
          <Button variant="default" onClick={onClear}>
            Clear filters
          </Button>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has run yet" level={2}>
      <p>Every run of a worker or an automation is listed here, with its log and its result.</p>
      <p>
        <Link to={paths.workers}>Choose a worker and run it</Link>
      </p>
    </Empty>
  );
}

const SKELETON_ROWS = 8;

const Loading = () => (
  <div className={styles.loading} aria-busy="true">
    <p className="visually-hidden" role="status">
      Loading the runs
    </p>
    {Array.from({ length: SKELETON_ROWS }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike.
      <Skeleton key={index} height={28} />
    ))}
  </div>
);
