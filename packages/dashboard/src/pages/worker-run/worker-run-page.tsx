import { Stack } from '@mantine/core';
import { useParams } from 'react-router';
import { renderResourceError } from '../../accounts/resource-error';
import { PendingApproval } from '../../approvals/pending-approval';
import { OutputJson } from '../../outputs/output-json';
import { ArtifactList } from '../../runs/artifact-list';
import { RunConversation } from '../../runs/conversation/run-conversation';
import { downloadArtifact } from '../../runs/download-artifact';
import type { LiveRun } from '../../runs/live-run';
import { RunLog } from '../../runs/log/run-log';
import { RunRequests } from '../../runs/requests/run-requests';
import { RunProgress } from '../../runs/run-progress';
import { Timeline } from '../../runs/timeline/timeline';
import { useWorkerRun } from '../../runs/use-worker-run';
import { WorkerRunError } from '../../runs/worker-run-error';
import { getWorkerRun, isRunFinished, workerRunKey } from '../../runs/worker-runs';
import type { Worker, WorkerRun } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Columns } from '../../ui/columns';
import { LoadingPage } from '../../ui/loading-page';
import { Panel } from '../../ui/panel';
import { useWorker } from '../../workers/use-worker';
import { RehearsalNotice } from './rehearsal-notice';
import { RepairPanel } from './repair-panel';
import { RunDetails } from './run-details';
import { RunResult } from './run-result';
import { SourceExcerpt } from './source-excerpt';
import { WaitingNotice } from './waiting-notice';
import { WorkerRunHeader } from './worker-run-header';

/** Shows a run of a worker; links in alerts lead here. */
export default function WorkerRunPage() {
  const { runId = '' } = useParams();
  const workspace = useWorkspace();
  if (!workspace) return <LoadingPage what="the run" />;
  return <WorkerRunLoader key={`${workspace.id} ${runId}`} workspaceId={workspace.id} runId={runId} />;
}

function WorkerRunLoader({ workspaceId, runId }: { workspaceId: string; runId: string }) {
  const { query, run, live, log, requests } = useWorkerRun(workspaceId, runId);
  // Undefined while loading, and if the worker was deleted.
  const { data: worker } = useWorker(run?.worker_id);
  useTitle(run && `${worker?.name ?? run.worker_id} run`);
  if (run) return <LoadedRun run={run} worker={worker} live={live} log={log} requests={requests} />;
  const resourceError = renderResourceError({
    query,
    resourceKind: 'run',
    queryKey: workerRunKey(workspaceId, runId),
    read: (headers) => getWorkerRun(runId, headers),
  });
  return resourceError ?? <LoadingPage what="the run" />;
}

interface LoadedRunProps extends Pick<ReturnType<typeof useWorkerRun>, 'live' | 'log' | 'requests'> {
  run: WorkerRun;
  worker: Worker | undefined;
}

function LoadedRun({ run, worker, live, log, requests }: LoadedRunProps) {
  const hasEnded = isRunFinished(run);
  const isAgent = worker?.runner === 'agent' || live.parts.some(({ part }) => part === 'tool_call');
  // Code may also stream the output of a model.
  const hasConversation = isAgent || live.parts.length > 0;
  const startedAt = run.started_at === null ? null : Date.parse(run.started_at);
  return (
    <>
      <WorkerRunHeader run={run} worker={worker} />
      <Stack className="hidden-empty" gap="lg" mb="lg">
        <RehearsalNotice run={run} />
        <WorkerRunError run={run}>
          <SourceExcerpt run={run} />
        </WorkerRunError>
        <RepairPanel run={run} />
      </Stack>
      <Columns>
        <Stack gap="lg">
          <WaitingNotice run={run} isAgent={isAgent} />
          <RunProgress live={live} isFinished={hasEnded || run.status !== 'running'} />
          {run.status === 'completed' && (
            <Panel title="Result">
              <RunResult run={run} worker={worker} />
            </Panel>
          )}
          {hasConversation && (
            <RunConversation
              run={run}
              live={live}
              question={isAgent ? (approvalId) => <PendingApproval run={run} approvalId={approvalId} /> : null}
            />
          )}
          <Panel title="Timeline">
            <Timeline run={run} live={live} canExpandCalledRuns />
          </Panel>
          <Panel title="Log">
            <RunLog tall store={log} name={run.id} startedAt={startedAt} empty={getEmptyLogText(live, hasEnded)} />
          </Panel>
          <Panel title="Requests">
            <RunRequests store={requests} startedAt={startedAt} empty={getEmptyRequestsText(live, hasEnded)} />
          </Panel>
        </Stack>
        <Stack gap="lg">
          <Panel title="Inputs">
            {Object.keys(run.input).length > 0 ? (
              <OutputJson value={run.input} />
            ) : (
              <p className="caption">No inputs.</p>
            )}
          </Panel>
          {run.artifacts.length > 0 && (
            <Panel title="Files">
              <ArtifactList
                files={run.artifacts.map(({ content_type, ...file }) => ({ ...file, contentType: content_type }))}
                loadFile={({ id }) => downloadArtifact(run.id, id)}
              />
            </Panel>
          )}
          <Panel title="About this run">
            <RunDetails run={run} hasWorker={worker !== undefined} />
          </Panel>
        </Stack>
      </Columns>
    </>
  );
}

function getEmptyLogText(live: LiveRun, hasEnded: boolean): string {
  if (live.done) return 'This run has no log output.';
  return hasEnded ? 'Loading log…' : 'Lines appear here as the code prints them.';
}

function getEmptyRequestsText(live: LiveRun, hasEnded: boolean): string {
  if (live.done) return 'No requests to other hosts.';
  return hasEnded ? 'Loading requests…' : 'Requests to other hosts appear here as they complete.';
}
