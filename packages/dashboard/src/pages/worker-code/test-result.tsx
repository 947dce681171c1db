import { Button, Skeleton } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { Link } from 'react-router';
import { type FailureLocation, findFailureLocation } from '../../code/code-problem';
import { OutputList } from '../../outputs/output-list';
import { RunConversation } from '../../runs/conversation/run-conversation';
import { RunLog } from '../../runs/log/run-log';
import { RunErrorBox } from '../../runs/run-error-box';
import { RunStatusChip, toRunStatusDetails } from '../../runs/run-status';
import { TestResultSection } from '../../runs/test-result-section';
import { useRun } from '../../runs/use-run';
import { buildWorkerRunSource, isRunFinished, useInvalidateRuns } from '../../runs/worker-runs';
import { api, type OutputItem, type Worker, type WorkerRun } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { LoadErrorNotice } from '../../ui/notice';

interface TestResultProps {
  worker: Worker;
  runId: string;
  onFailure: (failure: FailureLocation | null) => void;
}

/** Shows a test run beside its code, live until it ends. */
export function TestResult({ worker, runId, onFailure }: TestResultProps) {
  const workspaceId = useWorkspace()?.id;
  const source = useMemo(() => buildWorkerRunSource(workspaceId, runId), [workspaceId, runId]);
  const { query, run, live, log } = useRun(source);
  const failed = run?.status === 'failed' ? run : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: reported once, when it has failed.
  useEffect(() => {
    if (failed)
      onFailure(
        findFailureLocation({ message: failed.error ?? '', type: failed.error_type, trace: failed.error_trace }),
      );
  }, [failed?.id, failed?.status]);
  if (!run) {
    return query.error ? (
      <LoadErrorNotice what="The test" error={query.error} retry={query.refetch} />
    ) : (
      <Skeleton height={120} />
    );
  }
  const hasEnded = isRunFinished(run);
  const { error, error_code: code, error_type: type, error_trace: trace } = run;
  return (
    <TestResultSection
      chip={<RunStatusChip {...toRunStatusDetails(run)} />}
      durationMs={run.duration_ms}
      actions={hasEnded ? <Link to={workerRunPath(run.id)}>View run</Link> : <StopButton run={run} />}
      announcement={
        hasEnded &&
        (run.status === 'completed'
          ? 'Test succeeded.'
          : error === null
            ? 'Test ended without success.'
            : `Test ended: ${error}`)
      }
    >
      {error !== null && code !== null && (
        <RunErrorBox
          error={{ code, message: error, ...(type !== null && { type }), ...(trace !== null && { trace }) }}
        />
      )}
      {run.status === 'completed' && (
        <OutputList items={worker.outputs as OutputItem[]} outputs={run.output ?? {}} artifacts={[]} />
      )}
      {worker.runner === 'agent' && (
        <RunConversation
          run={run}
          live={live}
          question={() => (
            <p>
              Waiting for approval. <Link to={workerRunPath(run.id)}>Approve or reject on the run page</Link>
            </p>
          )}
        />
      )}
      <RunLog
        store={log}
        name={run.id}
        startedAt={run.started_at === null ? null : Date.parse(run.started_at)}
        empty={hasEnded ? 'No output.' : 'Output appears here as the code runs.'}
      />
    </TestResultSection>
  );
}

function StopButton({ run }: { run: WorkerRun }) {
  const invalidateRuns = useInvalidateRuns();
  const stop = useMutation({
    mutationFn: () => api.worker.POST('/api/runs/{run_id}/cancel', { params: { path: { run_id: run.id } } }),
    onSettled: invalidateRuns,
  });
  const isStopping = stop.isPending || stop.isSuccess || run.cancel_requested;
  return (
    <Button size="compact-sm" variant="default" disabled={isStopping} onClick={() => stop.mutate()}>
      {isStopping ? 'Stopping…' : 'Stop'}
    </Button>
  );
}
