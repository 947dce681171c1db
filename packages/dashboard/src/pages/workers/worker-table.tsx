import { Box, Button, Checkbox, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { RunStrip } from '../../runs/run-strip';
import type { WorkerItem } from '../../shell/api';
import { workerPath } from '../../shell/paths';
import table from '../../ui/data-table.module.css';
import { percent } from '../../ui/format';
import { PlayIcon } from '../../ui/icons';
import { Timestamp } from '../../ui/timestamp';
import { startsWhen } from '../../workers/trigger-words';
import { WorkerHealth } from '../../workers/worker-health';
import { type Column, successOf, type WorkerFilter } from './worker-filter';
import styles from './workers-page.module.css';

interface WorkerTableProps {
  workers: WorkerItem[];
  ownerNameOf: (worker: WorkerItem) => string;
  filter: WorkerFilter;
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
  onSort: (column: Column) => void;
  onTag: (tag: string) => void;
  onRun: (workerId: string) => void;
}

export function WorkerTable({
  workers,
  ownerNameOf,
  filter,
  chosen,
  onChoose,
  onSort,
  onTag,
  onRun,
}: WorkerTableProps) {
  const pausable = workers.filter(({ permissions, status }) => permissions.pause && status !== 'archived');
  const all = pausable.length > 0 && pausable.every(({ id }) => chosen.has(id));
  const sorted = { filter, onSort };
  return (
    <Box className="surface" pos="relative" style={{ containerType: 'inline-size' }}>
      <table className={`${table.table} ${styles.table}`}>
        <thead>
          <tr>
            {pausable.length > 0 && (
              <Box component="th" w="1%">
                <Checkbox
                  aria-label="Select all"
                  checked={all}
                  indeterminate={!all && pausable.some(({ id }) => chosen.has(id))}
                  onChange={() => onChoose(new Set(all ? [] : pausable.map(({ id }) => id)))}
                />
              </Box>
            )}
            <SortedHead column="name" label="Worker" {...sorted} />
            <SortedHead column="health" label="Health" {...sorted} />
            <th>Last runs</th>
            <SortedHead column="success" label="Success" {...sorted} />
            <SortedHead column="next" label="Next run" {...sorted} />
            <SortedHead column="owner" label="Owner" {...sorted} />
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
                      checked={chosen.has(worker.id)}
                      onChange={({ currentTarget: { checked } }) => {
                        const others = [...chosen].filter((id) => id !== worker.id);
                        onChoose(new Set(checked ? [...others, worker.id] : others));
                      }}
                    />
                  )}
                </Box>
              )}
              <td className={styles.what}>
                <Link className={styles.name} to={workerPath(worker.id)} data-row-link>
                  {worker.name}
                </Link>
                <Text className="wrap-anywhere" c="dimmed">
                  {startsWhen(worker.triggers)}
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
                <Success share={successOf(worker)} />
              </Box>
              <Box component="td" className={`${styles.next} nowrap tabular-nums`} fz="xs" c="dimmed">
                {worker.next_run_at !== null && <Timestamp at={Date.parse(worker.next_run_at)} />}
              </Box>
              <Box component="td" className={`${styles.owner} wrap-anywhere`} fz="xs" c="dimmed" maw="10rem">
                {ownerNameOf(worker)}
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

interface SortedHeadProps {
  column: Column;
  label: string;
  filter: WorkerFilter;
  onSort: (column: Column) => void;
}

function SortedHead({ column, label, filter, onSort }: SortedHeadProps) {
  const direction = filter.column !== column ? undefined : filter.descending ? 'descending' : 'ascending';
  return (
    <th aria-sort={direction}>
      <button type="button" className={styles.sort} data-direction={direction} onClick={() => onSort(column)}>
        {label}
      </button>
    </th>
  );
}

const Success = ({ share }: { share: number | null }) =>
  share !== null && (
    <>
      {percent(share)}
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
