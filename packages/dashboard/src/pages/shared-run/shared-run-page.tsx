import { Skeleton, Stack } from '@mantine/core';
import { useEffect, useMemo } from 'react';
import { useParams } from 'react-router';
import { OutputList } from '../../outputs/output-list';
import { RunLog } from '../../runs/log/run-log';
import { MissingOutputNotice } from '../../runs/missing-output-notice';
import { RunProgress } from '../../runs/run-progress';
import { getRunStatusDisplay, RunStatusChip, type RunStatusDetails } from '../../runs/run-status';
import { Timeline } from '../../runs/timeline/timeline';
import { useRefreshedRun } from '../../runs/use-refreshed-run';
import type { RunSource } from '../../runs/use-run';
import { WorkerRunError } from '../../runs/worker-run-error';
import { isRunFinished } from '../../runs/worker-runs';
import { api, getWorkerBaseUrl, hasErrorStatus, type OutputItem, type SharedRun } from '../../shell/api';
import { openEventStreamAsVisitor } from '../../shell/open-event-stream';
import { sharedEventsUrl } from '../../shell/paths';
import { useSession } from '../../shell/session';
import { useTitle } from '../../shell/use-title';
import { EmptyState } from '../../ui/empty-state';
import { formatDuration, formatFileSize } from '../../ui/format';
import { ListItem } from '../../ui/list-item';
import { LoadErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';

const REFRESH_MS = 1_000;

/** Serves a share link to any visitor. */
export default function SharedRunPage() {
  const { token = '' } = useParams();
  const { status } = useSession();
  useNoIndex();
  // Anything read before the session is known would be discarded once it is.
  if (status === 'unknown') return <Skeleton height={360} />;
  return <LiveSharedRun key={token} token={token} />;
}

const createSharedRunSource = (token: string): RunSource<SharedRun> => ({
  queryKey: ['shared-run', token],
  endsWith: ['shared-run', token],
  get: () => api.visitor.GET('/api/shared/{token}', { params: { path: { token } } }),
  isOver: isRunFinished,
  connect: async (lastEventId, signal) =>
    openEventStreamAsVisitor(sharedEventsUrl(await getWorkerBaseUrl(), token), lastEventId, signal),
});

function LiveSharedRun({ token }: { token: string }) {
  const source = useMemo(() => createSharedRunSource(token), [token]);
  const { query, run, live, log, over } = useRefreshedRun(source, REFRESH_MS);
  const { refetch } = query;
  useTitle(run ? `Run of ${run.worker_name}` : 'Shared run');
  if (hasErrorStatus(query.error, 404)) return <InvalidLinkNotice />;
  if (query.error && !run) return <LoadErrorNotice what="The run" error={query.error} retry={refetch} />;
  if (!run) return <Skeleton height={360} />;
  const startedAt = run.started_at === null ? null : Date.parse(run.started_at);
  return (
    <>
      <SharedRunHeader run={run} />
      <Stack gap="lg">
        <RunProgress live={live} isFinished={over || run.status !== 'running'} />
        <WorkerRunError run={run} />
        {run.status === 'completed' && (
          <Panel title="Result">
            {run.output_missing ? (
              <MissingOutputNotice />
            ) : (
              <OutputList items={run.outputs as OutputItem[]} outputs={run.output ?? {}} artifacts={[]} />
            )}
          </Panel>
        )}
        <Panel title="Timeline">
          <Timeline
            run={{
              ...run,
              id: token,
              approvals: run.approvals.map((approval, index) => ({ ...approval, id: `${index}` })),
            }}
            live={live}
            canExpandCalledRuns={false}
          />
        </Panel>
        <Panel title="Log">
          <RunLog
            tall
            store={log}
            name="run"
            startedAt={startedAt}
            empty={over ? 'This run has no log output.' : 'Lines appear here as the code prints them.'}
          />
        </Panel>
        {run.artifacts.length > 0 && (
          <Panel title="Files">
            <ul className="panel-list divided rows">
              {run.artifacts.map(({ id, name, size }) => (
                <ListItem key={id} title={name} about={formatFileSize(size)} />
              ))}
            </ul>
          </Panel>
        )}
      </Stack>
    </>
  );
}

function SharedRunHeader({ run }: { run: SharedRun }) {
  const shown: RunStatusDetails = { status: run.status, isWaiting: run.waiting_for !== null };
  return (
    <PageHeader
      title={run.worker_name}
      about={
        <>
          <RunStatusChip {...shown} />
          {run.worker_version !== null && <span>Version {run.worker_version}</span>}
          <Timestamp at={Date.parse(run.started_at ?? run.created_at)} />
          {run.duration_ms !== null && <span>Took {formatDuration(run.duration_ms)}</span>}
          <span>
            This link expires <Timestamp at={Date.parse(run.expires_at)} />
          </span>
          <span className="visually-hidden" role="status">
            {`Run: ${getRunStatusDisplay(shown).word}. ${run.error ?? ''}`}
          </span>
        </>
      }
    />
  );
}

function InvalidLinkNotice() {
  return (
    <EmptyState title="This link isn’t valid" level={1}>
      <p>It may have expired or been revoked, or it may be incomplete.</p>
      <p>Ask the sender for a new link.</p>
    </EmptyState>
  );
}

/** Excludes the page from search engines that run scripts; the response header excludes it from the others. */
function useNoIndex(): void {
  useEffect(() => {
    const meta = Object.assign(document.createElement('meta'), { name: 'robots', content: 'noindex, nofollow' });
    document.head.append(meta);
    return () => meta.remove();
  }, []);
}
