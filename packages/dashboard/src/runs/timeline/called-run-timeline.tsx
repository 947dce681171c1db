import { Box } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../../shell/use-me';
import { LoadErrorNotice } from '../../ui/notice';
import { EMPTY_LIVE_RUN } from '../live-run';
import { getWorkerRun, workerRunKey } from '../worker-runs';
import { buildTimelineEntries } from './entry-kinds';
import { TimelineRows, type TimelineRowsProps } from './timeline-rows';

interface CalledRunTimelineProps extends Pick<TimelineRowsProps, 'depth' | 'span' | 'now'> {
  runId: string;
}

/** Shows the entries of a called run on its caller's axis. Loaded when the call is opened. */
export function CalledRunTimeline({ runId, depth, span, now }: CalledRunTimelineProps) {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: workerRunKey(workspace?.id, runId),
    queryFn: () => getWorkerRun(runId),
  });
  if (error) {
    return (
      <li>
        <LoadErrorNotice what="The child run" error={error} retry={refetch} />
      </li>
    );
  }
  if (!data)
    return (
      <Box component="li" p="8px 0 8px 2.5rem" fz="sm" c="dimmed">
        Loading the child run…
      </Box>
    );
  return (
    <TimelineRows
      entries={buildTimelineEntries({ run: data, live: EMPTY_LIVE_RUN })}
      span={span}
      now={now}
      depth={depth}
      renderCalledRun={(calledId, nextDepth) => (
        <CalledRunTimeline runId={calledId} depth={nextDepth} span={span} now={now} />
      )}
    />
  );
}
