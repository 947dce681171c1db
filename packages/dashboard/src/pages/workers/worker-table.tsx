import { Box, Button, Checkbox, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { RunStrip } from '../../runs/run-strip';
import type { WorkerItem } from '../../shell/api';
import { workerPath } from '../../shell/paths';
import table from '../../ui/data-table.module.css';
import { formatPercent } from '../../ui/format';
import { PlayIcon } from '../../ui/icons';
import { Timestamp } from '../../ui/timestamp';
import { triggersLabel } from '../../workers/trigger-descriptions';
import { WorkerHealth } from '../../workers/worker-health';
import { type Column, computeSuccessRate, type WorkerFilter } from './worker-filter';
import styles from './workers-page.module.css';

interface WorkerTableProps {
  workers: WorkerItem[];
  getOwnerName: (worker: WorkerItem) => string;
  filter: WorkerFilter;
  selectedIds: ReadonlySet<string>;
  onSelect: (selectedIds: ReadonlySet<string>) => void;
  onSort: (column: Column) => void;
  onTag: (tag: string) => void;
  onRun: (workerId: string) => void;
}

export function WorkerTable({
  workers,
  getOwnerName,
  filter,
  selectedIds,
  onSelect,
  onSort,
  onTag,
  onRun,
}: WorkerTableProps) {
  const pausable = workers.filter(({ permissions, status }) => permissions.pause && status !== 'archived');
  const isAllSelected = pausable.length > 0 && pausable.every(({ id }) => selectedIds.has(id));
  const sortProps = { filter, onSort };
  return (
    <Box className="surface" pos="relative" style={{ containerType: 'inline-size' }}>
      <table className={`${table.table} ${styles.table}`}>
        <thead>
          <tr>
            {pausable.length > 0 && (
              <Box component="th" w="1%">
                <Checkbox
                  aria-label="Select all"
                  checked={isAllSelected}
                  indeterminate={!isAllSelected && pausable.some(({ id }) => selectedIds.has(id))}
                  onChange={() => onSelect(new Set(isAllSelected ? [] : pausable.map(({ id }) => id)))}
                />
              </Box>
            )}
            <SortableHeader column="name" label="Worker" {...sortProps} />
            <SortableHeader column="health" label="Health" {...sortProps} />
            <th>Last runs</th>
            <SortableHeader column="success" label="Success" {...sortProps} />
            <SortableHeader column="next" label="Next run" {...sortProps} />
            <SortableHeader column="owner" label="Owner" {...sortProps} />
            <th>
              <span className="visually-hidden">Run</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.id}>
              {pausable.length > 0 && (
                <Box component="td" w="1%">
                  {pausable.includes(worker) && (
                    <Checkbox
                      aria-label={`Select ${worker.name}`}
                      checked={selectedIds.has(worker.id)}
                      onChange={({ currentTarget: { checked } }) => {
                        const others = [...selectedIds].filter((id) => id !== worker.id);
                        onSelect(new Set(checked ? [...others, worker.id] : others));
                      }}
                    />
                  )}
                </Box>
              )}
              <td className={styles.what}>
                <Box component={Link} className="title-link" fz="md" to={workerPath(worker.id)} data-row-link>
                  {worker.name}
                </Box>
                <Text className="wrap-anywhere" c="dimmed">
                  {triggersLabel(worker.triggers)}
                </Text>
                {worker.tags.length > 0 && (
                  <Group component="p" gap={4} align="stretch" mt={4}>
                    {worker.tags.map((tag) => (
                      <button
                        key={tag}
                        type="button"
                        className={styles.tag}
                        aria-label={`Only workers tagged ${tag}`}
                        onClick={() => onTag(tag)}
                      >
                        {tag}
                      </button>
                    ))}
                  </Group>
                )}
              </td>
              <td className={styles.health}>
                <WorkerHealth worker={worker} />
              </td>
              <td className={styles.runs}>
                <LastRuns worker={worker} />
              </td>
              <Box component="td" className={`${styles.success} nowrap tabular-nums`}>
                <SuccessRate share={computeSuccessRate(worker)} />
              </Box>
              <Box component="td" className={`${styles.next} nowrap tabular-nums`} fz="xs" c="dimmed">
                {worker.next_run_at !== null && <Timestamp at={Date.parse(worker.next_run_at)} />}
              </Box>
              <Box component="td" className={`${styles.owner} wrap-anywhere`} fz="xs" c="dimmed" maw="10rem">
                {getOwnerName(worker)}
              </Box>
              <td className={styles.run}>
                {worker.permissions.run && worker.status === 'active' && (
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Run ${worker.name}`}
                    leftSection={<PlayIcon />}
                    onClick={() => onRun(worker.id)}
                  >
                    Run
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Box>
  );
}

interface SortableHeaderProps {
  column: Column;
  label: string;
  filter: WorkerFilter;
  onSort: (column: Column) => void;
}

function SortableHeader({ column, label, filter, onSort }: SortableHeaderProps) {
  const direction = filter.column !== column ? undefined : filter.descending ? 'descending' : 'ascending';
  return (
    <th aria-sort={direction}>
      <button type="button" className={styles.sort} data-direction={direction} onClick={() => onSort(column)}>
        {label}
      </button>
    </th>
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
        None yet
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
