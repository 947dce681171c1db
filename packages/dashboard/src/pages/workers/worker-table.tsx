import { Box, Button, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { RunStrip } from '../../runs/run-strip';
import type { WorkerItem } from '../../shell/api';
import { workerPath } from '../../shell/paths';
import { DataTable } from '../../ui/data-table';
import { formatPercent } from '../../ui/format';
import { PlayIcon } from '../../ui/icons';
import type { Column } from '../../ui/table-model';
import { buildTimeColumn } from '../../ui/time-column';
import { Timestamp } from '../../ui/timestamp';
import { formatTriggers } from '../../workers/trigger-descriptions';
import { WorkerHealthChip } from '../../workers/worker-health';
import { BulkActionBar } from './bulk-action-bar';
import {
  COLUMN_HEADERS,
  computeSuccessRate,
  getHealthRank,
  type SortableColumn,
  type WorkerFilter,
} from './worker-filter';
import styles from './workers-page.module.css';

/** Rows shown at first and added by each press of the button. */
const ROWS_SHOWN = 50;

interface WorkerTableProps {
  workers: WorkerItem[];
  getOwnerName: (worker: WorkerItem) => string;
  filter: WorkerFilter;
  onFilter: (part: Partial<WorkerFilter>) => void;
  onRun: (workerId: string) => void;
}

const SORTABLE_COLUMNS = Object.keys(COLUMN_HEADERS) as SortableColumn[];

export function WorkerTable({ workers, getOwnerName, filter, onFilter, onRun }: WorkerTableProps) {
  const { name, health, success, next, owner } = COLUMN_HEADERS;
  const columns: Column<WorkerItem>[] = [
    {
      head: name,
      className: styles.what,
      sortBy: (worker) => worker.name,
      cell: (worker) => <WorkerName worker={worker} onTag={(tag) => onFilter({ tag })} />,
    },
    {
      head: health,
      className: styles.health,
      sortBy: getHealthRank,
      cell: (worker) => <WorkerHealthChip worker={worker} />,
    },
    { head: 'Recent runs', className: styles.runs, cell: (worker) => <LastRuns worker={worker} /> },
    {
      head: success,
      className: `${styles.success} nowrap tabular-nums`,
      sortBy: computeSuccessRate,
      cell: (worker) => <SuccessRate share={computeSuccessRate(worker)} />,
    },
    buildTimeColumn(next, ({ next_run_at }) => next_run_at, {
      isLabelled: false,
      className: `${styles.next} tabular-nums`,
    }),
    {
      head: owner,
      className: `${styles.owner} wrap-anywhere`,
      hidesBelow: 'wide',
      sortBy: getOwnerName,
      cell: getOwnerName,
    },
    {
      head: 'Run',
      isActions: true,
      className: styles.run,
      cell: (worker) =>
        worker.permissions.run &&
        worker.status === 'active' && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Run ${worker.name}`}
            leftSection={<PlayIcon />}
            onClick={() => onRun(worker.id)}
          >
            Run
          </Button>
        ),
    },
  ];
  return (
    <DataTable
      label="Workers"
      columns={columns}
      rows={workers}
      getKey={({ id }) => id}
      isCard
      stacks
      pageSize={ROWS_SHOWN}
      sort={{ head: COLUMN_HEADERS[filter.column], descending: filter.descending }}
      onSort={(sort) =>
        onFilter({
          column: SORTABLE_COLUMNS.find((column) => COLUMN_HEADERS[column] === sort?.head) ?? 'name',
          descending: sort?.descending ?? false,
        })
      }
      selection={{
        canSelect: ({ permissions, status }) => permissions.pause && status !== 'archived',
        getLabel: (worker) => worker.name,
        actions: (selectedWorkers, clear) => <BulkActionBar workers={selectedWorkers} onClear={clear} />,
      }}
    />
  );
}

function WorkerName({ worker, onTag }: { worker: WorkerItem; onTag: (tag: string) => void }) {
  return (
    <>
      <Box component={Link} className="title-link" fz="md" to={workerPath(worker.id)} data-row-link>
        {worker.name}
      </Box>
      <Text className="wrap-anywhere" fz="sm" c="dimmed">
        {formatTriggers(worker.triggers)}
      </Text>
      {worker.tags.length > 0 && (
        <Group component="p" gap={4} align="stretch" mt={4}>
          {worker.tags.map((tag) => (
            <button
              key={tag}
              type="button"
              className={styles.tag}
              aria-label={`Show only workers tagged ${tag}`}
              onClick={() => onTag(tag)}
            >
              {tag}
            </button>
          ))}
        </Group>
      )}
    </>
  );
}

const SuccessRate = ({ share }: { share: number | null }) =>
  share !== null && (
    <>
      {formatPercent(share)}
      <span className={styles.unit}> succeeded</span>
    </>
  );

function LastRuns({ worker: { recent_runs: runs = [] } }: { worker: WorkerItem }) {
  const [last] = runs;
  if (!last)
    return (
      <Text span fz="xs" c="dimmed">
        No runs yet
      </Text>
    );
  return (
    <>
      <RunStrip
        small
        runs={runs.map(({ id, status, duration_ms }) => ({ runId: id, status, durationMs: duration_ms }))}
      />
      <Box component="span" fz="xs" c="dimmed" display="block" mt={2}>
        <Timestamp at={Date.parse(last.created_at)} />
      </Box>
    </>
  );
}
