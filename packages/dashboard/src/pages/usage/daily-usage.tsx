import { NativeSelect, Skeleton } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import table from '../../ui/data-table.module.css';
import { dollars, duration, figure } from '../../ui/format';
import { Panel } from '../../ui/panel';
import type { Usage } from './usage';
import styles from './usage-page.module.css';

const DayPlot = lazy(() => import('./day-plot'));

type Day = Usage['days'][number];

const MEASURES = {
  cost_usd: { label: 'Cost', words: dollars },
  runs: { label: 'Runs', words: figure },
  compute_ms: { label: 'Compute time', words: duration },
} as const;

type Measure = keyof typeof MEASURES;

const dayName = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

export function DailyUsage({ days }: { days: Day[] }) {
  const [measure, setMeasure] = useState<Measure>('cost_usd');
  const { label, words } = MEASURES[measure];
  const points = useMemo(() => days.map((day) => ({ at: Date.parse(day.day), value: day[measure] })), [days, measure]);
  return (
    <Panel
      title="By day"
      aside={
        <NativeSelect
          size="xs"
          aria-label="Show"
          value={measure}
          data={Object.entries(MEASURES).map(([value, { label: name }]) => ({ value, label: name }))}
          onChange={(event) => setMeasure(event.currentTarget.value as Measure)}
        />
      }
    >
      <div className={styles.plot}>
        <Suspense fallback={<Skeleton height={200} />}>
          <DayPlot label={`${label} by day`} points={points} words={words} />
        </Suspense>
      </div>
      <details className={styles.asTable}>
        <summary>As a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
        <section className={table.scroll} tabIndex={0} aria-label="Days as a table">
          <table className={table.table}>
            <thead>
              <tr>
                <th>Day</th>
                <th className={table.number}>Cost</th>
                <th className={table.number}>Runs</th>
                <th className={table.number}>Failed</th>
                <th className={table.number}>Compute time</th>
              </tr>
            </thead>
            <tbody>
              {days.toReversed().map(({ day, cost_usd, runs, failed, compute_ms }) => (
                <tr key={day}>
                  <td>{dayName.format(new Date(day))}</td>
                  <td className={table.number}>{dollars(cost_usd)}</td>
                  <td className={table.number}>{figure(runs)}</td>
                  <td className={table.number}>{figure(failed)}</td>
                  <td className={table.number}>{duration(compute_ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </Panel>
  );
}
