import { Link } from 'react-router';
import { describeSandbox } from '../../runs/describe-sandbox';
import { useRunStarterLabel } from '../../runs/use-run-starter-label';
import type { WorkerRun } from '../../shell/api';
import { workerPath, workerRunPath } from '../../shell/paths';
import { type Detail, DetailList } from '../../ui/detail-list';
import { formatDollars, formatDuration, formatFileSize } from '../../ui/format';
import { Timestamp } from '../../ui/timestamp';

/** @param hasWorker whether its worker still exists */
export function RunDetails({ run, hasWorker }: { run: WorkerRun; hasWorker: boolean }) {
  const getStarter = useRunStarterLabel();
  const details: Detail[] = [
    ['Started by', getStarter({ trigger: run.trigger, createdBy: run.created_by })],
    ['Created', <Timestamp key="created" at={Date.parse(run.created_at)} />],
    ['Started', run.started_at !== null && <Timestamp key="started" at={Date.parse(run.started_at)} />],
    ['Ended', run.completed_at !== null && <Timestamp key="ended" at={Date.parse(run.completed_at)} />],
    ['Attempt', run.attempt > 1 && run.attempt],
    ['Cost', run.total_cost_usd > 0 && formatDollars(run.total_cost_usd)],
    ['CPU time', run.cpu_ms !== null && formatDuration(run.cpu_ms)],
    ['Peak memory', run.max_memory_bytes !== null && formatFileSize(run.max_memory_bytes)],
    ['Sandbox', run.sandbox !== null && describeSandbox(run.sandbox)],
    ['From run', run.parent_run_id !== null && <ParentRunLink key="parent" runId={run.parent_run_id} />],
    [
      'Worker',
      hasWorker ? (
        <Link key="worker" to={workerPath(run.worker_id)}>
          {run.worker_id}
        </Link>
      ) : (
        run.worker_id
      ),
    ],
    ['Version', run.worker_version],
    ['Run', run.id],
    ['Trace', run.trace_url !== undefined && <TraceLink key="trace" url={run.trace_url} />],
  ];
  return <DetailList details={details} />;
}

const TraceLink = ({ url }: { url: string }) => (
  <a href={url} target="_blank" rel="noreferrer">
    Open trace
  </a>
);

const ParentRunLink = ({ runId }: { runId: string }) => <Link to={workerRunPath(runId)}>{runId}</Link>;
