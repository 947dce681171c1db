import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { WorkerRun } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { Facts } from '../../ui/facts';
import { duration, figure } from '../../ui/format';
import { Timestamp } from '../../ui/timestamp';

const TRIGGERS: Record<WorkerRun['trigger'], string> = {
  api: 'A request',
  webhook: 'A webhook',
  schedule: 'Its schedule',
  event: 'An event',
  call: 'Another run',
  replay: 'A replay',
  test: 'A test of a draft',
};

const dollars = (usd: number): string => (usd < 0.0001 ? 'less than $0.0001' : `$${figure(Number(usd.toFixed(4)))}`);

export function RunFacts({ run }: { run: WorkerRun }) {
  const facts: [string, ReactNode][] = [
    ['Started by', TRIGGERS[run.trigger]],
    ['Created', run.started_at === null && <Timestamp key="created" at={Date.parse(run.created_at)} />],
    ['Started', run.started_at !== null && <Timestamp key="started" at={Date.parse(run.started_at)} />],
    ['Ended', run.completed_at !== null && <Timestamp key="ended" at={Date.parse(run.completed_at)} />],
    ['Duration', run.duration_ms !== null && duration(run.duration_ms)],
    ['Attempt', run.attempt > 1 && run.attempt],
    ['Cost', run.total_cost_usd > 0 && dollars(run.total_cost_usd)],
    ['Comes from', run.parent_run_id !== null && <RunLink key="parent" runId={run.parent_run_id} />],
    ['Worker', run.worker_id],
    ['Version', run.worker_version],
    ['Run', run.id],
    ['Trace', run.trace_url !== undefined && <TraceLink key="trace" url={run.trace_url} />],
  ];
  return <Facts facts={facts.filter(([, value]) => value !== false && value !== null)} />;
}

const TraceLink = ({ url }: { url: string }) => (
  <a href={url} target="_blank" rel="noreferrer">
    Open
  </a>
);

const RunLink = ({ runId }: { runId: string }) => <Link to={workerRunPath(runId)}>{runId}</Link>;
