import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import { OutputList } from '../outputs/output-list';
import type { OutputItem, Page, Run } from '../shell/api';
import { hasErrorStatus } from '../shell/api';
import { formatDuration } from '../ui/format';
import { LoadErrorNotice, Notice } from '../ui/notice';
import { Timestamp } from '../ui/timestamp';
import type { LiveRun } from './live-run';
import { parseLogLines } from './log/log-line';
import { createLogStore, type LogStore } from './log/log-store';
import { RunLog } from './log/run-log';
import { NumberHistory } from './number-history';
import type { RunApi } from './run-api';
import { RunErrorBox } from './run-error-box';
import { runKeys } from './run-keys';
import { RunProgress } from './run-progress';
import { getRunStatusDisplay, RunStatusChip } from './run-status';
import { type RunSource, useRun } from './use-run';

interface RunViewProps {
  page: Page;
  runs: RunApi;
  runId: string;
  onReuse: (inputs: Record<string, unknown>) => void;
}

/** Shows one run, live or finished. Mounted anew for each run. */
export function RunView({ page, runs, runId, onReuse }: RunViewProps) {
  const source = useMemo(() => buildRunSource(runs, page.id, runId), [runs, page.id, runId]);
  const { query, run, live, log: store, watched } = useRun(source);
  if (query.isError && !run) {
    return hasErrorStatus(query.error, 404, 403) ? (
      <Notice tone="error" title="This run can’t be shown">
        The run belongs to another automation or has been deleted. Choose another run below or start a new run.
      </Notice>
    ) : (
      <LoadErrorNotice what="The run" error={query.error} retry={() => query.refetch()} />
    );
  }
  const over = run ? isRunFinished(run) : false;
  const log = <RunViewLog store={store} run={run} isFinished={over} watched={watched} />;
  return (
    <Stack gap="lg">
      <RunHeader page={page} runs={runs} runId={runId} run={run} live={live} onReuse={onReuse} />
      <RunProgress live={live} isFinished={over} />
      {/* A watched log stays in place, with the outputs below. A finished run begins with its outputs. */}
      {watched && log}
      {run?.error && <RunErrorBox error={run.error} inputs={run.inputs} />}
      <RunOutputs page={page} runs={runs} run={run} />
      {!watched && log}
    </Stack>
  );
}

const isRunFinished = (run: Run): boolean => run.status !== 'pending' && run.status !== 'running';

const buildRunSource = (runs: RunApi, automationId: string, runId: string): RunSource<Run> => ({
  queryKey: runKeys.one(automationId, runId),
  endsWith: runKeys.all(automationId),
  get: () => runs.get(runId),
  isOver: isRunFinished,
  connect: (lastEventId, signal) => runs.connect(runId, lastEventId, signal),
});

interface RunViewLogProps {
  store: LogStore;
  run: Run | undefined;
  isFinished: boolean;
  watched: boolean;
}

function RunViewLog({ store, run, isFinished, watched }: RunViewLogProps) {
  const lineCount = useSyncExternalStore(store.subscribe, () => store.lines.length);
  // The stream of an old run may have no lines left, while the text of its log still exists.
  const logs = run?.result?.logs;
  const storedLog = useMemo(() => createLogStore(logs ? parseLogLines(logs) : []), [logs]);
  const shown = lineCount > 0 ? store : storedLog;
  return (
    <Stack gap="xs">
      <h3>Log</h3>
      {isFinished && !watched && shown.lines.length === 0 ? (
        <Text fz="sm" c="dimmed">
          This run has no log output.
        </Text>
      ) : (
        <RunLog
          store={shown}
          name={run?.runId ?? 'run'}
          startedAt={run?.startedAt ?? shown.lines[0]?.at ?? null}
          empty={isFinished ? 'This run has no log output.' : 'Lines appear here as the automation prints them.'}
        />
      )}
    </Stack>
  );
}

function RunOutputs({ page, runs, run }: { page: Page; runs: RunApi; run: Run | undefined }) {
  if (!run || !isRunFinished(run))
    return (
      <Text fz="sm" c="dimmed">
        {describeExpectedOutputs(page.outputs)}
      </Text>
    );
  if (run.status !== 'success' && run.artifacts.length === 0) return null;
  const succeeded = run.status === 'success';
  return (
    <OutputList
      items={succeeded ? page.outputs : []}
      outputs={(succeeded && run.result?.outputs) || {}}
      artifacts={run.artifacts.map((artifact) => ({ ...artifact, url: runs.artifactUrl(run.runId, artifact.id) }))}
      // A visitor who only holds the link may not read other runs.
      renderHistory={
        page.access === 'member' ? (output) => <NumberHistory automationId={page.id} output={output} /> : undefined
      }
    />
  );
}

const describeExpectedOutputs = (items: OutputItem[]): string =>
  items.length === 0
    ? 'Outputs appear here when the run ends.'
    : `These outputs will appear here when the run ends: ${items.map(({ name, label }) => label ?? name).join(', ')}.`;

interface RunHeaderProps extends RunViewProps {
  run: Run | undefined;
  live: LiveRun;
}

function RunHeader({ page, runs, runId, run, live, onReuse }: RunHeaderProps) {
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => runs.cancel(runId),
    onSettled: () => queryClient.invalidateQueries({ queryKey: runKeys.all(page.id) }),
  });
  const over = run ? isRunFinished(run) : false;
  const status = run?.status === 'pending' && live.started ? 'running' : (run?.status ?? 'pending');
  const stopping = cancel.isPending || cancel.isSuccess || run?.cancelRequested === true;
  return (
    <Group gap="sm" justify="space-between" mih="2.25rem">
      <Group gap="xs">
        <RunStatusChip status={status} error={run?.error} />
        <Text span fz="sm" c="dimmed">
          {run?.durationMs != null && over && `in ${formatDuration(run.durationMs)}, `}
          {run && <Timestamp at={run.startedAt ?? run.createdAt} />}
          {run?.version != null && ` · version ${run.version}`}
        </Text>
        <span className="visually-hidden" role="status">
          {run && describeRun(status, run, live)}
        </span>
      </Group>
      <Group gap="xs" align="stretch" wrap="nowrap">
        {over ? (
          <Button variant="default" onClick={() => run && onReuse(run.inputs)}>
            Use these inputs
          </Button>
        ) : (
          <Button variant="default" disabled={!run || stopping} onClick={() => cancel.mutate()}>
            {stopping ? 'Stopping…' : 'Stop'}
          </Button>
        )}
      </Group>
    </Group>
  );
}

/** Describes the state for screen readers in one sentence, without each change of a percentage. */
function describeRun(status: Run['status'], run: Run, live: LiveRun): string {
  if (live.interrupted && !isRunFinished(run)) return 'Connection lost. Reconnecting…';
  const word = getRunStatusDisplay({ status, error: run.error }).word;
  return run.error ? `Run status: ${word}. ${run.error.message}` : `Run status: ${word}.`;
}
