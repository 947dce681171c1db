import { Box, Button, Text } from '@mantine/core';
import { Link } from 'react-router';
import { RunStatusChip, toRunStatusDetails } from '../../runs/run-status';
import { useRecentRuns } from '../../runs/use-recent-runs';
import { useRunStarterLabel } from '../../runs/use-run-starter-label';
import type { Worker, WorkerRunItem } from '../../shell/api';
import { runsPath, workerRunPath } from '../../shell/paths';
import { EmptyState } from '../../ui/empty-state';
import { formatDuration } from '../../ui/format';
import links from '../../ui/link-row.module.css';
import { Panel } from '../../ui/panel';
import { ResourceList } from '../../ui/resource-list';
import { Timestamp } from '../../ui/timestamp';
import type { Inputs } from '../../workers/use-sample-inputs';
import styles from './worker-page.module.css';

const RUNS_SHOWN = 20;

interface RecentRunsProps {
  worker: Worker;
  onReuse: (inputs: Inputs) => void;
}

export function RecentRuns({ worker, onReuse }: RecentRunsProps) {
  const runs = useRecentRuns(worker.id, { limit: RUNS_SHOWN });
  return (
    <Panel
      title="Recent runs"
      aside={runs.data?.length === RUNS_SHOWN && <Link to={runsPath({ worker: worker.id })}>All runs</Link>}
    >
      <ResourceList
        what="The runs"
        query={runs}
        items={runs.data}
        height={320}
        empty={
          <EmptyState title="No runs yet">
            <p>Use the form to start a run. Runs appear here with their logs, inputs and outputs.</p>
          </EmptyState>
        }
      >
        {(runList) => (
          <Box component="ol" style={{ containerType: 'inline-size' }}>
            {runList.map((run) => (
              <RecentRunRow key={run.id} run={run} onReuse={worker.permissions.run ? onReuse : undefined} />
            ))}
          </Box>
        )}
      </ResourceList>
    </Panel>
  );
}

function RecentRunRow({ run, onReuse }: { run: WorkerRunItem; onReuse: RecentRunsProps['onReuse'] | undefined }) {
  const { input } = run;
  const getStarter = useRunStarterLabel();
  return (
    <li className={`${links.row} ${links.small} ${styles.row}`}>
      <RunStatusChip {...toRunStatusDetails(run)} />
      <span className={styles.what}>
        <Link className={`${links.link} stretched-link`} to={workerRunPath(run.id)}>
          <Timestamp at={Date.parse(run.started_at ?? run.created_at)} />
        </Link>
      </span>
      <Text span className={styles.fact} fz="xs" c="dimmed">
        {getStarter({ trigger: run.trigger, createdBy: run.created_by })}
      </Text>
      <Text span className={styles.fact} fz="xs" c="dimmed">
        {run.worker_version !== null && `Version ${run.worker_version}`}
      </Text>
      <Text span className="tabular-nums" fz="xs" c="dimmed" ta="end">
        {run.duration_ms !== null && formatDuration(run.duration_ms)}
      </Text>
      {onReuse && input !== null && Object.keys(input).length > 0 && (
        <Button
          className={`${links.above} ${styles.reuse}`}
          size="compact-xs"
          variant="subtle"
          onClick={() => onReuse(input)}
        >
          Use these inputs
        </Button>
      )}
      {run.error !== null && (
        <Text className={styles.error} fz="xs" c="dimmed" truncate>
          {run.error}
        </Text>
      )}
    </li>
  );
}
