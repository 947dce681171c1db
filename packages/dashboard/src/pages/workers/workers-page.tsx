import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import type { WorkerItem } from '../../shell/api';
import { useShortcuts } from '../../shell/keys';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Empty } from '../../ui/empty';
import { SearchIcon } from '../../ui/icons';
import { FailedToLoad } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { useMemberNames } from '../../workers/use-member-names';
import { ChosenBar } from './chosen-bar';
import { FirstWorker } from './first-worker';
import { LoadingTable } from './loading-table';
import { useWorkers, WORKERS_MAX } from './use-workers';
import {
  filterWorkers,
  readFilter,
  STATUSES,
  type Status,
  tagsOf,
  type WorkerFilter,
  writeFilter,
} from './worker-filter';
import { WorkerTable } from './worker-table';
import styles from './workers-page.module.css';

const RunDialog = lazy(() => import('../../workers/run-dialog'));

const ROWS_SHOWN = 50;

export default function WorkersPage() {
  useTitle('Workers');
  const navigate = useNavigate();
  const mayMake = (useWorkspace()?.role ?? 'viewer') !== 'viewer';
  useShortcuts('Workers', [
    { keys: 'j', words: 'Next worker', run: () => focusRow(1) },
    { keys: 'k', words: 'Previous worker', run: () => focusRow(-1) },
    ...(mayMake
      ? [
          { keys: 'x', words: 'Choose the worker', run: chooseRow },
          { keys: 'n', words: 'New worker', run: () => navigate(paths.newWorker) },
        ]
      : []),
  ]);
  const [search, setSearch] = useSearchParams();
  const filter = readFilter(search);
  const change = (part: Partial<WorkerFilter>) => setSearch(writeFilter({ ...filter, ...part }), { replace: true });
  const { data: workers, error, refetch } = useWorkers({ archived: filter.status === 'archived' });
  return (
    <>
      <PageHead
        title="Workers"
        actions={
          mayMake && (
            <Button component={Link} to={paths.newWorker}>
              New worker
            </Button>
          )
        }
      />
      {error && !workers ? (
        <FailedToLoad what="The list" error={error} retry={refetch} />
      ) : workers?.length === 0 && filter.status === '' ? (
        <FirstWorker mayMake={mayMake} onArchived={() => change({ status: 'archived' })} />
      ) : (
        <>
          <Filters filter={filter} tags={tagsOf(workers ?? [])} onChange={change} />
          {workers ? <Found workers={workers} filter={filter} onChange={change} /> : <LoadingTable />}
        </>
      )}
    </>
  );
}

const rowLinks = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('tbody [data-row-link]')];

/** Moves the focus to the next or previous row, or to the first if none has it. */
function focusRow(step: 1 | -1): void {
  const links = rowLinks();
  const row = document.activeElement?.closest('tr');
  const at = links.findIndex((link) => row?.contains(link));
  links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}

/** Toggles the selection of the focused row by a click on its checkbox. */
const chooseRow = (): void =>
  document.activeElement?.closest('tr')?.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click();

interface FiltersProps {
  filter: WorkerFilter;
  tags: string[];
  onChange: (part: Partial<WorkerFilter>) => void;
}

function Filters({ filter, tags, onChange }: FiltersProps) {
  return (
    <search className={styles.filters}>
      <TextInput
        flex="1 1 18rem"
        maw="28rem"
        type="search"
        aria-label="Search workers"
        placeholder="Search by name, description or tag"
        leftSection={<SearchIcon />}
        value={filter.q}
        onChange={(event) => onChange({ q: event.currentTarget.value })}
      />
      <NativeSelect
        aria-label="Status"
        value={filter.status}
        onChange={(event) => onChange({ status: event.currentTarget.value as Status })}
        data={Object.entries(STATUSES).map(([value, label]) => ({ value, label }))}
      />
      {(tags.length > 0 || filter.tag !== '') && (
        <NativeSelect
          aria-label="Tag"
          value={filter.tag}
          onChange={(event) => onChange({ tag: event.currentTarget.value })}
          data={[{ value: '', label: 'Any tag' }, ...[...new Set([...tags, filter.tag])].filter((tag) => tag !== '')]}
        />
      )}
    </search>
  );
}

interface FoundProps {
  workers: WorkerItem[];
  filter: WorkerFilter;
  onChange: (part: Partial<WorkerFilter>) => void;
}

function Found({ workers, filter, onChange }: FoundProps) {
  const [shown, setShown] = useState(ROWS_SHOWN);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [running, setRunning] = useState<string | null>(null);
  const names = useMemberNames();
  const ownerNameOf = useMemo(
    () =>
      ({ owner_id: id }: WorkerItem) =>
        (id !== null && names?.get(id)) || (names ? 'A token' : ''),
    [names],
  );
  const found = filterWorkers(workers, filter, ownerNameOf);
  if (found.length === 0) {
    return (
      <Empty title="No matching workers" level={2}>
        <p>The search looks at names, ids, descriptions and tags. Try fewer letters, or another status.</p>
        <p>
          <Button variant="default" onClick={() => onChange({ q: '', status: '', tag: '' })}>
            Show all workers
          </Button>
        </p>
      </Empty>
    );
  }
  const rows = found.slice(0, shown);
  const picked = found.filter(({ id }) => chosen.has(id));
  return (
    <>
      <p className="visually-hidden" role="status">
        {found.length} {found.length === 1 ? 'worker' : 'workers'}
      </p>
      <ChosenBar workers={picked} onClear={() => setChosen(new Set())} />
      <WorkerTable
        workers={rows}
        ownerNameOf={ownerNameOf}
        filter={filter}
        chosen={chosen}
        onChoose={setChosen}
        onSort={(column) => onChange({ column, descending: filter.column === column && !filter.descending })}
        onTag={(tag) => onChange({ tag })}
        onRun={setRunning}
      />
      {found.length > shown && (
        <Button variant="default" mt="md" onClick={() => setShown(shown + ROWS_SHOWN)}>
          Show {Math.min(ROWS_SHOWN, found.length - shown)} more of {found.length}
        </Button>
      )}
      {workers.length >= WORKERS_MAX && (
        <Text mt="sm" fz="sm" c="dimmed">
          These are the newest {WORKERS_MAX}. The search at the top of the page finds all.
        </Text>
      )}
      {running !== null && (
        <Suspense>
          <RunDialog workerId={running} onClose={() => setRunning(null)} />
        </Suspense>
      )}
    </>
  );
}
