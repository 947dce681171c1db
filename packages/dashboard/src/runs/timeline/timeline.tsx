import { Stack } from '@mantine/core';
import { useNow } from '../../ui/use-now';
import type { LiveRun } from '../live-run';
import { Axis, type Span } from './axis';
import { CalledRunTimeline } from './called-run-timeline';
import type { TimelineRun } from './entry';
import { buildTimelineEntries } from './entry-kinds';
import styles from './timeline.module.css';
import { TimelineRows } from './timeline-rows';

interface TimelineProps {
  run: TimelineRun;
  live: LiveRun;
  /** Whether the runs that it called can be read too. */
  canExpandCalledRuns: boolean;
}

const TICK_MS = 1_000;

/** Shows everything that a run did on one time axis. */
export function Timeline({ run, live, canExpandCalledRuns }: TimelineProps) {
  const now = useNow(run.completed_at === null ? TICK_MS : null);
  const entries = buildTimelineEntries({ run, live });
  const from = Date.parse(run.created_at);
  const ends = entries.map((entry) => entry.to ?? now);
  const to = Math.max(run.completed_at === null ? now : Date.parse(run.completed_at), ...ends, from + 1);
  const span: Span = { from, to };
  return (
    <div className={styles.timeline}>
      <Axis span={span} />
      <Stack component="ol" gap={0}>
        <TimelineRows
          entries={entries}
          span={span}
          now={now}
          depth={0}
          renderCalledRun={
            canExpandCalledRuns
              ? (runId, depth) => <CalledRunTimeline runId={runId} depth={depth} span={span} now={now} />
              : undefined
          }
        />
      </Stack>
    </div>
  );
}
