import { unwrap } from '@gantry/api-client';
import { useThrottledValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useParams } from 'react-router';
import { Elsewhere } from '../../accounts/elsewhere';
import { OutputJson } from '../../outputs/output-json';
import { OutputList } from '../../outputs/output-list';
import type { LiveRun } from '../../runs/live-run';
import { RunErrorBox } from '../../runs/run-error-box';
import { RunLog } from '../../runs/run-log';
import { RunProgress } from '../../runs/run-progress';
import { useRun } from '../../runs/use-run';
import { isStatus, type OutputItem, type Worker, type WorkerRun, workerApi } from '../../shell/api';
import { useTitle } from '../../shell/use-title';
import { LoadingPage } from '../../ui/loading-page';
import { FailedToLoad } from '../../ui/notice';
import layout from '../../ui/page.module.css';
import { Panel } from '../../ui/panel';
import content from '../../ui/panel-content.module.css';
import { RunFacts } from './run-facts';
import { RunFiles } from './run-files';
import { StepList } from './step-list';
import { WaitsFor } from './waits-for';
import { WorkerRunHead } from './worker-run-head';
import styles from './worker-run-page.module.css';
import { isOver, readRun, workerRunKey, workerRunSource } from './worker-run-source';

/** The run is read anew at most this often, however much its stream tells. */
const REFRESH_MS = 500;

/** Opened by the links in alerts. */
export default function WorkerRunPage() {
  const { runId = '' } = useParams();
  return <FollowedRun key={runId} runId={runId} />;
}

function FollowedRun({ runId }: { runId: string }) {
  const source = useMemo(() => workerRunSource(runId), [runId]);
  const { query, run, live } = useRun(source);
  const worker = useWorker(run?.worker_id);
  const { refetch } = query;
  const changes = useThrottledValue(live.changes, REFRESH_MS);
  const over = run !== undefined && isOver(run);
  useEffect(() => {
    if (changes > 0 && !over) void refetch();
  }, [changes, over, refetch]);
  useTitle(run && `Run of ${worker?.name ?? run.worker_id}`);
  if (run) return <LoadedRun run={run} worker={worker} live={live} />;
  if (isStatus(query.error, 403, 404)) {
    return <Elsewhere what="run" queryKey={workerRunKey(runId)} read={(headers) => readRun(runId, headers)} />;
  }
  if (query.error) return <FailedToLoad what="The run" error={query.error} retry={refetch} />;
  return <LoadingPage what="the run" columns={layout.mainAndAside} />;
}

/** Undefined until it is known, and where it was deleted since. */
function useWorker(workerId: string | undefined): Worker | undefined {
  const { data } = useQuery({
    queryKey: ['worker', workerId],
    enabled: workerId !== undefined,
    queryFn: async () =>
      unwrap(
        (await workerApi()).GET('/api/workers/{worker_id}', { params: { path: { worker_id: workerId as string } } }),
      ),
  });
  return data;
}

interface LoadedRunProps {
  run: WorkerRun;
  worker: Worker | undefined;
  live: LiveRun;
}

function LoadedRun({ run, worker, live }: LoadedRunProps) {
  const over = isOver(run);
  const last = run.steps.at(-1);
  return (
    <>
      <WorkerRunHead run={run} worker={worker} />
      <div className={layout.mainAndAside}>
        <div className={styles.column}>
          <Panel title="Result">
            <div className={styles.result}>
              <WaitsFor run={run} />
              <RunProgress live={live} over={over || run.status !== 'running'} />
              {run.error !== null && run.error_code !== null && (
                <RunErrorBox
                  error={{
                    code: run.error_code,
                    message: run.error,
                    ...(run.error_type !== null && { type: run.error_type }),
                    ...(run.error_trace !== null && { trace: run.error_trace }),
                  }}
                  {...(last?.status === 'failed' && { step: last.name })}
                />
              )}
              {run.status === 'completed' && (
                <OutputList items={(worker?.outputs ?? []) as OutputItem[]} outputs={run.output ?? {}} artifacts={[]} />
              )}
              {!over && <p className={content.about}>What it returns appears here when it ends.</p>}
              {run.artifacts.length > 0 && <RunFiles run={run} />}
            </div>
          </Panel>
          <Panel title="Log">
            <RunLog
              lines={live.lines}
              dropped={live.dropped}
              startedAt={run.started_at === null ? null : Date.parse(run.started_at)}
              empty={emptyLog(live, over)}
            />
          </Panel>
        </div>
        <div className={styles.column}>
          {run.steps.length > 0 && (
            <Panel title="Steps">
              <StepList steps={run.steps} />
            </Panel>
          )}
          <Panel title="Inputs">
            {Object.keys(run.input).length > 0 ? (
              <OutputJson value={run.input} />
            ) : (
              <p className={content.about}>It was given none.</p>
            )}
          </Panel>
          <Panel title="About this run">
            <RunFacts run={run} />
          </Panel>
        </div>
      </div>
    </>
  );
}

function emptyLog(live: LiveRun, over: boolean): string {
  if (live.done) return 'This run printed nothing.';
  return over ? 'Reading the log…' : 'Lines appear here as the code prints them.';
}
