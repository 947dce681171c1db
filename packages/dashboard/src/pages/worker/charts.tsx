import { unwrap } from '@gantry/sdk';
import { Box, Group, NativeSelect, Skeleton, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import type { DaySeries } from '../../runs/day-chart';
import { type Worker, workerApi } from '../../shell/api';
import { runsPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { dollars, duration, figure, percent } from '../../ui/format';
import { FailedToLoad } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { useStats } from './last-failure';
import styles from './worker-page.module.css';

const DayChart = lazy(() => import('../../runs/day-chart'));

const SPANS = [14, 30, 90];
const whole = (value: number) => (Number.isInteger(value) ? figure(value) : '');

/** Charts outcomes, durations and costs by day; each day links to its runs. */
export function Charts({ worker }: { worker: Worker }) {
  const [days, setDays] = useState(30);
  const { data: buckets, error, refetch } = useTimeseries(worker.id, days);
  const { data: stats } = useStats(worker);
  const navigate = useNavigate();
  const shown = useMemo(() => (buckets ? seriesOf(buckets) : null), [buckets]);
  if (error && !buckets) return <FailedToLoad what="The charts" error={error} retry={refetch} />;
  if (stats?.runs_total === 0) return null;
  const openDay = (status?: string) => (start: number) => {
    const date = new Date(start).toISOString().slice(0, 10);
    navigate(runsPath({ worker: worker.id, ...(status && { status }), from: date, to: date }));
  };
  return (
    <Panel
      title="Health"
      aside={
        <NativeSelect
          size="xs"
          aria-label="Days shown"
          value={days}
          onChange={(event) => setDays(Number(event.currentTarget.value))}
          data={SPANS.map((span) => ({ value: String(span), label: `${span} days` }))}
        />
      }
    >
      <Box
        className={styles.charts}
        display="grid"
        style={{ gridTemplateColumns: 'repeat(auto-fit, minmax(min(100%, 14rem), 1fr))', gap: 'var(--space-5)' }}
      >
        <Chart
          title="Outcomes"
          figure={stats?.success_rate_30d == null ? 'None ended yet' : `${percent(stats.success_rate_30d)} succeeded`}
          link={<Link to={runsPath({ worker: worker.id })}>All runs</Link>}
        >
          {shown && <DayChart label="Runs" kind="bars" {...shown.outcomes} format={whole} onDay={openDay()} />}
        </Chart>
        <Chart
          title="Duration"
          figure={
            stats?.p50_duration_ms == null || stats.p95_duration_ms === null
              ? 'None succeeded yet'
              : `${duration(stats.p50_duration_ms)}, 95 % within ${duration(stats.p95_duration_ms)}`
          }
        >
          {shown && (
            <DayChart
              label="Duration"
              kind="lines"
              {...shown.durations}
              format={duration}
              onDay={openDay('completed')}
            />
          )}
        </Chart>
        <Chart title="Cost" figure={stats ? `${dollars(stats.total_cost_usd_30d)} in 30 days` : ''}>
          {shown && <DayChart label="Cost" kind="bars" {...shown.costs} format={dollars} onDay={openDay()} />}
        </Chart>
      </Box>
    </Panel>
  );
}

interface ChartProps {
  title: string;
  figure: string;
  link?: ReactNode;
  children: ReactNode;
}

function Chart({ title, figure: words, link, children }: ChartProps) {
  return (
    <Box component="section" miw={0} aria-label={title}>
      <Group className={styles.chartHead} gap="sm" align="stretch" justify="space-between" wrap="nowrap" fz="sm">
        <h3>{title}</h3>
        {link}
      </Group>
      <Text mb="xs" fz="lg" fw={640} lts="-0.01em">
        {words}
      </Text>
      <div className={styles.plot}>
        <Suspense>{children || <Skeleton height={150} />}</Suspense>
      </div>
    </Box>
  );
}

function useTimeseries(workerId: string, days: number) {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['runs', workspaceId, 'of-worker', workerId, 'timeseries', days],
    queryFn: async () =>
      unwrap(
        (await workerApi()).GET('/api/workers/{worker_id}/runs/timeseries', {
          params: { path: { worker_id: workerId }, query: { days, bucket: 'day' } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

type Bucket = NonNullable<ReturnType<typeof useTimeseries>['data']>[number];

function seriesOf(buckets: Bucket[]) {
  const days = buckets.map(({ start }) => Date.parse(start));
  const series = (name: string, colour: DaySeries['colour'], of: (bucket: Bucket) => number | null): DaySeries => ({
    ...{ name, colour },
    values: buckets.map(of),
  });
  return {
    outcomes: {
      days,
      series: [
        series('Succeeded', '--chart-success', ({ completed }) => completed),
        series('Failed', '--error', ({ failed }) => failed),
        series('Other', '--line-strong', ({ total, completed, failed }) => total - completed - failed),
      ],
    },
    durations: {
      days,
      series: [
        series('Half within', '--accent', ({ p50_duration_ms: ms }) => ms),
        series('95 % within', '--load', ({ p95_duration_ms: ms }) => ms),
      ],
    },
    costs: { days, series: [series('Cost', '--accent', ({ cost_usd: usd }) => usd)] },
  };
}
