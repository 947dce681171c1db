import { unwrap } from '@gantry/api-client';
import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { RunStatusChip, shownStatus } from '../../runs/run-status';
import { useStarter } from '../../runs/use-starter';
import { type Worker, type WorkerRunItem, workerApi } from '../../shell/api';
import { runsPath, workerRunPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { Empty } from '../../ui/empty';
import { duration } from '../../ui/format';
import { FailedToLoad } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import type { Inputs } from '../../workers/run-form';
import styles from './worker-page.module.css';

const RUNS_SHOWN = 20;

interface RecentRunsProps {
  worker: Worker;
  onReuse: (inputs: Inputs) => void;
}

export function RecentRuns({ worker, onReuse }: RecentRunsProps) {
  const workspaceId = useWorkspace()?.id;
  const {
    data: runs,
    error,
    refetch,
  } = useQuery({
    queryKey: ['runs', workspaceId, 'of-worker', worker.id, 'recent'],
    queryFn: async () =>
      unwrap(
        (await workerApi()).GET('/api/workers/{worker_id}/runs', {
          params: { path: { worker_id: worker.id }, query: { limit: RUNS_SHOWN } },
        }),
      ),
  });
  return (
    <Panel
      title="Recent runs"
      aside={runs?.length === RUNS_SHOWN && <Link to={runsPath({ worker: worker.id })}>All runs</Link>}
    >
      {runs?.length === 0 ? (
        <Empty title="It has not run yet">
          <p>Run it with the form. Every run is kept here with its log, inputs and outputs.</p>
        </Empty>
      ) : runs ? (
        <ol className={styles.runs}>
          {runs.map((run) => (
            <Row key={run.id} run={run} onReuse={worker.permissions.run ? onReuse : undefined} />
          ))}
        </ol>
      ) : error ? (
        <FailedToLoad what="The runs" error={error} retry={refetch} />
      ) : (
        <Skeleton height={320} />
      )}
    </Panel>
  );
}

function Row({ run, onReuse }: { run: WorkerRunItem; onReuse: RecentRunsProps['onReuse'] | undefined }) {
  const { input } = run;
  const starterOf = useStarter();
  return (
    <li className={styles.row}>
      <RunStatusChip {...shownStatus(run)} />
      <span className={styles.what}>
        <Link className={styles.link} to={workerRunPath(run.id)}>
          <Timestamp at={Date.parse(run.started_at ?? run.created_at)} />
        </Link>
      </span>
      <span className={styles.fact}>{starterOf({ trigger: run.trigger, createdBy: run.created_by })}</span>
      <span className={styles.fact}>{run.worker_version !== null && `Version ${run.worker_version}`}</span>
      <span className={styles.duration}>{run.duration_ms !== null && duration(run.duration_ms)}</span>
      {onReuse && input !== null && Object.keys(input).length > 0 && (
        <Button className={styles.reuse} size="compact-xs" variant="subtle" onClick={() => onReuse(input)}>
          Use these inputs
        </Button>
      )}
      {run.error !== null && <p className={styles.error}>{run.error}</p>}
    </li>
  );
}
