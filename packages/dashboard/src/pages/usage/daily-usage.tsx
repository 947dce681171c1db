import { Box, NativeSelect, Skeleton } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { Usage } from '../../shell/api';
import { bindChoice } from '../../ui/bind';
import { DataTable } from '../../ui/data-table';
import { formatDollars, formatDuration, formatNumber } from '../../ui/format';
import { Panel } from '../../ui/panel';
import type { Column } from '../../ui/table-model';

const DayPlot = lazy(() => import('./day-plot'));

type Day = Usage['days'][number];

const MEASURES = {
  cost_usd: { label: 'Cost', words: formatDollars },
  runs: { label: 'Runs', words: formatNumber },
  compute_ms: { label: 'Compute time', words: formatDuration },
} as const;

type Measure = keyof typeof MEASURES;

const dayFormat = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

export function DailyUsage({ days }: { days: Day[] }) {
  const [measure, setMeasure] = useState<Measure>('cost_usd');
  const { label, words: format } = MEASURES[measure];
  const points = useMemo(() => days.map((day) => ({ at: Date.parse(day.day), value: day[measure] })), [days, measure]);
  return (
    <Panel
      title="By day"
      aside={
        <NativeSelect
          size="xs"
          aria-label="Metric"
          data={Object.entries(MEASURES).map(([value, { label: name }]) => ({ value, label: name }))}
          {...bindChoice(measure, setMeasure)}
        />
      }
    >
      <Box h={200} style={{ overflow: 'hidden' }}>
        <Suspense fallback={<Skeleton height={200} />}>
          <DayPlot label={`${label} by day`} points={points} format={format} />
        </Suspense>
      </Box>
      <Box component="details" mt="md">
        <summary>Show table</summary>
        <DataTable label="Daily usage" columns={COLUMNS} rows={days.toReversed()} getKey={({ day }) => day} />
      </Box>
    </Panel>
  );
}

const COLUMNS: Column<Day>[] = [
  { head: 'Day', cell: ({ day }) => dayFormat.format(new Date(day)) },
  { head: 'Cost', cell: ({ cost_usd }) => formatDollars(cost_usd), isNumber: true },
  { head: 'Runs', cell: ({ runs }) => formatNumber(runs), isNumber: true },
  { head: 'Failed', cell: ({ failed }) => formatNumber(failed), isNumber: true },
  { head: 'Compute time', cell: ({ compute_ms }) => formatDuration(compute_ms), isNumber: true },
];
