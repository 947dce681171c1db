import { Box, Group, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { getPlotStyle, usePlot } from '../ui/use-plot';

export interface DaySeries {
  name: string;
  /** One for each day; null where there is nothing to show. */
  values: readonly (number | null)[];
  /** A variable of the style sheet. */
  colour: `--${string}`;
}

interface DayChartProps {
  /** Read by screen readers before the figures. */
  label: string;
  /** Midnights of UTC, epoch milliseconds, oldest first. */
  days: readonly number[];
  /** Bars are stacked, the first one lowest. */
  kind: 'bars' | 'lines';
  series: readonly DaySeries[];
  format: (value: number) => string;
  /** Called with a clicked day. */
  onDay?: (day: number) => void;
}

const HEIGHT_PX = 130;
const dayFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Plots figures by day. Hovering over a day shows its figures above the plot, and days can be clicked. */
export default function DayChart({ label, days, kind, series, format, onDay }: DayChartProps) {
  const open = useRef(onDay);
  open.current = onDay;
  const [hoveredDay, setHoveredDay] = useState<number | null>(null);

  const box = usePlot(
    (element) => {
      const plot = new uPlot(
        buildPlotOptions({ element, kind, series, format, setHoveredIndex: setHoveredDay }),
        toPlotData(days, kind, series),
        element,
      );
      plot.over.addEventListener('click', () => {
        const at = plot.cursor.idx;
        const chosen = at == null ? undefined : days[at];
        if (chosen !== undefined) open.current?.(chosen);
      });
      return plot;
    },
    [days, kind, series],
  );

  const last = days.length - 1;
  return (
    <div>
      <Group component="p" gap="0 12px" align="stretch" mih="1.5rem" fz="xs" c="dimmed" aria-hidden="true">
        {hoveredDay !== null && (
          <Text span c="bright" fw={600}>
            {dayFormat.format(days[hoveredDay])}
          </Text>
        )}
        {series.map(({ name, values, colour }) => {
          const value = hoveredDay === null ? null : values[hoveredDay];
          return (
            <Group component="span" key={name} gap={4} wrap="nowrap">
              <Box component="span" w="0.6rem" h="0.6rem" bdrs={2} bg={`var(${colour})`} />
              {name}
              {value != null && (
                <Text component="strong" className="tabular-nums" inherit fw={600} c="bright">
                  {format(value)}
                </Text>
              )}
            </Group>
          );
        })}
      </Group>
      <Box
        ref={box}
        h={HEIGHT_PX}
        style={{ overflow: 'hidden', cursor: onDay && 'pointer' }}
        role="img"
        aria-label={`${label}, ${dayFormat.format(days[0])} to ${dayFormat.format(days[last])}: ${series.map((one) => describeSeries(one, format)).join('; ')}`}
      />
    </div>
  );
}

function describeSeries({ name, values }: DaySeries, format: DayChartProps['format']): string {
  const knownValues = values.filter((value) => value !== null);
  if (knownValues.length === 0) return `${name}: no data`;
  return `${name}: daily values from ${format(Math.min(...knownValues))} to ${format(Math.max(...knownValues))}`;
}

/** Orders series for uPlot, which draws bars in front of each other: the tallest first, each as high as its stack. */
const toDrawingOrder = (kind: DayChartProps['kind'], series: readonly DaySeries[]) =>
  kind === 'bars' ? [...series].reverse() : [...series];

function toPlotData(
  days: readonly number[],
  kind: DayChartProps['kind'],
  series: readonly DaySeries[],
): uPlot.AlignedData {
  const stackUpTo = (last: number) =>
    days.map((_, at) => series.slice(0, last + 1).reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const stacked = series.map((_, at) => stackUpTo(at)).reverse();
  return [days.map((at) => at / 1_000), ...(kind === 'bars' ? stacked : series.map(({ values }) => [...values]))];
}

type PlotOptionsInput = Pick<DayChartProps, 'kind' | 'series' | 'format'> & {
  element: HTMLElement;
  setHoveredIndex: (at: number | null) => void;
};

function buildPlotOptions({ element, kind, series, format, setHoveredIndex }: PlotOptionsInput): uPlot.Options {
  const { colour, axis, frame } = getPlotStyle(element, HEIGHT_PX);
  const bars = uPlot.paths.bars?.({ size: [0.72, 28], radius: [0.15, 0] });
  return {
    ...frame,
    cursor: { y: false, points: { show: kind === 'lines' }, drag: { x: false, y: false } },
    hooks: { setCursor: [({ cursor }) => setHoveredIndex(cursor.idx ?? null)] },
    padding: [8, 4, 0, 0],
    // Half a day at each end, so that no bar is cut off.
    scales: {
      x: { range: (_plot, min, max) => [min - 43_200, max + 43_200] },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 26,
        values: (_plot, at) => at.map((one) => dayFormat.format(one * 1_000)),
      },
      {
        ...axis,
        size: 58,
        space: 34,
        // Small amounts may have equal labels: repeated ones are omitted.
        values: (_plot, values) => values.map(format).map((label, at, all) => (label === all[at - 1] ? '' : label)),
      },
    ],
    series: [
      {},
      ...toDrawingOrder(kind, series).map(
        ({ colour: name }): uPlot.Series =>
          kind === 'bars'
            ? { fill: colour(name), width: 0, paths: bars, points: { show: false } }
            : { stroke: colour(name), width: 2, spanGaps: true, points: { show: true, size: 5, fill: colour(name) } },
      ),
    ],
  };
}
