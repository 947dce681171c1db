import { Box } from '@mantine/core';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { getPlotStyle, usePlot } from '../../ui/use-plot';

interface DayPlotProps {
  label: string;
  /** A value for each day, in order; `at` is the beginning of the day in UTC. */
  points: { at: number; value: number }[];
  format: (value: number) => string;
}

const HEIGHT_PX = 200;
const DAY_SECONDS = 86_400;
const dayFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Draws a bar for each day; its label and the table below have the same data as text. */
export default function DayPlot({ label, points, format }: DayPlotProps) {
  const box = usePlot(
    (element) => new uPlot(buildPlotOptions(element, points, format), toPlotData(points), element),
    [points, format],
  );

  const peak = points.reduce((peakSoFar, point) => (point.value > peakSoFar.value ? point : peakSoFar), {
    at: 0,
    value: 0,
  });
  const description =
    peak.value > 0 ? `${label}: peak of ${format(peak.value)} on ${dayFormat.format(peak.at)}` : label;
  return <Box ref={box} h={200} style={{ overflow: 'hidden' }} role="img" aria-label={description} />;
}

const toPlotData = (points: DayPlotProps['points']): uPlot.AlignedData => [
  points.map(({ at }) => at / 1_000),
  points.map(({ value }) => value),
];

function buildPlotOptions(
  element: HTMLElement,
  points: DayPlotProps['points'],
  format: DayPlotProps['format'],
): uPlot.Options {
  const { colour, axis, frame } = getPlotStyle(element, HEIGHT_PX);
  const first = (points[0]?.at ?? 0) / 1_000;
  const most = Math.max(...points.map(({ value }) => value), 0);
  return {
    ...frame,
    padding: [8, 20, 0, 0],
    scales: {
      // A whole month, so that a bar is as wide on its first day as on its last.
      x: { range: [first - DAY_SECONDS / 2, first + 30.5 * DAY_SECONDS] },
      y: { range: [0, most || 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 90,
        size: 28,
        values: (_plot, seconds) => seconds.map((at) => dayFormat.format(at * 1_000)),
      },
      { ...axis, size: 72, space: 40, values: (_plot, values) => values.map(format) },
    ],
    series: [
      {},
      {
        stroke: colour('--accent'),
        fill: colour('--accent'),
        width: 0,
        points: { show: false },
        ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.7, 40], radius: 0.15 }) }),
      },
    ],
  };
}
