import { Box, Group, NativeSelect, Skeleton, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import type { DaySeries } from '../../runs/day-chart';
import { api, type Worker } from '../../shell/api';
import { runsPath } from '../../shell/paths';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { formatDollars, formatDuration, formatPercent, formatWholeNumber } from '../../ui/format';
import { LoadErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { useWorkerStats } from './last-failure-notice';
import styles from './worker-page.module.css';

const DayChart = lazy(() => import('../../runs/day-chart'));

const DAY_RANGES = [14, 30, 90];

/** Charts outcomes, durations and costs by day; each day links to its runs. */
export function HealthCharts({ worker }: { worker: Worker }) {
  const [days, setDays] = useState(30);
  const { data: buckets, error, refetch } = useTimeseries(worker.id, days);
  const { data: stats } = useWorkerStats(worker);
  const navigate = useNavigate();
  const charts = useMemo(() => (buckets ? buildChartSeries(buckets) : null), [buckets]);
  if (error && !buckets) return <LoadErrorNotice what="The charts" error={error} retry={refetch} />;
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
          aria-label="Time range"
          value={days}
          onChange={(event) => setDays(Number(event.currentTarget.value))}
          data={DAY_RANGES.map((span) => ({ value: String(span), label: `${span} days` }))}
        />
      }
    >
      <Box className={`${styles.charts} auto-fit`} __vars={{ '--column': '14rem' }} style={{ gap: 'var(--space-5)' }}>
        <Chart
          title="Outcomes"
          figure={
            stats?.success_rate_30d == null ? 'No finished runs' : `${formatPercent(stats.success_rate_30d)} succeeded`
          }
          link={<Link to={runsPath({ worker: worker.id })}>All runs</Link>}
        >
          {charts && (
            <DayChart label="Runs" kind="bars" {...charts.outcomes} format={formatWholeNumber} onDay={openDay()} />
          )}
        </Chart>
        <Chart
          title="Duration"
          figure={
            stats?.p50_duration_ms == null || stats.p95_duration_ms === null
              ? 'No successful runs'
              : `${formatDuration(stats.p50_duration_ms)} median, 95% within ${formatDuration(stats.p95_duration_ms)}`
          }
        >
          {charts && (
            <DayChart
              label="Duration"
              kind="lines"
              {...charts.durations}
              format={formatDuration}
              onDay={openDay('completed')}
            />
          )}
        </Chart>
        <Chart title="Cost" figure={stats ? `${formatDollars(stats.total_cost_usd_30d)} in the last 30 days` : ''}>
          {charts && <DayChart label="Cost" kind="bars" {...charts.costs} format={formatDollars} onDay={openDay()} />}
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

function Chart({ title, figure: figureText, link, children }: ChartProps) {
  return (
    <Box component="section" miw={0} aria-label={title}>
      <Group gap="sm" align="stretch" justify="space-between" wrap="nowrap" fz="sm">
        <Box component="h3" c="dimmed">
          {title}
        </Box>
        {link}
      </Group>
      <Text mb="xs" fz="lg" fw={640} lts="-0.01em">
        {figureText}
      </Text>
      {/* Kept free while the chart loads. */}
      <Box mih={154}>
        <Suspense>{children || <Skeleton height={150} />}</Suspense>
      </Box>
    </Box>
  );
}

function useTimeseries(workerId: string, days: number) {
  const params = { path: { worker_id: workerId }, query: { days, bucket: 'day' as const } };
  return useWorkspaceQuery(
    (workspaceId) => ['runs', workspaceId, 'of-worker', workerId, 'timeseries', days],
    () => api.worker.GET('/api/workers/{worker_id}/runs/timeseries', { params }),
    { placeholderData: keepPreviousData },
  );
}

type Bucket = NonNullable<ReturnType<typeof useTimeseries>['data']>[number];

function buildChartSeries(buckets: Bucket[]) {
  const days = buckets.map(({ start }) => Date.parse(start));
  const buildSeries = (
    name: string,
    colour: DaySeries['colour'],
    getValue: (bucket: Bucket) => number | null,
  ): DaySeries => ({
    name,
    colour,
    values: buckets.map(getValue),
  });
  return {
    outcomes: {
      days,
      series: [
        buildSeries('Succeeded', '--chart-success', ({ completed }) => completed),
        buildSeries('Failed', '--error', ({ failed }) => failed),
        buildSeries('Other', '--line-strong', ({ total, completed, failed }) => total - completed - failed),
      ],
    },
    durations: {
      days,
      series: [
        buildSeries('Median', '--accent', ({ p50_duration_ms: ms }) => ms),
        buildSeries('95th percentile', '--load', ({ p95_duration_ms: ms }) => ms),
      ],
    },
    costs: { days, series: [buildSeries('Cost', '--accent', ({ cost_usd: usd }) => usd)] },
  };
}
