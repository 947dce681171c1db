import { Box, Skeleton, Text } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import { Link, useNavigate } from 'react-router';
import { paths, runsPath } from '../../shell/paths';
import { formatNumber, formatPercent, formatWholeNumber } from '../../ui/format';
import { Panel } from '../../ui/panel';
import type { Overview } from './overview-queries';

const DayChart = lazy(() => import('../../runs/day-chart'));

/** Charts worker runs by day and outcome; each day links to its runs. */
export function RunsByDay({ days }: { days: Overview['runs']['by_day'] }) {
  const navigate = useNavigate();
  const chart = useMemo(
    () => ({
      days: days.map(({ day }) => Date.parse(day)),
      series: [
        {
          name: 'Succeeded',
          colour: '--chart-success' as const,
          values: days.map(({ runs, failed }) => runs - failed),
        },
        { name: 'Failed', colour: '--error' as const, values: days.map(({ failed }) => failed) },
      ],
    }),
    [days],
  );
  const runs = days.reduce((sum, day) => sum + day.runs, 0);
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  if (runs === 0) {
    return (
      <Panel title="Worker runs">
        <Text fz="sm" c="dimmed">
          No runs finished in the last {days.length} days. The chart appears after a run finishes.
        </Text>
      </Panel>
    );
  }
  return (
    <Panel title="Worker runs" aside={<Link to={paths.runs}>All runs</Link>}>
      <Text mb="sm" fz="sm" c="dimmed">
        <Text component="strong" fz="lg" fw={640} lts="-0.01em" c="bright">
          {formatNumber(runs)}
        </Text>{' '}
        in the last {days.length} days, {formatPercent((runs - failed) / runs)} successful
      </Text>
      <Box mih={154}>
        <Suspense fallback={<Skeleton height={154} />}>
          <DayChart
            label="Runs"
            kind="bars"
            {...chart}
            format={formatWholeNumber}
            onDay={(start) => {
              const date = new Date(start).toISOString().slice(0, 10);
              navigate(runsPath({ from: date, to: date }));
            }}
          />
        </Suspense>
      </Box>
    </Panel>
  );
}
